// distribute: products over sums, and folds over what they fold by.
//
//   c * (a + b)              ==>     c * a + c * b
//   sum(k) (a + b) * c       ==>     (sum(k) a * c) + (sum(k) b * c)
//   sum(k) c * a             ==>     c * sum(k) a            c without k
//   max(k) max(a, b)         ==>     max(max(k) a, max(k) b)
//   max(k) (a + c)           ==>     (max(k) a) + c          c without k
//
// Where a factor is an element of a map that is a sum, the map is opened: a norm's bias before a
// linear layer, `sum(k) (a + b) * c` with `a + b` kept as N, gives `sum(k) b * c`, which lacks the
// rows and need be computed once. Each fold that comes out is a statement of its own, in the region
// of the one it came from, so that it can be fused, streamed or placed on the tensor core by
// itself. Side condition: there is something to distribute; what is multiplied is finite. Laws of
// rings and of (max, +).
#include <algorithm>

#include "derive/rewriting/products.h"
#include "derive/rewriting/simplify.h"
#include "derive/rewriting/unify.h"
#include "derive/rules/draft.h"
#include "diagrams/facts.h"

namespace napkin::rules {

namespace {

/// A term of a sum, with its sign.
struct Term {
    double sign = 1;
    Expression value;
};

const Apply* call_of(const Expression& expression, Function function) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    return call != nullptr && call->function == function ? call : nullptr;
}

/// Operands of nested calls of one function: max(a, max(b, c)).
std::vector<Expression> operands_of(const Expression& expression, Function function) {
    const Apply* call = call_of(expression, function);
    if (call == nullptr) return {expression};
    std::vector<Expression> all;
    for (const Expression& argument : call->arguments)
        for (Expression& operand : operands_of(argument, function))
            all.push_back(std::move(operand));
    return all;
}

Expression total(const std::vector<Term>& terms) {
    Expression sum = terms.front().value;
    if (terms.front().sign < 0) sum = napkin::apply(Function::Negate, {std::move(sum)});
    for (std::size_t i = 1; i < terms.size(); ++i)
        sum = napkin::apply(terms[i].sign < 0 ? Function::Subtract : Function::Add,
                            {std::move(sum), terms[i].value});
    return sum;
}

Expression combination(Function function, const std::vector<Expression>& operands) {
    Expression value = operands.front();
    for (std::size_t i = 1; i < operands.size(); ++i)
        value = napkin::apply(function, {std::move(value), operands[i]});
    return value;
}

bool varies(const Expression& expression, const Fold& fold) {
    const std::set<AxisId> used = axes_used(expression);
    return std::any_of(fold.over.begin(), fold.over.end(),
                       [&](AxisId axis) { return used.count(axis) != 0; });
}

/// One statement taken apart: what is folded by itself, and the expression over the results.
class Distribution {
public:
    Distribution(const State& state, const Command& command, ArrayId target, StatementId source)
        : diagram_(state.diagram),
          command_(command),
          target_(target),
          source_(source),
          draft_(state) {}

    Outcome run() {
        const Statement& statement = diagram_[source_];
        if (const Map* map = std::get_if<Map>(&statement.body)) return of_map(*map);
        const Fold* fold = std::get_if<Fold>(&statement.body);
        if (fold == nullptr || fold->values.size() != 1 || !fold->seed.empty())
            return nothing("is neither an expression nor a fold of one value");
        if (fold->monoid == kSum) return of_sum(*fold);
        if (fold->monoid == kMax) return of_extreme(*fold, Function::Max);
        if (fold->monoid == kMin) return of_extreme(*fold, Function::Min);
        if (fold->monoid == kProduct) return of_product(*fold);
        return nothing("is folded by `" + diagram_[fold->monoid].name +
                       "`, of which no such law is known");
    }

private:
    NotApplicable nothing(const std::string& why) const {
        return kept_.value_or(NotApplicable{"`" + diagram_[target_].name + "` " + why, ""});
    }
    /// The sum that an expression is when products are multiplied out; one that may be infinite
    /// stays a term.
    std::vector<Term> opened(const Expression& expression) {
        std::vector<Term> terms = terms_of(expression);
        return terms.size() < 2 || is_finite(expression) ? terms
                                                         : std::vector<Term>{{1, expression}};
    }
    std::vector<Term> terms_of(const Expression& expression) {
        const Apply* call = std::get_if<Apply>(&expression.node);
        if (call == nullptr) return {{1, expression}};
        const std::vector<Expression>& args = call->arguments;
        switch (call->function) {
        case Function::Add:
        case Function::Subtract: {
            const bool minus = call->function == Function::Subtract;
            std::vector<Term> terms = terms_of(args[0]);
            for (Term& term : minus ? opened(args[1]) : terms_of(args[1])) {
                if (minus) term.sign = -term.sign;
                terms.push_back(std::move(term));
            }
            return terms;
        }
        case Function::Negate: {
            std::vector<Term> terms = opened(args[0]);
            for (Term& term : terms) term.sign = -term.sign;
            return terms;
        }
        case Function::Multiply: return products_of(expression, args);
        case Function::Divide: {
            if (!DiagramFacts(diagram_).of(args[1]).never_zero()) return {{1, expression}};
            std::vector<Term> terms = opened(args[0]);
            for (Term& term : terms)
                term.value = napkin::apply(Function::Divide, {std::move(term.value), args[1]});
            return terms;
        }
        default: return {{1, expression}};
        }
    }
    std::vector<Term> products_of(const Expression& product, const std::vector<Expression>& args) {
        const std::vector<Term> left = opened(args[0]);
        const std::vector<Term> right = opened(args[1]);
        if ((left.size() > 1 && !is_finite(args[1])) || (right.size() > 1 && !is_finite(args[0])))
            return {{1, product}};
        std::vector<Term> terms;
        for (const Term& a : left)
            for (const Term& b : right)
                terms.push_back(
                    {a.sign * b.sign, napkin::apply(Function::Multiply, {a.value, b.value})});
        return terms;
    }
    /// The terms of a sum as it is written: no product in it is multiplied out.
    static std::vector<Term> summands(const Expression& expression) {
        const Apply* call = std::get_if<Apply>(&expression.node);
        const bool minus = call != nullptr && call->function == Function::Subtract;
        if (call == nullptr || (!minus && call->function != Function::Add))
            return {{1, expression}};
        std::vector<Term> terms = summands(call->arguments[0]);
        for (Term& term : summands(call->arguments[1])) {
            if (minus) term.sign = -term.sign;
            terms.push_back(std::move(term));
        }
        return terms;
    }
    /// The product over the terms of the first factor that a map defines as a sum.
    std::vector<Term> with_map_opened(const Term& whole) {
        const Product product = product_of(whole.value);
        for (std::size_t at = 0; at < product.factors.size(); ++at) {
            const Factor& factor = product.factors[at];
            const Read* element = std::get_if<Read>(&factor.base.node);
            if (element == nullptr || factor.power != 1) continue;
            const std::optional<Expression> inside = opened_map(diagram_, *element);
            std::vector<Term> terms = inside ? summands(*inside) : std::vector<Term>{};
            Product rest = product;
            rest.factors.erase(rest.factors.begin() + static_cast<std::ptrdiff_t>(at));
            if (terms.size() < 2 || !is_finite(expression_of(rest)) || !is_finite(*inside))
                continue;
            for (Term& term : terms) {
                term.sign *= whole.sign;
                term.value = expression_of(product_of(term.value) * rest);
            }
            return terms;
        }
        return {whole};
    }
    bool is_finite(const Expression& value) {
        std::optional<NotApplicable> refusal = why_infinite(diagram_, value);
        if (refusal && !kept_) kept_ = std::move(refusal);
        return !refusal;
    }
    /// Whether a quotient of a fold by it is a fold of quotients.
    bool is_never_zero(const Expression& divisor) {
        const bool never = DiagramFacts(diagram_).of(divisor).never_zero();
        if (!never && !kept_)
            kept_ =
                NotApplicable{"`" + print(diagram_, divisor) +
                                  "` may be 0, and a sum by it is then not the sum of quotients",
                              ""};
        return never;
    }
    Outcome of_map(const Map& map) {
        const std::vector<Term> terms = terms_of(map.value);
        Expression value = total(terms);
        if (terms.size() < 2 || value == map.value) return nothing("multiplies no sum");
        std::get<Map>(draft_.diagram.statements[source_.index()].body).value = std::move(value);
        return draft_.finish(command_, {std::to_string(terms.size()) + " terms"});
    }
    Outcome of_sum(const Fold& fold) {
        std::vector<Term> terms = terms_of(fold.values.front());
        const auto is_product = [&] {
            return terms.size() == 1 &&
                   taken_out(product_of(terms.front().value), fold).factors.empty();
        };
        if (is_product()) terms = with_map_opened(terms.front());
        if (is_product())
            return nothing(
                "is a sum of one product, every factor of which varies along what is "
                "summed");
        for (Term& term : terms) {
            const Product product = product_of(term.value);
            Product outside = taken_out(product, fold);
            Product inside{product.coefficient, {}};
            for (const Factor& factor : product.factors)
                if (std::find(outside.factors.begin(), outside.factors.end(), factor) ==
                    outside.factors.end())
                    multiply(inside, factor.base, factor.power);
            multiply(outside, folded(fold, expression_of(inside)), 1);
            term.value = expression_of(outside);
        }
        return replaced(total(terms));
    }
    Outcome of_extreme(const Fold& fold, Function function) {
        std::vector<Expression> operands = operands_of(fold.values.front(), function);
        bool gains = operands.size() > 1;
        for (Expression& operand : operands) {
            std::vector<Expression> inside;
            std::vector<Expression> outside;
            for (Expression& part : operands_of(operand, Function::Add))
                (varies(part, fold) ? inside : outside).push_back(std::move(part));
            if (inside.empty()) inside = std::exchange(outside, {});
            gains = gains || !outside.empty();
            outside.insert(outside.begin(), folded(fold, combination(Function::Add, inside)));
            operand = combination(Function::Add, outside);
        }
        if (!gains)
            return nothing("takes no maximum or minimum of several, and nothing in it is constant");
        return replaced(combination(function, operands));
    }
    Outcome of_product(const Fold& fold) {
        std::vector<Expression> operands = operands_of(fold.values.front(), Function::Multiply);
        if (operands.size() < 2) return nothing("is a product of single factors");
        for (Expression& operand : operands) operand = folded(fold, operand);
        return replaced(combination(Function::Multiply, operands));
    }
    /// Factors that may leave the fold.
    Product taken_out(const Product& product, const Fold& fold) {
        Product outside;
        for (const Factor& factor : product.factors)
            if (!varies(factor.base, fold) && (factor.power > 0 || is_never_zero(factor.base)) &&
                is_finite(factor.base))
                multiply(outside, factor.base, factor.power);
        return outside;
    }
    /// A fold of its own, as a read of its result.
    Expression folded(const Fold& fold, Expression value) {
        const Array& whole = diagram_[target_];
        const std::set<AxisId> used = axes_used(value);
        std::vector<AxisId> axes;
        for (AxisId axis : whole.axes)
            if (used.count(axis) != 0 || (fold.every_prefix && axis == fold.over.front()))
                axes.push_back(axis);
        const std::size_t number = made_++;
        std::string name = whole.name + "_" + std::to_string(number + 1);
        if (number < command_.as.size()) name = command_.as[number];
        const ArrayId part = draft_.add_part(name, axes, diagram_[source_]);
        Fold own = fold;
        own.values = {std::move(value)};
        const BoxId box = draft_.add_box(diagram_[source_].box);
        draft_.place(source_, draft_.add({{part}, std::move(own), box, diagram_[source_].span},
                                         draft_.home(source_), source_));
        return read_axes(part, axes);
    }
    Outcome replaced(Expression value) {
        draft_.diagram.statements[source_.index()].body = Map{std::move(value)};
        return draft_.finish(command_, {std::to_string(made_) + (made_ == 1 ? " fold" : " folds")});
    }

    const Diagram& diagram_;
    const Command& command_;
    ArrayId target_;
    StatementId source_;
    Draft draft_;
    std::optional<NotApplicable> kept_;  ///< the first value that stays, and why
    std::size_t made_ = 0;
};

}  // namespace

Outcome distribute(const State& state, const Command& command) {
    if (command.names.size() != 1)
        return out_of_place("it takes one array", "write `distribute ARRAY [as NAME, NAME...]`");
    const std::string& name = command.names.front();
    const std::optional<ArrayId> array = find_array(state.diagram, name);
    if (!array) return out_of_place("there is no array `" + name + "`", "");
    const std::optional<StatementId> source = producer(state.diagram, *array);
    if (!source) return out_of_place("`" + name + "` is an input: no box computes it", "");
    for (const std::string& wanted : command.as)
        if (find_array(state.diagram, wanted) || find_axis(state.diagram, wanted))
            return out_of_place("`" + wanted + "` is in use already", "choose another name");
    return Distribution(state, command, *array, *source).run();
}

}  // namespace napkin::rules
