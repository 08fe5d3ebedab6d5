// distribute: products over sums, and folds over what they fold by.
//
//   c * (a + b)              ==>     c * a + c * b
//   sum(k) (a + b) * c       ==>     (sum(k) a * c) + (sum(k) b * c)
//   sum(k) c * a             ==>     c * sum(k) a            c without k
//   sum(k) (a - b)^2         ==>     sum(k) a^2 - 2 * (sum(k) a * b) + sum(k) b^2
//   max(k) max(a, b)         ==>     max(max(k) a, max(k) b)
//   max(k) (a + c)           ==>     (max(k) a) + c          c without k
//   max(k) c * a             ==>     c * max(k) a            c without k, and not negative
//
// Where a factor is an element of a map that is a sum, the map is opened: a norm's bias before a
// linear layer, `sum(k) (a + b) * c` with `a + b` kept as N, gives `sum(k) b * c`, which lacks the
// rows and need be computed once. A product of two sums is multiplied out where that makes such a
// sum: of squares of distances, the norms have one side's axes each, and what is left of both is a
// product of matrices. Such terms may be far larger than all of them together, and cancel: that is
// a hazard of the step, their sums are kept in f32, and where a root or a logarithm relies on it
// the result is kept from below 0.
//
// Terms that do not vary along an axis are counted by its size. Each fold that comes out is a
// statement of its own, in the region of the one it came from, so that it can be fused, streamed or
// placed on the tensor core by itself. Side condition: there is something to distribute; what is
// multiplied is finite; integers stay exact. Laws of rings and of (max, +).
#include <algorithm>
#include <cmath>

#include "derive/rewriting/products.h"
#include "derive/rules/draft.h"
#include "derive/rules/terms.h"
#include "diagrams/contains.h"
#include "diagrams/facts.h"
#include "diagrams/value_kind.h"

namespace napkin::rules {

namespace {

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

/// Roots and logarithms in a diagram of what is known not to be negative.
std::size_t roots_of_known_sign(const Diagram& diagram) {
    const DiagramFacts facts(diagram);
    std::size_t count = 0;
    const auto look = [&](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call == nullptr) return;
        const Function f = call->function;
        const double* power = f == Function::Power ? literal(call->arguments[1]) : nullptr;
        const bool root = f == Function::Sqrt || f == Function::Rsqrt || f == Function::Log ||
                          (power != nullptr && *power != std::floor(*power));
        if (root && facts.of(call->arguments[0]).nonnegative()) ++count;
    };
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement)) walk(*expression, look);
    return count;
}

/// One statement taken apart: what is folded by itself, and the expression over the results.
class Distribution {
public:
    Distribution(const State& state, const Command& command, ArrayId target, StatementId source)
        : diagram_(state.diagram),
          command_(command),
          target_(target),
          source_(source),
          draft_(state),
          expansion_(state.diagram) {}

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
        return expansion_.kept().value_or(
            NotApplicable{"`" + diagram_[target_].name + "` " + why, ""});
    }
    Outcome of_map(const Map& map) {
        const std::vector<Term> terms = expansion_.terms_of(map.value);
        Expression value = total(terms);
        if (terms.size() < 2 || value == map.value) return nothing("multiplies no sum");
        if (std::optional<NotApplicable> refusal = why_inexact(diagram_, terms, {}))
            return *refusal;
        return replaced(std::move(value), terms, std::to_string(terms.size()) + " terms");
    }
    Outcome of_sum(const Fold& fold) {
        std::vector<Term> terms = expansion_.terms_of(fold.values.front());
        const auto is_product = [&] {
            return terms.size() == 1 &&
                   taken_out(product_of(terms.front().value), fold).factors.empty();
        };
        if (is_product()) terms = expansion_.with_map_opened(terms.front());
        if (is_product())
            return nothing(
                "is a sum of one product, every factor of which varies along what is "
                "summed");
        std::vector<Parts> parts;
        for (const Term& term : terms) parts.push_back(parts_of(product_of(term.value), fold));
        const Expression* product = product_of_sums(terms);
        if (product != nullptr && !some_lacks_an_axis(parts, fold))
            return NotApplicable{"`" + print(diagram_, *product) +
                                     "` has terms that cancel, and each of them has every axis of "
                                     "`" +
                                     diagram_[target_].name + "`: none is summed once",
                                 ""};
        if (terms.size() > 1)
            if (std::optional<NotApplicable> refusal = why_inexact(diagram_, terms, fold.over))
                return *refusal;
        stores_f32_ = cancels(terms);
        std::vector<Term> sums = terms;
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i].value = expression_of(parts[i].outside * summed(fold, parts[i].inside));
        return replaced(total(sums), terms, folds());
    }
    /// A product by what may leave the fold.
    struct Parts {
        Product outside;
        Product inside;
    };
    Parts parts_of(const Product& product, const Fold& fold) {
        Parts parts{taken_out(product, fold), {}};
        for (const Factor& factor : product.factors)
            if (!contains(parts.outside.factors, factor))
                multiply(parts.inside, factor.base, factor.power);
        multiply(parts.outside, product.coefficient, 1);
        return parts;
    }
    /// Whether a sum comes out that varies along fewer axes than there are.
    bool some_lacks_an_axis(const std::vector<Parts>& terms, const Fold& fold) const {
        std::set<AxisId> all(fold.over.begin(), fold.over.end());
        all.insert(diagram_[target_].axes.begin(), diagram_[target_].axes.end());
        return std::any_of(terms.begin(), terms.end(), [&](const Parts& term) {
            const Expression inside = expression_of(term.inside);
            return varies(inside, fold) && axes_used(inside).size() < all.size();
        });
    }
    /// Whether terms of a product of sums may be larger than it is, and round.
    bool cancels(const std::vector<Term>& terms) const {
        const DiagramFacts facts(diagram_);
        return std::any_of(terms.begin(), terms.end(), [&](const Term& term) {
            return term.product && kind_of(diagram_, term.value) == ValueKind::Real &&
                   (term.sign < 0 || !facts.of(term.value).nonnegative());
        });
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
            Parts parts = scaled(combination(Function::Add, inside), fold);
            gains = gains || !outside.empty() || !parts.outside.factors.empty();
            multiply(parts.outside, folded(fold, expression_of(parts.inside)), 1);
            outside.insert(outside.begin(), expression_of(parts.outside));
            operand = combination(Function::Add, outside);
        }
        if (gains) return replaced(combination(function, operands), {}, folds());
        if (signed_)
            return nothing("is a maximum or minimum of multiples of `" + *signed_ +
                           "`, which may be negative");
        return nothing("takes no maximum or minimum of several, and nothing in it is constant");
    }
    /// What varies, by the factors that may leave a maximum of it: those that are not negative.
    Parts scaled(const Expression& value, const Fold& fold) {
        if (!varies(value, fold)) return {{}, {1, {{value, 1}}}};
        const DiagramFacts facts(diagram_);
        const Product product = product_of(value);
        Parts parts;
        for (const Factor& factor : taken_out(product, fold).factors) {
            const Expression power = expression_of({1, {factor}});
            if (facts.of(power).nonnegative())
                multiply(parts.outside, factor.base, factor.power);
            else if (!signed_)
                signed_ = print(diagram_, power);
        }
        if (parts.outside.factors.empty()) return {{}, {1, {{value, 1}}}};
        parts.inside.coefficient = product.coefficient;
        for (const Factor& factor : product.factors)
            if (!contains(parts.outside.factors, factor))
                multiply(parts.inside, factor.base, factor.power);
        return parts;
    }
    Outcome of_product(const Fold& fold) {
        std::vector<Expression> operands = operands_of(fold.values.front(), Function::Multiply);
        if (operands.size() < 2) return nothing("is a product of single factors");
        for (Expression& operand : operands) operand = folded(fold, operand);
        return replaced(combination(Function::Multiply, operands), {}, folds());
    }
    /// Factors that may leave the fold.
    Product taken_out(const Product& product, const Fold& fold) {
        Product outside;
        for (const Factor& factor : product.factors)
            if (!varies(factor.base, fold) &&
                (factor.power > 0 || expansion_.is_never_zero(factor.base)) &&
                expansion_.is_finite(factor.base))
                multiply(outside, factor.base, factor.power);
        return outside;
    }
    /// A product's sum: a fold of its own over the axes along which it varies, by the sizes of
    /// others. Of prefixes it is over all.
    Product summed(const Fold& fold, const Product& product) {
        Fold own = fold;
        const Expression value = expression_of(product);
        const std::set<AxisId> used = axes_used(value);
        Product sum;
        if (!fold.every_prefix)
            std::erase_if(own.over, [&](AxisId axis) {
                if (used.count(axis) == 0) multiply(sum, size_of(axis), 1);
                return used.count(axis) == 0;
            });
        if (own.over.empty()) return sum * product;
        multiply(sum, folded(own, value), 1);
        return sum;
    }
    /// A fold of its own, as a read of its result; the same one is made once.
    Expression folded(const Fold& fold, Expression value) {
        Fold own = fold;
        own.values = {std::move(value)};
        for (const auto& [made, result] : folds_)
            if (made == own) return result;
        const Expression result = add_fold(own);
        folds_.emplace_back(std::move(own), result);
        return result;
    }
    Expression add_fold(const Fold& fold) {
        const Expression& value = fold.values.front();
        const Array& whole = diagram_[target_];
        const std::set<AxisId> used = axes_used(value);
        std::vector<AxisId> axes;
        for (AxisId axis : whole.axes)
            if (used.count(axis) != 0 || (fold.every_prefix && axis == fold.over.front()))
                axes.push_back(axis);
        std::string name = whole.name + "_" + std::to_string(folds_.size() + 1);
        if (folds_.size() < command_.as.size()) name = command_.as[folds_.size()];
        const ArrayId part = draft_.add_part(name, axes, diagram_[source_]);
        if (stores_f32_ && kind_of(diagram_, value) == ValueKind::Real)
            draft_.store(part, ElementType::F32);
        const BoxId box = draft_.add_box(diagram_[source_].box);
        draft_.place(source_, draft_.add({{part}, fold, box, diagram_[source_].span},
                                         draft_.home(source_), source_));
        return read_axes(part, axes);
    }
    std::string folds() const {
        return std::to_string(folds_.size()) + (folds_.size() == 1 ? " fold" : " folds");
    }
    Outcome replaced(Expression value, const std::vector<Term>& terms, std::string made) {
        SideConditions checked{{std::move(made)}, {}};
        Statement& statement = draft_.diagram.statements[source_.index()];
        statement.body = Map{value};
        if (cancels(terms)) {
            checked.hazards.push_back(
                print(Obligation{Hazard::Cancellation, false,
                                 "the terms of `" + print(diagram_, *product_of_sums(terms)) +
                                     "` may be far larger than it is, and err by their own size",
                                 "", ""}));
            if (roots_of_known_sign(draft_.diagram) < roots_of_known_sign(diagram_)) {
                statement.body = Map{napkin::apply(Function::Max, {std::move(value), number(0)})};
                checked.conditions.emplace_back("no root of what rounding makes negative");
            }
        }
        return draft_.finish(command_, std::move(checked));
    }

    const Diagram& diagram_;
    const Command& command_;
    ArrayId target_;
    StatementId source_;
    Draft draft_;
    Expansion expansion_;
    bool stores_f32_ = false;                         ///< what comes out, since it cancels
    std::optional<std::string> signed_;               ///< a factor that stays in a maximum
    std::vector<std::pair<Fold, Expression>> folds_;  ///< that were made, and their results
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
