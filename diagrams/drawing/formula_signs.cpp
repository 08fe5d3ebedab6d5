#include "diagrams/drawing/formula_signs.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace napkin::drawing {

namespace {

std::string joined(const Diagram& diagram, const std::vector<AxisId>& axes) {
    std::string names;
    for (AxisId axis : axes) names += (names.empty() ? "" : ",") + diagram[axis].name;
    return names;
}

/// The value of a selection that takes another where the condition does not hold.
const Number* other_value(const Apply& call) {
    return call.function == Function::Select && call.arguments.size() == 3
               ? std::get_if<Number>(&call.arguments[2].node)
               : nullptr;
}

/// Whether a condition is made of comparisons of some of these.
bool bounds_each(const Expression& condition, const std::vector<Expression>& those) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call == nullptr) return false;
    const std::vector<Expression>& parts = call->arguments;
    switch (call->function) {
    case Function::And:
        return std::all_of(parts.begin(), parts.end(),
                           [&](const Expression& part) { return bounds_each(part, those); });
    case Function::Less:
    case Function::LessEqual:
    case Function::Greater:
    case Function::GreaterEqual:
        return std::any_of(parts.begin(), parts.end(), [&](const Expression& part) {
            return std::find(those.begin(), those.end(), part) != those.end();
        });
    default: return false;
    }
}

}  // namespace

std::string upright(const std::string& text) {
    return '"' + text + '"';
}

std::string schematic_number(double value) {
    if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
    char buffer[32];
    const float rounded = static_cast<float>(value);
    const bool is_float = std::isfinite(rounded) && rounded == value;
    char* const end = is_float ? std::to_chars(buffer, buffer + sizeof buffer, rounded).ptr
                               : std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    std::string text(buffer, end);
    const std::size_t zero = text.find("e-0");
    if (zero != std::string::npos) text.erase(zero + 2, 1);
    return text.find('e') == std::string::npos ? text : upright(text);
}

std::string sign_between(Function function) {
    switch (function) {
    case Function::LessEqual: return "≤";
    case Function::GreaterEqual: return "≥";
    case Function::Equal: return "=";
    case Function::NotEqual: return "≠";
    case Function::And: return upright(" and ");
    case Function::Or: return upright(" or ");
    default: return name_of(function);
    }
}

bool commutes(Function function) {
    switch (function) {
    case Function::Add:
    case Function::Multiply:
    case Function::Min:
    case Function::Max:
    case Function::BitAnd:
    case Function::BitOr:
    case Function::BitXor:
    case Function::Equal:
    case Function::NotEqual:
    case Function::And:
    case Function::Or: return true;
    default: return false;
    }
}

bool hides(const Apply& call) {
    const Number* other = other_value(call);
    return other != nullptr && (other->value == 0 || std::isinf(other->value));
}

bool pads(const Apply& call) {
    const Number* other = other_value(call);
    if (other == nullptr || other->value != 0) return false;
    std::vector<Expression> computed;
    walk(call.arguments[1], [&](const Expression& node) {
        if (const Read* element = std::get_if<Read>(&node.node))
            for (const Expression& index : element->index)
                if (std::holds_alternative<Apply>(index.node)) computed.push_back(index);
    });
    return bounds_each(call.arguments[0], computed);
}

const Apply* negated(const Expression& value) {
    const Apply* call = std::get_if<Apply>(&value.node);
    return call != nullptr && call->function == Function::Negate ? call : nullptr;
}

bool is_mask(const Apply& call) {
    const Number* other = other_value(call);
    return other != nullptr && std::isinf(other->value);
}

std::string sign_of(const Diagram& diagram, const Statement& statement) {
    if (const Select* select = std::get_if<Select>(&statement.body)) {
        const std::string extreme = negated(select->value) == nullptr ? "argmax" : "argmin";
        return upright(select->rank ? "top-k" : extreme) + "_{" + diagram[select->over].name + "}";
    }
    const Fold& fold = std::get<Fold>(statement.body);
    const std::string& name = diagram[fold.monoid].name;
    const std::string sign = fold.monoid == kSum       ? "Σ"
                             : fold.monoid == kProduct ? "∏"
                                                       : upright(name);
    return (fold.every_prefix ? upright("scan ") : "") + sign + "_{" + joined(diagram, fold.over) +
           "}";
}

bool is_plain_read(const Expression& expression) {
    const Read* element = std::get_if<Read>(&expression.node);
    return element != nullptr &&
           std::all_of(element->index.begin(), element->index.end(), [](const Expression& index) {
               return std::holds_alternative<AxisIndex>(index.node);
           });
}

}  // namespace napkin::drawing
