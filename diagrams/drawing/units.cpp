#include "diagrams/drawing/units.h"

#include <algorithm>
#include <map>
#include <set>

#include "diagrams/contains.h"
#include "diagrams/drawing/factors_apart.h"
#include "diagrams/drawing/glyphs.h"
#include "diagrams/drawing/parts.h"

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
    return unit;
}

/// `Σ` of an array without a name of its own that a sum leaves to other parts of the box, numbered
/// where there are several. What is saved keeps the name that stands beside it there.
std::map<ArrayId, std::string> names_of_sums(const Diagram& diagram, const Region& region,
                                             const std::vector<Unit>& parts) {
    std::vector<ArrayId> sums;
    for (const Unit& part : parts)
        for (ArrayId output : part.outputs)
            if (const Fold* fold = std::get_if<Fold>(&diagram[part.statements.back()].body);
                fold != nullptr && fold->monoid == kSum && !diagram[output].named &&
                !is_saved(diagram, region, output))
                sums.push_back(output);
    std::map<ArrayId, std::string> names;
    for (std::size_t i = 0; i < sums.size(); ++i)
        names[sums[i]] = "Σ" + (sums.size() > 1 ? "_" + std::to_string(i + 1) : "");
    return names;
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

/// Whether two factors of a product both have the axis and keep it.
bool joins(const Unit& unit, AxisId axis) {
    const auto has = [&](const UnitInput& input) { return contains(input.index, axis); };
    return unit.glyph == GlyphKind::Contraction && !contains(unit.marked, axis) &&
           std::count_if(unit.inputs.begin(), unit.inputs.end(), has) > 1;
}

/// The outermost axis of all the arrays alike, of which each has another, besides those before it.
std::optional<AxisId> next_outermost(const Diagram& diagram, const std::set<ArrayId>& arrays,
                                     const std::vector<AxisId>& before) {
    std::optional<AxisId> outermost;
    for (ArrayId array : arrays) {
        std::vector<AxisId> axes = diagram[array].axes;
        std::erase_if(axes, [&](AxisId axis) { return contains(before, axis); });
        if (axes.size() < 2 || axes.front() != outermost.value_or(axes.front()))
            return std::nullopt;
        outermost = axes.front();
    }
    return outermost;
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
        for (const auto& [box, statements] : parts) {
            std::vector<Unit> of_box;
            for (std::vector<StatementId>& part : parts_of(diagram, statements))
                of_box.push_back(make_unit(diagram, relabelling, r, box, std::move(part)));
            const std::map<ArrayId, std::string> called =
                names_of_sums(diagram, relabelling.regions[r], of_box);
            for (Unit& unit : of_box) {
                unit.called = called;
                choose_glyph(diagram, unit);
                units.push_back(std::move(unit));
            }
        }
    }
    return units;
}

std::vector<AxisId> common_axes(const Contents& contents, const std::vector<Unit>& units) {
    const Diagram& diagram = contents.diagram;
    const std::set<ArrayId> arrays = arrays_of(diagram, units);
    std::vector<AxisId> common;
    if (arrays.empty()) return common;
    const auto is_plain = [&](AxisId axis) {
        const auto carries = [&](ArrayId array) {
            const std::vector<AxisId>& axes = diagram[array].axes;
            return std::count(axes.begin(), axes.end(), axis) == 1;
        };
        return std::all_of(arrays.begin(), arrays.end(), carries) &&
               std::all_of(units.begin(), units.end(),
                           [&](const Unit& unit) { return read_plainly(diagram, unit, axis); });
    };
    for (std::uint32_t i = 0; i < diagram.axes.size(); ++i)
        if (diagram.axes[i].woven && is_plain(AxisId{i})) common.push_back(AxisId{i});
    const auto is_joined = [&](AxisId axis) {
        return std::any_of(contents.units.begin(), contents.units.end(),
                           [&](const Unit& unit) { return joins(unit, axis); });
    };
    while (const std::optional<AxisId> axis = next_outermost(diagram, arrays, common)) {
        if (!is_joined(*axis) || !is_plain(*axis)) break;
        common.push_back(*axis);
    }
    return common;
}

namespace {

std::vector<Column> columns_of(const Relabelling& relabelling, const std::vector<Unit>& units) {
    std::vector<Column> columns;
    auto unit = units.begin();
    for (std::size_t r = 0; r < relabelling.regions.size(); ++r) {
        const std::vector<Level> levels = levels_of(relabelling.regions[r]);
        for (Level level : levels) columns.push_back({ColumnKind::Load, r, level, {}});
        for (; unit != units.end() && unit->region == r; ++unit)
            columns.push_back({ColumnKind::Boxes, r, levels.back(), unit->statements});
        for (std::size_t k = levels.size(); k-- > 0;)
            columns.push_back({ColumnKind::Save, r, levels[k], {}});
    }
    return columns;
}

}  // namespace

std::vector<Column> columns_of(const Diagram& diagram, const Relabelling& relabelling) {
    const Shown shown = with_factors_apart(diagram, relabelling);
    return columns_of(relabelling, units_of(shown.diagram, shown.relabelling));
}

Contents contents_of(const Diagram& diagram, const Relabelling& relabelling) {
    Contents contents{diagram, relabelling, units_of(diagram, relabelling), {}, {}, {}};
    contents.columns = columns_of(relabelling, contents.units);
    for (const Region& region : relabelling.regions) {
        contents.loads.push_back(loads_of(diagram, region));
        contents.saves.push_back(saves_of(diagram, region));
    }
    return contents;
}

}  // namespace napkin::drawing
