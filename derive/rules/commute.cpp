// commute: folds in another order, and factors.
//
//   sum(i) c[i] * sum(j) F[i, j]     ==>     sum(j) sum(i) c[i] * F[i, j]
//   fold(i, j) F                     ==>     fold(j, i) F
//   a * b                            ==>     b * a
//
// Side conditions: one commutative monoid folds both axes; between the folds stand only factors (of
// a sum) or addends (of a maximum or minimum) that the inner axis does not enter. For factors: both
// stand in one product. Laws of commutative monoids.
#include <algorithm>

#include "derive/rewriting/products.h"
#include "derive/rewriting/unify.h"
#include "derive/rules/draft.h"
#include "diagrams/contains.h"

namespace napkin::rules {

namespace {

/// The statement that the command rewrites.
std::variant<StatementId, NotApplicable> statement_named(const State& state,
                                                         const Command& command) {
    if (command.in.empty())
        return out_of_place("it needs the array whose expression it rewrites",
                            "write `commute A, B in ARRAY`");
    const std::optional<ArrayId> array = find_array(state.diagram, command.in);
    if (!array) return out_of_place("there is no array `" + command.in + "`", "");
    const std::optional<StatementId> source = producer(state.diagram, *array);
    if (!source) return out_of_place("`" + command.in + "` is an input: no box computes it", "");
    return *source;
}

/// Leaves of a product, in the order written.
void collect_factors(Expression& expression, std::vector<Expression*>& factors) {
    Apply* call = std::get_if<Apply>(&expression.node);
    if (call != nullptr && call->function == Function::Multiply) {
        for (Expression& argument : call->arguments) collect_factors(argument, factors);
    } else if (call != nullptr &&
               (call->function == Function::Negate || call->function == Function::Divide)) {
        collect_factors(call->arguments.front(), factors);
    } else {
        factors.push_back(&expression);
    }
}

Outcome commute_factors(const State& state, const Command& command, StatementId source) {
    Draft draft(state);
    Statement& statement = draft.diagram.statements[source.index()];
    Expression* value = nullptr;
    if (Map* map = std::get_if<Map>(&statement.body)) value = &map->value;
    if (Fold* fold = std::get_if<Fold>(&statement.body);
        fold != nullptr && fold->values.size() == 1)
        value = &fold->values.front();
    if (value == nullptr) return NotApplicable{"`" + command.in + "` is no product", ""};
    std::vector<Expression*> factors;
    collect_factors(*value, factors);
    Expression* found[2] = {nullptr, nullptr};
    for (int i = 0; i < 2; ++i) {
        const ArrayId wanted =
            find_array(state.diagram, command.names[static_cast<std::size_t>(i)]).value();
        for (Expression* factor : factors) {
            const Read* element = std::get_if<Read>(&factor->node);
            if (found[i] == nullptr && element != nullptr && element->array == wanted &&
                factor != found[0])
                found[i] = factor;
        }
        if (found[i] == nullptr && i == 1 && command.names[0] == command.names[1])
            return NotApplicable{"`" + command.names[0] + "` is a factor of `" + command.in +
                                     "` once only, and has nothing to change places with",
                                 "name two factors"};
        if (found[i] == nullptr)
            return NotApplicable{"`" + command.names[static_cast<std::size_t>(i)] +
                                     "` is no factor of `" + command.in + "`",
                                 ""};
    }
    std::swap(*found[0], *found[1]);
    return draft.finish(command, {"both are factors of one product"});
}

/// A fold inside of a fold by the same monoid.
struct Nest {
    std::vector<Expression> values;  ///< with the inner fold's values in place of its result
    std::vector<AxisId> over;        ///< of the inner fold, renamed where they would clash
};

class Exchange {
public:
    Exchange(const State& state, const Command& command, StatementId source, AxisId first,
             AxisId second)
        : state_(state),
          command_(command),
          diagram_(state.diagram),
          source_(source),
          first_(first),
          second_(second),
          draft_(state) {}

    Outcome run() {
        const Fold* fold = std::get_if<Fold>(&diagram_[source_].body);
        if (fold == nullptr || fold->every_prefix || !fold->seed.empty())
            return NotApplicable{"`" + command_.in + "` is no fold", ""};
        if (!diagram_[fold->monoid].commutative)
            return NotApplicable{"`" + diagram_[fold->monoid].name + "` is not commutative",
                                 "the order of its elements is part of the result"};
        if (contains(fold->over, first_) && contains(fold->over, second_)) return swapped();
        for (AxisId outer : {first_, second_}) {
            const AxisId inner = outer == first_ ? second_ : first_;
            if (!contains(fold->over, outer)) continue;
            if (const std::optional<Nest> nest = nest_in(*fold, inner)) {
                if (std::optional<NotApplicable> refusal = infinite_factor(*fold)) return *refusal;
                return exchanged(*fold, *nest);
            }
        }
        return NotApplicable{"no fold over `" + diagram_[first_].name + "` and one over `" +
                                 diagram_[second_].name + "` stand inside each other in `" +
                                 command_.in + "`, with only factors between them",
                             ""};
    }

private:
    Outcome swapped() {
        std::vector<AxisId>& over =
            std::get<Fold>(draft_.diagram.statements[source_.index()].body).over;
        std::iter_swap(std::find(over.begin(), over.end(), first_),
                       std::find(over.begin(), over.end(), second_));
        return draft_.finish(command_, {"one commutative monoid folds both axes"});
    }
    /// Which function may stand between two folds, with operands that the inner axis does not
    /// enter.
    static std::optional<Function> between(MonoidId monoid) {
        if (monoid == kSum) return Function::Multiply;
        if (monoid == kMax || monoid == kMin) return Function::Add;
        return std::nullopt;
    }
    /// The one operand that is read from the inner fold.
    Expression* inner_read(Expression& value, MonoidId monoid, AxisId axis) {
        Apply* call = std::get_if<Apply>(&value.node);
        if (call != nullptr && between(monoid) == call->function) {
            for (Expression& argument : call->arguments)
                if (Expression* found = inner_read(argument, monoid, axis)) return found;
            return nullptr;
        }
        const Read* element = std::get_if<Read>(&value.node);
        const auto source = element != nullptr ? producer(diagram_, element->array) : std::nullopt;
        const Fold* fold = source ? std::get_if<Fold>(&diagram_[*source].body) : nullptr;
        const bool fits = fold != nullptr && fold->monoid == monoid && !fold->every_prefix &&
                          fold->seed.empty() && contains(fold->over, axis) &&
                          !diagram_[element->array].rounds;
        return fits ? &value : nullptr;
    }
    std::optional<Nest> nest_in(const Fold& fold, AxisId axis) {
        Nest nest{fold.values, {}};
        std::optional<StatementId> from;
        for (std::size_t i = 0; i < nest.values.size(); ++i) {
            Expression* place = inner_read(nest.values[i], fold.monoid, axis);
            if (place == nullptr) return std::nullopt;
            const Read element = std::get<Read>(place->node);
            const StatementId source = producer(diagram_, element.array).value();
            const Statement& statement = diagram_[source];
            if ((from && *from != source) || statement.targets[i] != element.array)
                return std::nullopt;
            from = source;
            const Fold& inner = std::get<Fold>(statement.body);
            if (i == 0) nest.over = free_axes(fold, inner);
            Binding binding;
            const std::vector<AxisId>& axes = diagram_[element.array].axes;
            for (std::size_t k = 0; k < axes.size(); ++k) binding[axes[k]] = element.index[k];
            for (std::size_t k = 0; k < inner.over.size(); ++k)
                binding[inner.over[k]] = axis_index(nest.over[k]);
            *place = with_axes(inner.values[i], binding);
        }
        return nest;
    }
    /// A factor beside the inner sum that may be infinite.
    std::optional<NotApplicable> infinite_factor(const Fold& fold) const {
        if (fold.monoid != kSum) return std::nullopt;
        for (const Factor& factor : product_of(fold.values.front()).factors)
            if (std::optional<NotApplicable> refusal = why_infinite(diagram_, factor.base))
                return refusal;
        return std::nullopt;
    }
    /// The inner fold's axes, others of the same size where the outer statement has them already.
    std::vector<AxisId> free_axes(const Fold& fold, const Fold& inner) {
        std::vector<AxisId> taken = diagram_[diagram_[source_].targets.front()].axes;
        taken.insert(taken.end(), fold.over.begin(), fold.over.end());
        std::vector<AxisId> axes;
        for (AxisId axis : inner.over)
            axes.push_back(contains(taken, axis) ? draft_.add_alias(axis) : axis);
        return axes;
    }
    Outcome exchanged(const Fold& fold, const Nest& nest) {
        const Statement& outer = diagram_[source_];
        Statement made;
        made.box = draft_.add_box(outer.box);
        made.span = outer.span;
        Fold first = fold;
        first.values = nest.values;
        Fold second = fold;
        second.over = nest.over;
        for (std::size_t i = 0; i < outer.targets.size(); ++i) {
            const Array& whole = diagram_[outer.targets[i]];
            std::vector<AxisId> axes = whole.axes;
            axes.insert(axes.end(), nest.over.begin(), nest.over.end());
            std::string name = whole.name + "_1";
            if (i < command_.as.size()) name = command_.as[i];
            made.targets.push_back(draft_.add_part(name, axes, outer, i));
            second.values[i] = read_axes(made.targets.back(), axes);
        }
        made.body = std::move(first);
        draft_.add(std::move(made), draft_.home(source_), source_);
        draft_.diagram.statements[source_.index()].body = std::move(second);
        return draft_.finish(command_, {"one commutative monoid folds both axes"});
    }

    const State& state_;
    const Command& command_;
    const Diagram& diagram_;
    StatementId source_;
    AxisId first_;
    AxisId second_;
    Draft draft_;
};

}  // namespace

Outcome commute(const State& state, const Command& command) {
    if (command.names.size() != 2)
        return out_of_place("it takes two axes, or two arrays", "write `commute A, B in ARRAY`");
    const auto found = statement_named(state, command);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&found)) return *refusal;
    const StatementId source = std::get<StatementId>(found);
    for (const std::string& wanted : command.as)
        if (find_array(state.diagram, wanted) || find_axis(state.diagram, wanted))
            return out_of_place("`" + wanted + "` is in use already", "choose another name");
    const std::optional<AxisId> first = find_axis(state.diagram, command.names[0]);
    const std::optional<AxisId> second = find_axis(state.diagram, command.names[1]);
    if (first && second) {
        if (*first == *second) return out_of_place("the two axes are one", "");
        return Exchange(state, command, source, *first, *second).run();
    }
    for (const std::string& name : command.names)
        if (!find_array(state.diagram, name))
            return out_of_place("there is no array or pair of axes `" + name + "`", "");
    if (!command.as.empty())
        return out_of_place("factors that change places get no name", "leave `as` out");
    return commute_factors(state, command, source);
}

}  // namespace napkin::rules
