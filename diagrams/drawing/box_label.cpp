#include "diagrams/drawing/box_label.h"

#include <algorithm>
#include <set>

#include "diagrams/contains.h"
#include "diagrams/drawing/formula_lines.h"
#include "diagrams/drawing/formula_signs.h"
#include "diagrams/drawing/schematic.h"
#include "diagrams/drawing/spelled.h"

namespace napkin::drawing {

namespace {

MathText operation_name(const std::string& name) {
    return columns_in(name) == 1 ? parse_math(name) : plain_text(name);
}

bool enters(const Unit& unit, ArrayId array) {
    return std::any_of(unit.inputs.begin(), unit.inputs.end(),
                       [&](const UnitInput& input) { return input.array == array; });
}

/// Whether each of these is an array as it stands, no two the same.
bool are_arrays(const Diagram& diagram, const std::vector<const Expression*>& parts) {
    std::set<ArrayId> seen;
    return std::all_of(parts.begin(), parts.end(), [&](const Expression* part) {
        return reads_as_declared(diagram, *part) &&
               seen.insert(std::get<Read>(part->node).array).second;
    });
}

std::vector<const Expression*> pointers(const std::vector<Expression>& expressions) {
    std::vector<const Expression*> all;
    for (const Expression& expression : expressions) all.push_back(&expression);
    return all;
}

/// A map that puts a sign between two arrays which may change places, or one function around an
/// array, is known by it: `exp`, `+`.
std::vector<MathText> sign_of_map(const Diagram& diagram, const Map& map) {
    const Apply* call = std::get_if<Apply>(&map.value.node);
    if (call == nullptr || call->function == Function::Negate || spelled(diagram, map.value))
        return {};
    const bool alike = call->arguments.size() == 1 || commutes(call->function);
    if (!alike || !are_arrays(diagram, pointers(call->arguments))) return {};
    return {plain_text(name_of(call->function))};
}

/// A mask is known by its condition, under what it hides unless that is an array as it stands.
std::vector<MathText> mask_of_map(const Diagram& diagram, const Unit& unit, const Map& map) {
    const Apply* call = std::get_if<Apply>(&map.value.node);
    if (call == nullptr || !is_mask(*call)) return {};
    std::vector<MathText> lines;
    if (!is_plain_read(call->arguments[1]))
        lines = expression_of(diagram, unit, call->arguments[1]);
    for (MathText& line : expression_of(diagram, unit, call->arguments[0]))
        lines.push_back(std::move(line));
    lines.push_back(plain_text("mask"));
    return lines;
}

/// The arrays that an operation known by its name takes, in order; none where it takes anything
/// else that varies, or what the box itself computes.
std::optional<std::vector<ArrayId>> taken(const Diagram& diagram, const Unit& unit,
                                          const std::vector<const Expression*>& arguments) {
    std::vector<ArrayId> arrays;
    for (const Expression* argument : arguments) {
        if (is_number(diagram, *argument)) continue;
        if (!reads_as_declared(diagram, *argument)) return std::nullopt;
        const ArrayId array = std::get<Read>(argument->node).array;
        if (contains(arrays, array) || !enters(unit, array)) return std::nullopt;
        arrays.push_back(array);
    }
    return arrays;
}

/// Whether the name of a box says all of what is no call with arguments: a fold, a selection.
bool is_whole(const Diagram& diagram, const Unit& unit) {
    const Statement& last = diagram[unit.statements.back()];
    const Select* select = std::get_if<Select>(&last.body);
    if (select != nullptr)
        return reads_as_declared(diagram, select->value) &&
               enters(unit, std::get<Read>(select->value.node).array);
    return std::holds_alternative<Fold>(last.body) && diagram[unit.box].of_arrays;
}

/// The numbers that an operation was given, which its name alone would hide: `eps=1e-5`.
std::vector<MathText> with_numbers(std::vector<MathText> label, const Box& box) {
    for (const NamedNumber& number : box.numbers)
        for (MathText& line : formula_lines(number.name + "=" + schematic_number(number.value)))
            label.push_back(std::move(line));
    return label;
}

/// A box with the name of the operation that it is, where it is all of that.
bool label_by_name(const Diagram& diagram, Unit& unit) {
    const Box& box = diagram[unit.box];
    const Statement& last = diagram[unit.statements.back()];
    if (const Opaque* opaque = std::get_if<Opaque>(&last.body)) {
        unit.label = {operation_name(opaque->name)};
        unit.arguments = inputs_of(last);
        unit.call = call_of(diagram, unit, opaque->name, unit.arguments);
        return true;
    }
    if (box.name.empty() || unit.statements.back() != box.statements.back()) return false;
    const Map* map = std::get_if<Map>(&last.body);
    const std::optional<Spelled> call =
        map != nullptr ? spelled_as(diagram, box.name, map->value) : std::nullopt;
    unit.label = with_numbers({operation_name(box.name)}, box);
    if (!call) return is_whole(diagram, unit);
    const std::optional<std::vector<ArrayId>> arrays = taken(diagram, unit, call->arguments);
    if (!arrays) return false;
    unit.arguments = *arrays;
    unit.call = call->arguments.size() == arrays->size() + box.numbers.size()
                    ? with_numbers(call_of(diagram, unit, box.name, *arrays), box)
                    : formula_of(diagram, unit);
    return true;
}

std::vector<MathText> short_label(const Diagram& diagram, const Unit& unit) {
    const Statement& last = diagram[unit.statements.back()];
    return {std::holds_alternative<Map>(last.body) ? parse_math(diagram[last.targets[0]].name)
                                                   : parse_math(sign_of(diagram, last))};
}

/// What the box calls each of its arrays, where it has several.
void mark_inputs(const Diagram& diagram, Unit& unit) {
    if (unit.inputs.size() < 2) return;
    for (UnitInput& input : unit.inputs) input.mark = name_in_formula(diagram, unit, input.array);
}

}  // namespace

void label_box(const Diagram& diagram, Unit& unit) {
    if (label_by_name(diagram, unit)) {
        if (unit.arguments.size() > 1) mark_inputs(diagram, unit);
        return;
    }
    const std::vector<MathText> name = unit.label;
    const Map* map = unit.statements.size() == 1
                         ? std::get_if<Map>(&diagram[unit.statements.back()].body)
                         : nullptr;
    unit.label = map != nullptr ? sign_of_map(diagram, *map) : std::vector<MathText>{};
    if (!unit.label.empty()) return;
    if (map != nullptr) unit.label = mask_of_map(diagram, unit, *map);
    if (unit.label.empty()) unit.label = formula_of(diagram, unit);
    if (unit.label.empty()) unit.label = name.empty() ? short_label(diagram, unit) : name;
    mark_inputs(diagram, unit);
}

void say_order(Unit& unit) {
    if (unit.arguments.size() < 2 || unit.call.empty()) return;
    std::vector<ArrayId> order;
    for (const UnitInput& input : unit.inputs) order.push_back(input.array);
    if (order != unit.arguments) {
        unit.label = unit.call;
        return;
    }
    for (UnitInput& input : unit.inputs) input.mark = {};
}

}  // namespace napkin::drawing
