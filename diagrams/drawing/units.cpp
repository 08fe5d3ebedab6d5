#include "diagrams/drawing/units.h"

#include <algorithm>
#include <map>
#include <set>

#include "diagrams/contains.h"
#include "diagrams/drawing/glyphs.h"

namespace napkin::drawing {

namespace {

/// Arrays that leave a unit: outputs of the diagram and whatever others read.
std::vector<ArrayId> outputs_of_unit(const Diagram& diagram, const Unit& unit) {
    const std::set<StatementId> inside(unit.statements.begin(), unit.statements.end());
    std::vector<ArrayId> outputs;
    for (StatementId id : unit.statements)
        for (ArrayId target : diagram[id].targets) {
            const std::vector<StatementId> readers = consumers(diagram, target);
            const bool leaves =
                std::any_of(readers.begin(), readers.end(),
                            [&](StatementId reader) { return inside.count(reader) == 0; });
            if (leaves || diagram[target].role == ArrayRole::Output) outputs.push_back(target);
        }
    if (outputs.empty()) outputs = diagram[unit.statements.back()].targets;
    return outputs;
}

/// Distinct arrays that a unit reads and does not define; parameters are constants, not wires.
std::vector<UnitInput> inputs_of_unit(const Diagram& diagram, const Unit& unit) {
    std::set<ArrayId> own;
    for (StatementId id : unit.statements)
        for (ArrayId target : diagram[id].targets) own.insert(target);
    std::vector<UnitInput> inputs;
    std::set<ArrayId> seen;
    const auto visit = [&](const Expression& node) {
        const Read* element = std::get_if<Read>(&node.node);
        if (element == nullptr || own.count(element->array) != 0) return;
        if (diagram[element->array].role == ArrayRole::Parameter) return;
        std::vector<std::optional<AxisId>> index;
        for (const Expression& i : element->index) {
            const AxisIndex* plain = std::get_if<AxisIndex>(&i.node);
            index.push_back(plain ? std::optional(plain->axis) : std::nullopt);
        }
        if (seen.insert(element->array).second) {
            inputs.push_back({element->array, std::move(index)});
            return;
        }
        for (UnitInput& input : inputs)
            if (input.array == element->array)
                for (std::size_t i = 0; i < index.size(); ++i)
                    if (input.index[i] != index[i]) input.index[i].reset();
    };
    for (StatementId id : unit.statements)
        for (const Expression* expression : expressions_of(diagram[id])) walk(*expression, visit);
    return inputs;
}

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

std::set<AxisId> bent_axes(const Diagram& diagram, const Unit& unit) {
    std::set<AxisId> bent;
    for (StatementId id : unit.statements)
        for (const Expression* expression : expressions_of(diagram[id]))
            collect_bent(*expression, bent);
    return bent;
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

/// Whether a wire would be left to enter the box.
bool has_port(const Unit& unit) {
    for (const UnitInput& input : unit.inputs) {
        if (input.index.empty()) return true;
        for (const std::optional<AxisId>& axis : input.index)
            if (!axis || !contains(unit.passing, *axis)) return true;
    }
    return false;
}

/// A triangle stands on neighbouring wires of its one input, which come out again.
bool fits_triangle(const Diagram& diagram, const Unit& unit) {
    if (unit.inputs.size() != 1 || unit.outputs.size() != 1) return false;
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

void choose_glyph(const Diagram& diagram, Unit& unit) {
    const Box& box = diagram[unit.box];
    if (box.glyph == "triangle" && fits_triangle(diagram, unit)) {
        unit.glyph = GlyphKind::Triangle;
        unit.marked = box.glyph_axes;
        return;
    }
    const bool free = box.glyph.empty() || box.glyph == "cup";
    if (std::optional<Contraction> contraction;
        free && unit.outputs.size() == 1 && (contraction = as_contraction(diagram, unit))) {
        unit.glyph = GlyphKind::Contraction;
        unit.marked = contraction->folded;
        unit.inputs = contraction->inputs;
        return;
    }
    unit.glyph = GlyphKind::Box;
    unit.label = box_label(diagram, unit);
    unit.passing = weaves_of(diagram, unit);
    if (is_elementwise(diagram, unit))
        unit.passing.erase(std::remove_if(unit.passing.begin(), unit.passing.end(),
                                          [&](AxisId axis) { return !diagram[axis].woven; }),
                           unit.passing.end());
    if (!has_port(unit)) unit.passing.clear();
}

Unit make_unit(const Diagram& diagram, const Relabelling& relabelling, std::size_t region,
               BoxId box, std::vector<StatementId> statements) {
    Unit unit;
    unit.region = region;
    unit.box = box;
    unit.statements = std::move(statements);
    for (StatementId id : unit.statements)
        if (const auto place = relabelling.places.find(id); place != relabelling.places.end())
            unit.place = place->second;
    unit.outputs = outputs_of_unit(diagram, unit);
    unit.inputs = inputs_of_unit(diagram, unit);
    choose_glyph(diagram, unit);
    return unit;
}

/// The distinct arrays with axes that units read and write.
std::set<ArrayId> arrays_of(const Diagram& diagram, const std::vector<Unit>& units) {
    std::set<ArrayId> arrays;
    for (const Unit& unit : units) {
        for (const UnitInput& input : unit.inputs) arrays.insert(input.array);
        arrays.insert(unit.outputs.begin(), unit.outputs.end());
    }
    for (auto at = arrays.begin(); at != arrays.end();)
        at = diagram[*at].axes.empty() ? arrays.erase(at) : std::next(at);
    return arrays;
}

/// Whether every read of the unit has the axis where its array has it.
bool read_plainly(const Diagram& diagram, const Unit& unit, AxisId axis) {
    bool plain = bent_axes(diagram, unit).count(axis) == 0;
    for (StatementId id : unit.statements) {
        plain = plain && !contains(folded_axes(diagram[id]), axis);
        for (const Expression* expression : expressions_of(diagram[id]))
            walk(*expression, [&](const Expression& node) {
                const Read* element = std::get_if<Read>(&node.node);
                if (element == nullptr) return;
                const std::vector<AxisId>& axes = diagram[element->array].axes;
                for (std::size_t i = 0; i < axes.size() && i < element->index.size(); ++i)
                    if (axes[i] == axis && element->index[i] != axis_index(axis)) plain = false;
            });
    }
    return plain;
}

}  // namespace

std::vector<Unit> units_of(const Diagram& diagram, const Relabelling& relabelling) {
    std::vector<Unit> units;
    for (std::size_t r = 0; r < relabelling.regions.size(); ++r) {
        std::vector<std::pair<BoxId, std::vector<StatementId>>> parts;
        for (StatementId id : relabelling.regions[r].statements) {
            const BoxId box = diagram[id].box;
            if (parts.empty() || parts.back().first != box) parts.push_back({box, {}});
            parts.back().second.push_back(id);
        }
        for (auto& [box, statements] : parts)
            units.push_back(make_unit(diagram, relabelling, r, box, std::move(statements)));
    }
    return units;
}

std::vector<AxisId> common_axes(const Diagram& diagram, const std::vector<Unit>& units) {
    const std::set<ArrayId> arrays = arrays_of(diagram, units);
    std::vector<AxisId> common;
    for (std::uint32_t i = 0; i < diagram.axes.size() && !arrays.empty(); ++i) {
        const AxisId axis{i};
        const auto carries = [&](ArrayId array) {
            const std::vector<AxisId>& axes = diagram[array].axes;
            return std::count(axes.begin(), axes.end(), axis) == 1;
        };
        if (diagram[axis].woven && std::all_of(arrays.begin(), arrays.end(), carries) &&
            std::all_of(units.begin(), units.end(),
                        [&](const Unit& unit) { return read_plainly(diagram, unit, axis); }))
            common.push_back(axis);
    }
    return common;
}

std::vector<Column> columns_of(const Diagram& diagram, const Relabelling& relabelling) {
    std::vector<Column> columns;
    const std::vector<Unit> units = units_of(diagram, relabelling);
    for (std::size_t r = 0; r < relabelling.regions.size(); ++r) {
        const std::vector<Level> levels = levels_of(relabelling.regions[r]);
        for (Level level : levels) columns.push_back({ColumnKind::Load, r, level, {}});
        for (const Unit& unit : units)
            if (unit.region == r)
                columns.push_back({ColumnKind::Boxes, r, levels.back(), unit.statements});
        for (std::size_t k = levels.size(); k-- > 0;)
            columns.push_back({ColumnKind::Save, r, levels[k], {}});
    }
    return columns;
}

}  // namespace napkin::drawing
