// Every access is walked to with the conditions that hold there: the first operand of `and` holds
// in the second, the condition of `if` in its branches. An index is inside when no point of the
// axes and sizes at which those conditions hold has `index < 0` or `index >= size`
// (diagrams/index).
#include "diagrams/check/bounds.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "diagrams/check/messages.h"
#include "diagrams/check/types.h"
#include "diagrams/index/domain.h"
#include "diagrams/symbol_names.h"

namespace napkin::checking {

namespace {

/// A condition around an access, or its negation.
struct Guard {
    const Expression* condition = nullptr;
    bool holds = true;
};
using Guards = std::vector<Guard>;

Guards with(Guards guards, const Expression& condition, bool holds) {
    guards.push_back({&condition, holds});
    return guards;
}

/// Calls `visit(node, guards)` on every node with the conditions that hold there.
template <class Visitor>
void walk_guarded(const Expression& expression, const Guards& guards, const Visitor& visit) {
    visit(expression, guards);
    if (const Read* element = std::get_if<Read>(&expression.node))
        for (const Expression& index : element->index) walk_guarded(index, guards, visit);
    if (const Convert* convert = std::get_if<Convert>(&expression.node))
        walk_guarded(convert->argument.front(), guards, visit);
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return;
    const std::vector<Expression>& parts = call->arguments;
    if (call->function == Function::Select) {
        walk_guarded(parts[0], guards, visit);
        walk_guarded(parts[1], with(guards, parts[0], true), visit);
        walk_guarded(parts[2], with(guards, parts[0], false), visit);
    } else if (call->function == Function::And || call->function == Function::Or) {
        walk_guarded(parts[0], guards, visit);
        walk_guarded(parts[1], with(guards, parts[0], call->function == Function::And), visit);
    } else {
        for (const Expression& part : parts) walk_guarded(part, guards, visit);
    }
}

/// What is known of the elements of integer arrays: their contract, or what defines them.
class KnownElements {
public:
    explicit KnownElements(const Diagram& diagram) : diagram_(diagram) {}

    std::optional<index::ElementRange> operator()(ArrayId array) {
        if (kind_of(diagram_[array].type) != ValueKind::Integer) return std::nullopt;
        if (diagram_[array].indexes) return index::ElementRange{{0, {}}, diagram_[array].indexes};
        const auto known = known_.find(array);
        if (known != known_.end()) return known->second;
        return known_[array] = defined(array);
    }

private:
    index::ElementRange defined(ArrayId array) {
        const std::optional<StatementId> maker = producer(diagram_, array);
        if (!maker) return {};
        const Statement& statement = diagram_[*maker];
        const Select* select = std::get_if<Select>(&statement.body);
        if (select != nullptr && statement.targets.back() == array) return {{0, {}}, select->over};
        const Map* map = std::get_if<Map>(&statement.body);
        if (map == nullptr || kind_of(diagram_, map->value) != ValueKind::Integer) return {};
        const index::Domain everywhere(diagram_.axes, std::ref(*this));
        index::Bounds bounds = index::range_of(everywhere, map->value).value_or(index::Bounds{});
        for (std::optional<std::int64_t>* end : {&bounds.low, &bounds.high})
            if (*end) *end = stored(diagram_[array].type, **end);
        return {bounds, {}};
    }
    /// Narrow integers saturate.
    static std::int64_t stored(ElementType type, std::int64_t value) {
        if (bits_of(type) >= 32) return value;
        return static_cast<std::int64_t>(round_to(type, static_cast<double>(value)));
    }

    const Diagram& diagram_;
    std::map<ArrayId, index::ElementRange> known_;
};

void restrict_to(index::Domain& domain, const Guards& guards) {
    for (const Guard& guard : guards) domain.restrict_to(*guard.condition, guard.holds);
}

/// One index of one access.
struct Position {
    const Expression* index = nullptr;
    AxisId axis;
};

bool is_inside(const Diagram& diagram, const Position& position, const Guards& guards) {
    KnownElements known(diagram);
    index::Domain domain(diagram.axes, std::ref(known));
    restrict_to(domain, guards);
    return index::is_within(domain, *position.index, position.axis).inside();
}

/// Formulas are exact and throw where a coefficient leaves 64 bits: then nothing is proved.
bool equal_sizes(const Formula& a, const Formula& b) {
    try {
        return provably_equal(a, b);
    } catch (const InternalError&) {
        return a == b;
    }
}

/// Whether an index is an axis of the same size, which needs no proof.
bool same_size(const Diagram& diagram, const Position& position) {
    const AxisIndex* index = std::get_if<AxisIndex>(&position.index->node);
    if (index == nullptr) return false;
    return index->axis == position.axis ||
           equal_sizes(diagram[index->axis].size, diagram[position.axis].size);
}

bool is_input_element(const Diagram& diagram, const Expression& index) {
    const Read* element = std::get_if<Read>(&index.node);
    return element != nullptr && diagram[element->array].role == ArrayRole::Input &&
           kind_of(diagram[element->array].type) == ValueKind::Integer;
}

template <class Visitor>
void each_position(const Diagram& diagram, const Expression& part, const Visitor& visit) {
    const Read* element = std::get_if<Read>(&part.node);
    if (element == nullptr) return;
    const std::vector<AxisId>& axes = diagram[element->array].axes;
    for (std::size_t i = 0; i < axes.size() && i < element->index.size(); ++i)
        visit(Position{&element->index[i], axes[i]});
}

class BoundsChecker {
public:
    explicit BoundsChecker(Context& context) : context_(context) {}

    /// What the elements of inputs that stand as an index promise, wherever they do.
    void collect_contracts(const Expression& expression) {
        walk_guarded(expression, {}, [&](const Expression& part, const Guards& guards) {
            each_position(context_.diagram, part, [&](const Position& position) {
                if (is_input_element(context_.diagram, *position.index) &&
                    !is_inside(context_.diagram, position, guards))
                    add_contract(std::get<Read>(position.index->node).array, position.axis);
            });
        });
    }
    void check(const Expression& expression) {
        walk_guarded(expression, {}, [&](const Expression& part, const Guards& guards) {
            each_position(context_.diagram, part, [&](const Position& position) {
                check_position(part, position, guards);
            });
            check_mask(part, guards);
            check_divisor(part, guards);
        });
    }

private:
    void check_position(const Expression& access, const Position& position, const Guards& guards) {
        if (same_size(context_.diagram, position)) return;
        KnownElements known(context_.diagram);
        index::Domain domain(context_.diagram.axes, std::ref(known));
        restrict_to(domain, guards);
        const index::Within within = index::is_within(domain, *position.index, position.axis);
        if (within.inside()) return;
        if (!is_guarded_axis(*position.index, guards)) {
            report_sizes(access, position);
            return;
        }
        report_range(access, position, within, index::range_of(domain, *position.index));
    }

    /// False for a plain axis of another size of which no condition speaks: a slip, most likely.
    static bool is_guarded_axis(const Expression& index, const Guards& guards) {
        const AxisIndex* plain = std::get_if<AxisIndex>(&index.node);
        if (plain == nullptr) return true;
        return std::any_of(guards.begin(), guards.end(), [&](const Guard& guard) {
            return axes_used(*guard.condition).contains(plain->axis);
        });
    }

    /// The contract of an index input: its values lie below the smallest size that it indexes.
    void add_contract(ArrayId input, AxisId axis) {
        Array& array = context_.array(input);
        if (!array.indexes || context_.axis(axis).extent < context_.axis(*array.indexes).extent)
            array.indexes = axis;
    }

    /// The axes that are the indices of a read, in order.
    static std::vector<AxisId> axes_read(const Read& element) {
        std::vector<AxisId> axes;
        for (const Expression& index : element.index)
            if (const AxisIndex* plain = std::get_if<AxisIndex>(&index.node))
                axes.push_back(plain->axis);
        return axes;
    }

    /// `W[d, f]`, as it is written, without the axes that are woven in.
    std::string with_axes(const Array& array, const std::vector<AxisId>& axes) const {
        std::string names;
        for (const AxisId axis : axes)
            if (!context_.diagram[axis].woven)
                names += (names.empty() ? "" : ", ") + context_.diagram[axis].name;
        return array.name + "[" + names + "]";
    }

    void report_sizes(const Expression& access, const Position& position) {
        const Read& element = std::get<Read>(access.node);
        const Array& array = context_.diagram[element.array];
        const std::vector<AxisId> read = axes_read(element);
        if (std::is_permutation(read.begin(), read.end(), array.axes.begin(), array.axes.end())) {
            context_.report(messages::axes_swapped(position.index->span, with_axes(array, read),
                                                   with_axes(array, array.axes)));
            return;
        }
        const AxisId index = std::get<AxisIndex>(position.index->node).axis;
        context_.report(messages::sizes_differ(
            position.index->span, array_name(access), context_.axis(index).name, size_text(index),
            context_.axis(position.axis).name, size_text(position.axis)));
    }

    std::string size_text(AxisId id) {
        const Axis& axis = context_.axis(id);
        const std::string number = std::to_string(axis.extent);
        if (has_own_size(context_.diagram, id)) return number;
        return print(axis.size, SymbolNames(context_.diagram.axes)) + " = " + number;
    }

    static std::string range_text(const index::Bounds& range) {
        if (!range.low && !range.high) return "of any size";
        if (!range.high) return "from " + std::to_string(*range.low);
        if (!range.low) return "up to " + std::to_string(*range.high);
        return std::to_string(*range.low) + ".." + std::to_string(*range.high);
    }

    std::string array_name(const Expression& access) const {
        return context_.diagram[std::get<Read>(access.node).array].name;
    }

    void report_range(const Expression& access, const Position& position,
                      const index::Within& within, const std::optional<index::Bounds>& range) {
        const std::string shown = print(context_.diagram, access);
        const std::string index = print(context_.diagram, *position.index);
        const Axis& axis = context_.axis(position.axis);
        std::string condition;
        if (!within.above) condition = index + " >= 0";
        if (!within.below)
            condition += (condition.empty() ? "" : " and ") + index + " < size(" + axis.name + ")";
        const std::string help =
            axes_used(*position.index).empty() && arrays_read(*position.index).empty()
                ? "no index counts from the end: write one of the axis, or `size(" + axis.name +
                      ") - 1` for the last"
                : "guard it: `if " + condition + " then ... else 0`";
        const bool data = !arrays_read(*position.index).empty();
        if (data || !range) {
            context_.report(
                messages::index_from_data(position.index->span, shown, index, axis.name, help));
            return;
        }
        const std::string last =
            axis.dynamic ? "size(" + axis.name + ") - 1" : std::to_string(axis.extent - 1);
        context_.report(messages::out_of_range(position.index->span, shown, index,
                                               range_text(*range), axis.name, last, help));
    }

    void check_mask(const Expression& part, const Guards& guards) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call == nullptr || call->function != Function::Select) return;
        const Expression& condition = call->arguments[0];
        // What nobody wrote, such as that of an exclusive scan's first element, is no mistake.
        const bool written = condition.span.begin < condition.span.end;
        if (!written || axes_used(condition).empty()) return;
        KnownElements known(context_.diagram);
        index::Domain domain(context_.diagram.axes, std::ref(known));
        restrict_to(domain, with(guards, condition, true));
        if (!index::is_empty(domain)) return;
        const std::string text = print(context_.diagram, condition);
        if (!warned_.insert(text).second) return;
        context_.warnings.add(messages::mask_never_holds(condition.span, text));
    }

    /// An index that can be 0 and divides, or is under a root, was most likely meant as a size.
    void check_divisor(const Expression& part, const Guards& guards) {
        const Apply* call = std::get_if<Apply>(&part.node);
        const Expression* const index = call == nullptr ? nullptr : divisor_or_root(*call);
        if (index == nullptr || !std::holds_alternative<AxisIndex>(index->node)) return;
        const Expression zero = apply(Function::Equal, {*index, number(0)});
        KnownElements known(context_.diagram);
        index::Domain domain(context_.diagram.axes, std::ref(known));
        restrict_to(domain, with(guards, zero, true));
        if (index::is_empty(domain)) return;
        const AxisId axis = std::get<AxisIndex>(index->node).axis;
        if (context_.axis(axis).extent == 1 || !divisors_.insert(index->span.begin).second) return;
        context_.warnings.add(messages::index_as_size(index->span, context_.axis(axis).name));
    }

    /// What a call divides by or takes a root of; null for other calls.
    static const Expression* divisor_or_root(const Apply& call) {
        if (call.function == Function::Divide) return &call.arguments[1];
        if (call.function == Function::Sqrt || call.function == Function::Rsqrt)
            return &call.arguments[0];
        if (call.function != Function::Power) return nullptr;
        const Number* exponent = std::get_if<Number>(&call.arguments[1].node);
        const bool whole = exponent != nullptr && exponent->is_integer && exponent->value >= 0;
        return whole ? nullptr : &call.arguments[0];
    }

    Context& context_;
    std::set<std::string> warned_;
    std::set<std::uint32_t> divisors_;  ///< where the text of an index begins that was warned of
};

}  // namespace

bool accesses_proved(const Diagram& diagram, const Expression& expression,
                     const std::vector<Expression>& guards) {
    Guards outer;
    for (const Expression& guard : guards) outer.push_back({&guard, true});
    bool proved = true;
    walk_guarded(expression, outer, [&](const Expression& part, const Guards& inner) {
        each_position(diagram, part, [&](const Position& position) {
            proved = proved &&
                     (same_size(diagram, position) || is_input_element(diagram, *position.index) ||
                      is_inside(diagram, position, inner));
        });
    });
    return proved;
}

bool guards_an_index(const Expression& expression, const std::vector<Expression>& guards) {
    bool found = false;
    walk(expression, [&](const Expression& part) {
        const Read* access = std::get_if<Read>(&part.node);
        if (access == nullptr || found) return;
        for (const Expression& index : access->index)
            for (ArrayId array : arrays_read(index))
                for (const Expression& guard : guards)
                    found = found || arrays_read(guard).contains(array);
    });
    return found;
}

void check_bounds(Context& context) {
    if (!context.sizes_known) return;
    BoundsChecker checker(context);
    std::vector<const Expression*> all;
    for (const Statement& statement : context.diagram.statements) {
        const bool failed =
            std::any_of(statement.targets.begin(), statement.targets.end(),
                        [&](ArrayId target) { return context.failed.contains(target); });
        if (failed) continue;
        for (const Expression* expression : expressions_of(statement)) all.push_back(expression);
    }
    // First, so that nothing hangs on the order of accesses.
    for (const Expression* expression : all) checker.collect_contracts(*expression);
    for (const Expression* expression : all) checker.check(*expression);
}

}  // namespace napkin::checking
