#include "diagrams/drawing/glyphs.h"

#include <algorithm>
#include <set>

#include "diagrams/contains.h"
#include "diagrams/drawing/box_label.h"
#include "diagrams/drawing/contraction.h"
#include "diagrams/drawing/formula_signs.h"
#include "diagrams/drawing/schematic.h"
#include "diagrams/drawing/spelled.h"

namespace napkin::drawing {

namespace {

/// Axes whose index the expression uses as a value or inside arithmetic, not as a plain subscript.
void collect_bent(const Expression& expression, std::set<AxisId>& bent) {
    if (const AxisIndex* index = std::get_if<AxisIndex>(&expression.node)) bent.insert(index->axis);
    if (const Read* element = std::get_if<Read>(&expression.node))
        for (const Expression& index : element->index)
            if (!std::holds_alternative<AxisIndex>(index.node)) collect_bent(index, bent);
    if (const Apply* call = std::get_if<Apply>(&expression.node))
        for (const Expression& argument : call->arguments) collect_bent(argument, bent);
    if (const Convert* convert = std::get_if<Convert>(&expression.node))
        for (const Expression& argument : convert->argument) collect_bent(argument, bent);
}

/// Axes over which the unit is weaved: kept by every output, never folded, subscripts only.
std::vector<AxisId> weaves_of(const Diagram& diagram, const Unit& unit) {
    std::set<AxisId> used = bent_axes(diagram, unit);
    for (StatementId id : unit.statements)
        for (AxisId axis : folded_axes(diagram[id])) used.insert(axis);
    const Box& box = diagram[unit.box];
    used.insert(box.glyph_axes.begin(), box.glyph_axes.end());
    std::vector<AxisId> weaves;
    for (AxisId axis : diagram[unit.outputs.front()].axes) {
        const bool kept =
            std::all_of(unit.outputs.begin(), unit.outputs.end(),
                        [&](ArrayId output) { return contains(diagram[output].axes, axis); });
        const bool enters =
            std::any_of(unit.inputs.begin(), unit.inputs.end(), [&](const UnitInput& in) {
                return std::find(in.index.begin(), in.index.end(), std::optional(axis)) !=
                       in.index.end();
            });
        if (kept && enters && used.count(axis) == 0 && !contains(weaves, axis))
            weaves.push_back(axis);
    }
    return weaves;
}

/// A box that is a pure map acts on single elements, so everything could pass around it; only the
/// axes of `weave` lines do.
bool is_elementwise(const Diagram& diagram, const Unit& unit) {
    return std::all_of(unit.statements.begin(), unit.statements.end(), [&](StatementId id) {
        return std::holds_alternative<Map>(diagram[id].body);
    });
}

/// Whether a wire of the array would be left to enter the box.
bool has_port(const UnitInput& input, const std::vector<AxisId>& passing) {
    return input.index.empty() || std::any_of(input.index.begin(), input.index.end(),
                                              [&](const std::optional<AxisId>& axis) {
                                                  return !axis || !contains(passing, *axis);
                                              });
}

/// Every array that a box reads enters it: of one whose wires would all pass, the innermost does
/// not.
void keep_ports(Unit& unit) {
    for (const UnitInput& input : unit.inputs)
        if (!has_port(input, unit.passing))
            unit.passing.erase(
                std::find(unit.passing.begin(), unit.passing.end(), *input.index.back()));
}

/// Whether the operation that a unit is takes arrays as they stand, and nothing else.
bool takes_arrays_alone(const Diagram& diagram, const Unit& unit) {
    const Box& box = diagram[unit.box];
    const Map* map = std::get_if<Map>(&diagram[unit.statements.back()].body);
    const std::optional<Spelled> call =
        map != nullptr ? spelled_as(diagram, box.name, map->value) : std::nullopt;
    if (!call) return map == nullptr && box.of_arrays;
    return std::all_of(call->arguments.begin(), call->arguments.end(),
                       [](const Expression* argument) { return is_plain_read(*argument); });
}

/// A triangle stands on neighbouring wires of its one input, which come out again.
bool fits_triangle(const Diagram& diagram, const Unit& unit) {
    if (unit.inputs.size() != 1 || unit.outputs.size() != 1) return false;
    if (!takes_arrays_alone(diagram, unit)) return false;
    const std::vector<AxisId>& glyph_axes = diagram[unit.box].glyph_axes;
    const std::vector<AxisId>& out = diagram[unit.outputs[0]].axes;
    const UnitInput& input = unit.inputs[0];
    if (glyph_axes.empty() || input.index.size() != out.size()) return false;
    std::size_t first = out.size();
    std::size_t last = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (input.index[i] != out[i]) return false;
        if (!contains(glyph_axes, out[i])) continue;
        first = std::min(first, i);
        last = i;
    }
    return first <= last && last - first + 1 == glyph_axes.size();
}

/// The part of a box in which the glyph that the library says is of the whole.
bool is_result(const Diagram& diagram, const Unit& unit) {
    return unit.statements.back() == diagram[unit.box].statements.back();
}

bool become_contraction(const Diagram& diagram, Unit& unit) {
    const std::optional<Contraction> contraction = as_contraction(diagram, unit.statements);
    if (!contraction) return false;
    const std::optional<MathText> factor = factor_of(diagram, unit, contraction->scales);
    if (!factor) return false;
    unit.glyph = GlyphKind::Contraction;
    unit.marked = contraction->folded;
    unit.inputs = contraction->inputs;
    unit.factor = *factor;
    return true;
}

}  // namespace

std::set<AxisId> bent_axes(const Diagram& diagram, const Unit& unit) {
    std::set<AxisId> bent;
    for (StatementId id : unit.statements)
        for (const Expression* expression : expressions_of(diagram[id]))
            collect_bent(*expression, bent);
    return bent;
}

void choose_glyph(const Diagram& diagram, Unit& unit) {
    const Box& box = diagram[unit.box];
    const bool whole = is_result(diagram, unit);
    if (whole && box.glyph == "triangle" && fits_triangle(diagram, unit)) {
        unit.glyph = GlyphKind::Triangle;
        unit.marked = box.glyph_axes;
        return;
    }
    const bool free = !whole || box.glyph.empty() || box.glyph == "cup";
    if (free && unit.outputs.size() == 1 && become_contraction(diagram, unit)) return;
    unit.glyph = GlyphKind::Box;
    unit.passing = weaves_of(diagram, unit);
    if (is_elementwise(diagram, unit))
        unit.passing.erase(std::remove_if(unit.passing.begin(), unit.passing.end(),
                                          [&](AxisId axis) { return !diagram[axis].woven; }),
                           unit.passing.end());
    keep_ports(unit);
    label_box(diagram, unit);
}

std::vector<Level> levels_of(const Region& region) {
    std::set<Level> levels;
    for (const Group& group : region.groups) levels.insert(group.level);
    for (const Stream& stream : region.streams) levels.insert(stream.level);
    if (levels.empty()) levels.insert(Level::Block);
    return {levels.begin(), levels.end()};
}

}  // namespace napkin::drawing
