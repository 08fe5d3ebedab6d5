#include "diagrams/drawing/schematic.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "diagrams/binding.h"
#include "diagrams/contains.h"
#include "diagrams/drawing/formula_lines.h"
#include "diagrams/drawing/spelled.h"
#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

std::string joined(const Diagram& diagram, const std::vector<AxisId>& axes) {
    std::string names;
    for (AxisId axis : axes) names += (names.empty() ? "" : ",") + diagram[axis].name;
    return names;
}

std::string upright(const std::string& text) {
    return '"' + text + '"';
}

std::string comma_separated(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : "," + upright(" ")) + part;
    return text;
}

/// The value of a selection that takes another where the condition does not hold.
const Number* other_value(const Apply& call) {
    return call.function == Function::Select && call.arguments.size() == 3
               ? std::get_if<Number>(&call.arguments[2].node)
               : nullptr;
}

/// Whether a selection puts zeros where a condition on indices alone does not hold.
bool hides_by_index(const Apply& call) {
    const Number* other = other_value(call);
    if (other == nullptr || other->value != 0) return false;
    bool reads = false;
    walk(call.arguments[0],
         [&](const Expression& node) { reads = reads || std::holds_alternative<Read>(node.node); });
    return !reads;
}

std::string schematic_number(double value) {
    if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
    char buffer[32];
    std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
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

/// The least of arg max of a value that is negated.
const Apply* negated(const Expression& value) {
    const Apply* call = std::get_if<Apply>(&value.node);
    return call != nullptr && call->function == Function::Negate ? call : nullptr;
}

class Schematic {
public:
    /// `named`: what has a name and stays in the unit is written by it.
    Schematic(const Diagram& diagram, const Unit& unit, bool indices, bool named)
        : diagram_(diagram), indices_(indices) {
        for (StatementId id : unit.statements) {
            for (ArrayId target : diagram[id].targets)
                if (!diagram[target].named || (!named && !contains(unit.outputs, target)))
                    inner_.emplace_back(target, id);
            for (const Expression* expression : expressions_of(diagram[id])) note(*expression);
        }
    }

    [[nodiscard]] std::string write(const Expression& expression,
                                    Binding place = Binding::If) const {
        if (const std::optional<Spelled> call = spelled(diagram_, expression))
            return write_spelled(*call);
        return std::visit(
            overloaded{
                [&](const Number& literal) {
                    return enclose(schematic_number(literal.value),
                                   std::signbit(literal.value) ? Binding::Negate : Binding::Atom,
                                   place);
                },
                [&](const AxisIndex& index) { return diagram_[index.axis].name; },
                [&](const SizeOf& size) { return write_size(size.axis); },
                [&](const Read& element) { return write_read(element, place); },
                [&](const Apply& call) { return write_call(call, place); },
                [&](const Convert& convert) { return write(convert.argument[0], place); },
                [](const Operand& operand) { return "#" + std::to_string(operand.slot); },
            },
            expression.node);
    }
    /// Empty for what is no expression of one value.
    [[nodiscard]] std::string write(const Statement& statement, Binding place = Binding::If) const {
        if (const Map* map = std::get_if<Map>(&statement.body)) return write(map->value, place);
        if (const Select* select = std::get_if<Select>(&statement.body)) {
            if (select->rank) return "";
            const Apply* least = negated(select->value);
            return write_fold(statement, least == nullptr ? select->value : least->arguments[0],
                              Binding::Power, place);
        }
        const Fold* fold = std::get_if<Fold>(&statement.body);
        if (fold == nullptr || fold->values.size() != 1 || fold->every_prefix ||
            !fold->seed.empty())
            return "";
        return write_fold(statement, fold->values[0],
                          fold->monoid == kSum ? Binding::Product : Binding::Power, place);
    }

private:
    /// Notes indices that stand in the text, those within the indices of plain reads not, and reads
    /// of one array at different places.
    void note(const Expression& expression) {
        walk(expression, [&](const Expression& part) {
            if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
                ++indexed_[index->axis];
            if (!is_plain_read(part)) return;
            const Read& element = std::get<Read>(part.node);
            for (const Expression& index : element.index)
                --indexed_[std::get<AxisIndex>(index.node).axis];
            const auto [known, is_new] = reads_.try_emplace(element.array, &element);
            if (!is_new && known->second->index != element.index) apart_.insert(element.array);
        });
    }
    [[nodiscard]] std::string write_size(AxisId axis) const {
        const std::string& name = diagram_[axis].name;
        const auto indexed = indexed_.find(axis);
        return indexed != indexed_.end() && indexed->second > 0 ? "|" + name + "|" : name;
    }
    static std::string enclose(const std::string& text, Binding own, Binding place) {
        return own < place ? "(" + text + ")" : text;
    }
    /// A fold takes in what follows: a conditional goes to the end.
    [[nodiscard]] std::string write_fold(const Statement& statement, const Expression& value,
                                         Binding asked, Binding place) const {
        const Apply* call = std::get_if<Apply>(&value.node);
        const bool conditional = call != nullptr && call->function == Function::Select &&
                                 !is_mask(*call) && !hides_by_index(*call);
        const std::string text = write(value, conditional ? Binding::If : asked);
        return enclose(sign_of(diagram_, statement) + (text[0] == '(' ? "" : upright(" ")) + text,
                       conditional ? Binding::If : Binding::Sum, place);
    }
    [[nodiscard]] std::string write_read(const Read& element, Binding place) const {
        for (const auto& [array, id] : inner_)
            if (array == element.array)
                if (const std::string text = write(diagram_[id], place); !text.empty()) return text;
        const std::string& name = diagram_[element.array].name;
        if (is_plain_read({element, {}}) && !apart_.contains(element.array)) return name;
        if (!indices_) return name + "[…]";
        std::vector<std::string> parts;
        for (const Expression& index : element.index) {
            const AxisIndex* plain = std::get_if<AxisIndex>(&index.node);
            if (plain == nullptr || !diagram_[plain->axis].woven) parts.push_back(write(index));
        }
        return name + "[" + comma_separated(parts) + "]";
    }
    [[nodiscard]] std::string write_arguments(
        const std::string& name, const std::vector<const Expression*>& arguments) const {
        std::vector<std::string> parts;
        for (const Expression* argument : arguments) parts.push_back(write(*argument));
        return upright(name) + "(" + comma_separated(parts) + ")";
    }
    [[nodiscard]] std::string write_spelled(const Spelled& call) const {
        return call.arguments.empty() ? upright(call.name)
                                      : write_arguments(call.name, call.arguments);
    }
    [[nodiscard]] std::string write_conditional(const Apply& call, Binding place) const {
        if (is_mask(call) || hides_by_index(call))
            return upright("mask") + "(" + write(call.arguments[1]) + ")";
        return enclose(upright("if ") + write(call.arguments[0], Binding::Or) + upright(" then ") +
                           write(call.arguments[1], Binding::Or) + upright(" else ") +
                           write(call.arguments[2]),
                       Binding::If, place);
    }
    /// A sum in a sum and a product in a product need no parentheses.
    static bool goes_on(Function outer, const Expression& right) {
        const Apply* call = std::get_if<Apply>(&right.node);
        if (call == nullptr) return false;
        const Function inner = call->function;
        switch (outer) {
        case Function::Add: return inner == Function::Add || inner == Function::Subtract;
        case Function::Multiply: return inner == Function::Multiply || inner == Function::Divide;
        case Function::And:
        case Function::Or: return inner == outer;
        default: return false;
        }
    }
    [[nodiscard]] std::string write_call(const Apply& call, Binding place) const {
        const std::vector<Expression>& arguments = call.arguments;
        const Operator infix = operator_of(call.function);
        switch (call.function) {
        case Function::Select: return write_conditional(call, place);
        case Function::Guard: return write(arguments[0], place);
        case Function::Negate:
            return enclose("-" + write(arguments[0], Binding::Product), Binding::Negate, place);
        case Function::Not:
            return enclose(upright("not ") + write(arguments[0], Binding::Not), Binding::Not,
                           place);
        case Function::Power:
            return enclose(write(arguments[0], infix.left) + "^{" + write(arguments[1]) + "}",
                           infix.own, place);
        default: break;
        }
        if (infix.own == Binding::Atom || arguments.size() != 2) {
            std::vector<const Expression*> all;
            for (const Expression& argument : arguments) all.push_back(&argument);
            return write_arguments(name_of(call.function), all);
        }
        const bool same = goes_on(call.function, arguments[1]);
        const std::string right = write(arguments[1], same ? infix.own : infix.right);
        return enclose(write(arguments[0], infix.left) + sign_between(call.function) +
                           (right[0] == '-' ? "(" + right + ")" : right),
                       infix.own, place);
    }

    const Diagram& diagram_;
    bool indices_;
    std::vector<std::pair<ArrayId, StatementId>> inner_;
    std::map<AxisId, int> indexed_;  ///< how often an axis' index stands in the text
    std::map<ArrayId, const Read*> reads_;
    std::set<ArrayId> apart_;  ///< arrays that are read at different indices
};

/// Where there is room for it, with what no wire bears written out, and with the indices of what is
/// read at computed places.
template <class Part>
std::vector<MathText> in_lines(const Diagram& diagram, const Unit& unit, const Part& part) {
    std::vector<MathText> lines;
    for (const bool named : {false, true})
        for (const bool indices : {true, false})
            if (lines.empty())
                lines = formula_lines(Schematic(diagram, unit, indices, named).write(part));
    return lines;
}

}  // namespace

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

std::vector<MathText> formula_of(const Diagram& diagram, const Unit& unit) {
    std::vector<MathText> lines;
    for (const StatementId id : unit.statements) {
        const std::vector<ArrayId>& targets = diagram[id].targets;
        const bool leaves = std::any_of(targets.begin(), targets.end(), [&](ArrayId target) {
            return contains(unit.outputs, target);
        });
        if (!leaves && id != unit.statements.back()) continue;
        std::vector<MathText> more = in_lines(diagram, unit, diagram[id]);
        if (more.empty()) return {};
        for (MathText& line : more) lines.push_back(std::move(line));
    }
    return lines.size() <= kMostLines ? lines : std::vector<MathText>{};
}

std::vector<MathText> expression_of(const Diagram& diagram, const Unit& unit,
                                    const Expression& part) {
    return in_lines(diagram, unit, part);
}

}  // namespace napkin::drawing
