#include "diagrams/drawing/glyphs.h"

#include <algorithm>
#include <map>
#include <set>

#include "diagrams/drawing/schematic.h"
#include "diagrams/drawing/spelled.h"

namespace napkin::drawing {

namespace {

/// A sum of one value over whole axes.
const Fold* as_sum(const Statement& statement) {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    const bool plain = fold != nullptr && fold->monoid == kSum && !fold->every_prefix &&
                       fold->seed.empty() && fold->values.size() == 1;
    return plain ? fold : nullptr;
}

/// Collects the factors of a product of plain reads and constants; sums that the unit computes on
/// the way, `(sum(k) A * B) * scale`, are factors with what they fold.
class Factors {
public:
    Factors(const Diagram& diagram, const Unit& unit) : diagram_(diagram) {
        for (std::size_t i = 0; i + 1 < unit.statements.size(); ++i) {
            const Statement& inner = diagram[unit.statements[i]];
            if (as_sum(inner) != nullptr) inner_[inner.targets[0]] = &inner;
        }
    }

    /// False where something else is in it.
    [[nodiscard]] bool collect(const Expression& value) {
        if (const Apply* call = std::get_if<Apply>(&value.node);
            call != nullptr && call->function == Function::Multiply)
            return std::all_of(call->arguments.begin(), call->arguments.end(),
                               [&](const Expression& factor) { return collect(factor); });
        const Read* element = std::get_if<Read>(&value.node);
        if (element != nullptr && diagram_[element->array].role != ArrayRole::Parameter)
            return collect(*element);
        bool constant = true;
        walk(value, [&](const Expression& node) {
            if (std::holds_alternative<AxisIndex>(node.node)) constant = false;
            if (const Read* inner = std::get_if<Read>(&node.node))
                constant = constant && diagram_[inner->array].role == ArrayRole::Parameter;
        });
        scaled = scaled || constant;
        return constant;
    }

    Contraction found;
    bool scaled = false;
    std::size_t sums = 0;  ///< factors that are sums

private:
    [[nodiscard]] bool collect(const Read& element) {
        UnitInput input{element.array, {}};
        std::set<AxisId> seen;
        for (const Expression& index : element.index) {
            const AxisIndex* plain = std::get_if<AxisIndex>(&index.node);
            if (plain == nullptr || !seen.insert(plain->axis).second) return false;
            input.index.emplace_back(plain->axis);
        }
        const auto inner = inner_.find(element.array);
        if (inner == inner_.end()) {
            found.inputs.push_back(std::move(input));
            return true;
        }
        const std::vector<AxisId>& axes = diagram_[element.array].axes;
        const bool whole = std::equal(axes.begin(), axes.end(), input.index.begin());
        const Fold* fold = as_sum(*inner->second);
        found.folded.insert(found.folded.end(), fold->over.begin(), fold->over.end());
        ++sums;
        return whole && collect(fold->values[0]);
    }

    const Diagram& diagram_;
    std::map<ArrayId, const Statement*> inner_;
};

/// Whether each axis of a target comes from some factor, so that every wire has a source.
bool covers(const Diagram& diagram, const Contraction& found, ArrayId target) {
    return std::all_of(diagram[target].axes.begin(), diagram[target].axes.end(), [&](AxisId axis) {
        return std::any_of(found.inputs.begin(), found.inputs.end(), [&](const UnitInput& input) {
            return std::find(input.index.begin(), input.index.end(), std::optional(axis)) !=
                   input.index.end();
        });
    });
}

MathText named(const std::string& name) {
    return columns_in(name) == 1 ? parse_math(name) : plain_text(name);
}

/// A map that puts one sign between two arrays, or one function around arrays, is known by it:
/// `exp`, `+`; a mask by its condition.
std::vector<MathText> name_of_map(const Diagram& diagram, const Unit& unit) {
    const Map* map = std::get_if<Map>(&diagram[unit.statements.back()].body);
    const Apply* call = map == nullptr ? nullptr : std::get_if<Apply>(&map->value.node);
    if (call == nullptr) return {};
    if (is_mask(*call)) {
        // What is hidden, unless it is an array as it stands, and where it is not.
        std::vector<MathText> lines;
        if (!is_plain_read(call->arguments[1]))
            lines = expression_of(diagram, unit, call->arguments[1]);
        for (MathText& line : expression_of(diagram, unit, call->arguments[0]))
            lines.push_back(std::move(line));
        lines.push_back(plain_text("mask"));
        return lines;
    }
    const bool plain = call->function != Function::Negate &&
                       std::all_of(call->arguments.begin(), call->arguments.end(), is_plain_read);
    if (plain && !spelled(diagram, map->value)) return {plain_text(name_of(call->function))};
    return {};
}

/// Whether a call that makes a box is of what the box computes too: `silu(sum(o) N[t, o] * W[f,
/// o])`.
bool computes_arguments(const Diagram& diagram, const Statement& statement) {
    const Map* map = std::get_if<Map>(&statement.body);
    const std::optional<Spelled> call =
        map != nullptr ? spelled(diagram, map->value) : std::nullopt;
    const auto is_computed = [&](const Expression& part) {
        const Read* element = std::get_if<Read>(&part.node);
        return element != nullptr && !diagram[element->array].named;
    };
    return call && std::any_of(call->arguments.begin(), call->arguments.end(),
                               [&](const Expression* argument) {
                                   return any_part(*argument, is_computed);
                               });
}

/// What stands for a statement whose formula is too long: a fold's sign, a selection, a name.
MathText short_label(const Diagram& diagram, const Statement& statement) {
    if (const Opaque* opaque = std::get_if<Opaque>(&statement.body)) return named(opaque->name);
    if (std::holds_alternative<Map>(statement.body))
        return parse_math(diagram[statement.targets[0]].name);
    return parse_math(sign_of(diagram, statement));
}

}  // namespace

std::optional<Contraction> as_contraction(const Diagram& diagram, const Unit& unit) {
    const Statement& last = diagram[unit.statements.back()];
    Factors factors(diagram, unit);
    const Fold* fold = as_sum(last);
    const Map* map = std::get_if<Map>(&last.body);
    if (fold == nullptr && map == nullptr) return std::nullopt;
    if (fold != nullptr) factors.found.folded = fold->over;
    if (!factors.collect(fold != nullptr ? fold->values[0] : map->value)) return std::nullopt;
    // A number times an array is a box: there is no wire that would show it.
    if (map != nullptr && factors.sums == 0 && factors.scaled) return std::nullopt;
    if (factors.sums + 1 != unit.statements.size()) return std::nullopt;
    const Contraction& found = factors.found;
    std::set<AxisId> bound(diagram[last.targets[0]].axes.begin(),
                           diagram[last.targets[0]].axes.end());
    for (AxisId axis : found.folded)
        if (!bound.insert(axis).second) return std::nullopt;  // two sums are not one
    if (found.inputs.empty() || !covers(diagram, found, last.targets[0])) return std::nullopt;
    return found;
}

std::vector<MathText> box_label(const Diagram& diagram, const Unit& unit) {
    const Box& box = diagram[unit.box];
    const Statement& last = diagram[unit.statements.back()];
    const bool alone = unit.statements.size() == 1;
    std::vector<MathText> lines;
    if (!box.name.empty()) {
        if (!alone && computes_arguments(diagram, last)) lines = formula_of(diagram, unit);
        return lines.empty() ? std::vector{named(box.name)} : lines;
    }
    if (alone) lines = name_of_map(diagram, unit);
    if (lines.empty()) lines = formula_of(diagram, unit);
    if (!lines.empty()) return lines;
    return {alone ? short_label(diagram, last) : parse_math(diagram[last.targets.front()].name)};
}

std::vector<Level> levels_of(const Region& region) {
    std::set<Level> levels;
    for (const Group& group : region.groups) levels.insert(group.level);
    for (const Stream& stream : region.streams) levels.insert(stream.level);
    if (levels.empty()) levels.insert(Level::Block);
    return {levels.begin(), levels.end()};
}

}  // namespace napkin::drawing
