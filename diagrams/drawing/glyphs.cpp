#include "diagrams/drawing/glyphs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

constexpr std::size_t kLongestFormula = 15;

/// Collects the factors of a product; false where something is no product of plain reads and
/// constants.
bool collect_factors(const Diagram& diagram, const Expression& value, Contraction& found,
                     bool& scaled) {
    if (const Apply* call = std::get_if<Apply>(&value.node);
        call != nullptr && call->function == Function::Multiply) {
        return std::all_of(call->arguments.begin(), call->arguments.end(),
                           [&](const Expression& factor) {
                               return collect_factors(diagram, factor, found, scaled);
                           });
    }
    const Read* element = std::get_if<Read>(&value.node);
    if (element != nullptr && diagram[element->array].role != ArrayRole::Parameter) {
        UnitInput input{element->array, {}};
        std::set<AxisId> seen;
        for (const Expression& index : element->index) {
            const AxisIndex* plain = std::get_if<AxisIndex>(&index.node);
            if (plain == nullptr || !seen.insert(plain->axis).second) return false;
            input.index.emplace_back(plain->axis);
        }
        found.inputs.push_back(std::move(input));
        return true;
    }
    bool constant = true;
    walk(value, [&](const Expression& node) {
        if (std::holds_alternative<AxisIndex>(node.node)) constant = false;
        if (const Read* inner = std::get_if<Read>(&node.node))
            constant = constant && diagram[inner->array].role == ArrayRole::Parameter;
    });
    scaled = scaled || constant;
    return constant;
}

/// Whether each axis of a target comes from some factor, so that every wire has a source.
bool covers(const Diagram& diagram, const Contraction& found, ArrayId target) {
    return std::all_of(diagram[target].axes.begin(), diagram[target].axes.end(), [&](AxisId axis) {
        return std::any_of(found.inputs.begin(), found.inputs.end(), [&](const UnitInput& input) {
            return std::find(input.index.begin(), input.index.end(), std::optional(axis)) !=
                   input.index.end();
        });
    });
}

std::string joined(const Diagram& diagram, const std::vector<AxisId>& axes) {
    std::string names;
    for (AxisId axis : axes) names += (names.empty() ? "" : ",") + diagram[axis].name;
    return names;
}

std::string sign_of(const Diagram& diagram, MonoidId monoid) {
    if (monoid == kSum) return "Σ";
    if (monoid == kProduct) return "∏";
    return diagram[monoid].name;
}

std::string schematic(const Diagram& diagram, const Expression& expression);

/// How tightly an expression binds: 3 names and calls, 2 products, 1 sums, 0 the rest.
int binding_of(const Expression& expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return 3;
    switch (call->function) {
    case Function::Add:
    case Function::Subtract:
    case Function::Negate: return 1;
    case Function::Multiply:
    case Function::Divide: return 2;
    default: break;
    }
    const char first = name_of(call->function)[0];
    return first >= 'a' && first <= 'z' ? 3 : 0;
}

std::string schematic_call(const Diagram& diagram, const Apply& call) {
    const int own = binding_of({call, {}});
    const std::string name = name_of(call.function);
    if (call.function == Function::Select) return "mask";
    if (call.function == Function::Guard) return schematic(diagram, call.arguments[0]);
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const bool right = i > 0 && (call.function == Function::Subtract ||
                                     call.function == Function::Divide || own == 0);
        const int inner = binding_of(call.arguments[i]);
        const bool wrap = own < 3 && (inner < own || (right && inner == own));
        const std::string text = schematic(diagram, call.arguments[i]);
        parts.push_back(wrap ? "(" + text + ")" : text);
    }
    if (call.function == Function::Negate) return "-" + parts[0];
    if (own < 3 && parts.size() == 2) return parts[0] + name + parts[1];
    std::string text = name + "(";
    for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : ",") + parts[i];
    return text + ")";
}

std::string schematic_number(double value) {
    if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
    std::string text = std::to_string(value);
    while (text.find('.') != std::string::npos && (text.back() == '0' || text.back() == '.')) {
        const bool point = text.back() == '.';
        text.pop_back();
        if (point) break;
    }
    return text;
}

/// The expression with arrays by name alone: `max(H,0)`.
std::string schematic(const Diagram& diagram, const Expression& expression) {
    return std::visit(
        overloaded{
            [](const Number& literal) { return schematic_number(literal.value); },
            [&](const AxisIndex& index) { return diagram[index.axis].name; },
            [&](const SizeOf& size) { return diagram[size.axis].name; },
            [&](const Read& element) { return diagram[element.array].name; },
            [&](const Apply& call) { return schematic_call(diagram, call); },
            [&](const Convert& convert) { return schematic(diagram, convert.argument[0]); },
            [](const Operand& operand) { return "#" + std::to_string(operand.slot); },
        },
        expression.node);
}

/// A map that calls one function on arrays is known by that function's name: `exp`, `+`.
MathText map_label(const Diagram& diagram, const Map& map, ArrayId target) {
    if (const Apply* call = std::get_if<Apply>(&map.value.node)) {
        const bool plain =
            std::all_of(call->arguments.begin(), call->arguments.end(),
                        [](const Expression& e) { return std::holds_alternative<Read>(e.node); });
        if (call->function == Function::Select) return plain_text("mask");
        if (plain) return plain_text(name_of(call->function));
    }
    const std::string text = schematic(diagram, map.value);
    return parse_math(columns_in(text) <= kLongestFormula ? text : diagram[target].name);
}

MathText named(const std::string& name) {
    return columns_in(name) == 1 ? parse_math(name) : plain_text(name);
}

}  // namespace

std::optional<Contraction> as_contraction(const Diagram& diagram, const Statement& statement) {
    Contraction found;
    bool scaled = false;
    if (const Fold* fold = std::get_if<Fold>(&statement.body)) {
        if (fold->monoid != kSum || fold->every_prefix || !fold->seed.empty() ||
            fold->values.size() != 1 || !collect_factors(diagram, fold->values[0], found, scaled))
            return std::nullopt;
        found.folded = fold->over;
    } else if (const Map* map = std::get_if<Map>(&statement.body)) {
        if (!collect_factors(diagram, map->value, found, scaled) || scaled) return std::nullopt;
    } else {
        return std::nullopt;
    }
    if (found.inputs.empty() || !covers(diagram, found, statement.targets[0])) return std::nullopt;
    return found;
}

MathText box_label(const Diagram& diagram, const Unit& unit) {
    const Box& box = diagram[unit.box];
    const Statement& last = diagram[unit.statements.back()];
    if (!box.name.empty()) return named(box.name);
    const std::string target = diagram[last.targets.front()].name;
    if (unit.statements.size() > 1) return parse_math(target);
    return std::visit(overloaded{
                          [&](const Map& map) { return map_label(diagram, map, last.targets[0]); },
                          [&](const Fold& fold) {
                              const MathText sign =
                                  fold.every_prefix
                                      ? plain_text("scan " + sign_of(diagram, fold.monoid))
                                      : plain_text(sign_of(diagram, fold.monoid));
                              return sign + parse_math("_{" + joined(diagram, fold.over) + "}");
                          },
                          [&](const Select& select) {
                              return plain_text(select.rank ? "top-k" : "argmax") +
                                     parse_math("_" + diagram[select.over].name);
                          },
                          [](const Opaque& opaque) { return named(opaque.name); },
                      },
                      last.body);
}

std::vector<Level> levels_of(const Region& region) {
    std::set<Level> levels;
    for (const Group& group : region.groups) levels.insert(group.level);
    for (const Stream& stream : region.streams) levels.insert(stream.level);
    if (levels.empty()) levels.insert(Level::Block);
    return {levels.begin(), levels.end()};
}

}  // namespace napkin::drawing
