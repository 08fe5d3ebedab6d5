#include "diagrams/drawing/schematic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "diagrams/binding.h"
#include "diagrams/contains.h"
#include "diagrams/drawing/formula_lines.h"
#include "diagrams/drawing/formula_signs.h"
#include "diagrams/drawing/spelled.h"
#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

std::string comma_separated(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : "," + upright(" ")) + part;
    return text;
}

std::vector<const Expression*> pointers_to(const std::vector<Expression>& expressions) {
    std::vector<const Expression*> all;
    for (const Expression& expression : expressions) all.push_back(&expression);
    return all;
}

/// What multiplies as a root that divides.
const Apply* root_divisor(const Expression& factor) {
    const Apply* call = std::get_if<Apply>(&factor.node);
    return call != nullptr && call->function == Function::Rsqrt ? call : nullptr;
}

/// What a formula says.
struct FormulaDetail {
    bool indices = false;     ///< at which computed places an array is read
    bool named = true;        ///< what has a name and stays in the unit by that alone
    bool conditions = false;  ///< under which conditions something is not hidden
};

constexpr int kDeepest = 6;  // calls in one another that may stand where not all do

class Schematic {
public:
    /// `room`: how many calls may stand in one another, those of the library without their
    /// arguments; any number with them where it is not given.
    Schematic(const Diagram& diagram, const Unit& unit, FormulaDetail detail,
              std::optional<int> room = std::nullopt)
        : diagram_(diagram), unit_(unit), detail_(detail), room_(room) {
        for (StatementId id : unit.statements) {
            for (ArrayId target : diagram[id].targets)
                if (!diagram[target].named || (!detail.named && !contains(unit.outputs, target)))
                    inner_.emplace_back(target, id);
            for (const Expression* expression : expressions_of(diagram[id])) note(*expression);
        }
    }

    [[nodiscard]] std::string write(const Expression& expression,
                                    Binding place = Binding::If) const {
        const bool is_call = std::holds_alternative<Apply>(expression.node);
        const int taken = is_call && room_ ? 1 : 0;
        if (taken > 0 && *room_ == 0) return "…";
        if (room_) *room_ -= taken;
        const std::optional<Spelled> call = spelled(diagram_, expression);
        const std::string text = call ? write_spelled(*call) : write_node(expression, place);
        if (room_) *room_ += taken;
        return text;
    }
    /// Empty for what is no expression.
    [[nodiscard]] std::string write(const Statement& statement, Binding place = Binding::If) const {
        if (const Map* map = std::get_if<Map>(&statement.body)) return write(map->value, place);
        if (const Select* select = std::get_if<Select>(&statement.body)) {
            const Apply* least = negated(select->value);
            return write_fold(statement, least == nullptr ? select->value : least->arguments[0],
                              Binding::Power, place);
        }
        const Fold* fold = std::get_if<Fold>(&statement.body);
        if (fold == nullptr || !fold->seed.empty()) return "";
        if (fold->values.size() > 1)
            return write_arguments(sign_of(diagram_, statement), pointers_to(fold->values));
        return write_fold(statement, fold->values[0],
                          fold->monoid == kSum ? Binding::Product : Binding::Power, place);
    }
    [[nodiscard]] std::string name_of_array(ArrayId array) const {
        const auto called = unit_.called.find(array);
        if (called != unit_.called.end()) return called->second;
        // A subscript has no further one: such a name stands as it is.
        const std::string& name = diagram_[array].name;
        return std::count(name.begin(), name.end(), '_') > 1 ? upright(name) : name;
    }
    /// `/√d`, `·2`.
    [[nodiscard]] std::string write(const Scale& scale) const {
        if (scale.function == Function::Divide) return "/" + write(scale.number, Binding::Negate);
        if (const Apply* root = root_divisor(scale.number))
            return "/√" + write(root->arguments[0], Binding::Atom);
        return "*" + write(scale.number, Binding::Power);
    }

private:
    [[nodiscard]] std::string write_node(const Expression& expression, Binding place) const {
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
            const bool elsewhere = !is_new && known->second->index != element.index;
            if (elsewhere || is_crossed(element)) apart_.insert(element.array);
        });
    }
    /// Whether an array's axes have changed places.
    [[nodiscard]] bool is_crossed(const Read& element) const {
        const std::vector<AxisId>& axes = diagram_[element.array].axes;
        for (std::size_t i = 0; i < axes.size(); ++i)
            if (const AxisId read = std::get<AxisIndex>(element.index[i].node).axis;
                read != axes[i] && contains(axes, read))
                return true;
        return false;
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
        const bool conditional =
            call != nullptr && call->function == Function::Select && !is_shortened(*call);
        const std::string text = write(value, conditional ? Binding::If : asked);
        return enclose(sign_of(diagram_, statement) + (text[0] == '(' ? "" : upright(" ")) + text,
                       conditional ? Binding::If : Binding::Sum, place);
    }
    [[nodiscard]] std::string write_read(const Read& element, Binding place) const {
        for (const auto& [array, id] : inner_)
            if (array == element.array)
                if (const std::string text = write(diagram_[id], place); !text.empty()) return text;
        const std::string name = name_of_array(element.array);
        if (is_plain_read({element, {}}) && !apart_.contains(element.array)) return name;
        if (!detail_.indices) return name + "[…]";
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
        return name + "(" + comma_separated(parts) + ")";
    }
    [[nodiscard]] std::string write_spelled(const Spelled& call) const {
        const std::string name = upright(call.name);
        if (call.arguments.empty()) return name;
        return room_ ? name + "(…)" : write_arguments(name, call.arguments);
    }
    /// Whether a selection is `mask` of what it hides: the condition follows from what is read, or
    /// has no room.
    [[nodiscard]] bool is_shortened(const Apply& call) const {
        return pads(call) || (!detail_.conditions && hides(call));
    }
    [[nodiscard]] std::string write_conditional(const Apply& call, Binding place) const {
        if (is_shortened(call)) return upright("mask") + "(" + write(call.arguments[1]) + ")";
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
        if (infix.own == Binding::Atom || arguments.size() != 2)
            return write_arguments(upright(name_of(call.function)), pointers_to(arguments));
        if (const Apply* root = root_divisor(arguments[1]);
            root != nullptr && call.function == Function::Multiply)
            return enclose(
                write(arguments[0], infix.left) + "/√" + write(root->arguments[0], Binding::Atom),
                infix.own, place);
        const bool same = goes_on(call.function, arguments[1]);
        const std::string right = write(arguments[1], same ? infix.own : infix.right);
        return enclose(write(arguments[0], infix.left) + sign_between(call.function) +
                           (right[0] == '-' ? "(" + right + ")" : right),
                       infix.own, place);
    }

    const Diagram& diagram_;
    const Unit& unit_;
    FormulaDetail detail_;
    mutable std::optional<int> room_;
    std::vector<std::pair<ArrayId, StatementId>> inner_;
    std::map<AxisId, int> indexed_;  ///< how often an axis' index stands in the text
    std::map<ArrayId, const Read*> reads_;
    std::set<ArrayId> apart_;  ///< arrays that are read at different indices
};

/// Where there is room for it, with what no wire bears written out, and with the indices of what is
/// read at computed places; else as much of it as there is room for.
template <class Part>
std::vector<MathText> in_lines(const Diagram& diagram, const Unit& unit, const Part& part) {
    std::vector<MathText> lines;
    for (const bool conditions : {true, false})
        for (const bool named : {false, true})
            for (const bool indices : {true, false})
                if (lines.empty())
                    lines = formula_lines(
                        Schematic(diagram, unit, {indices, named, conditions}).write(part));
    for (int room = kDeepest; lines.empty() && room > 0; --room)
        lines = formula_lines(Schematic(diagram, unit, {}, room).write(part));
    return lines;
}

}  // namespace

bool reads_as_declared(const Diagram& diagram, const Expression& expression) {
    if (!is_plain_read(expression)) return false;
    const Read& element = std::get<Read>(expression.node);
    const std::vector<AxisId>& axes = diagram[element.array].axes;
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (std::get<AxisIndex>(element.index[i].node).axis != axes[i]) return false;
    return diagram[element.array].role != ArrayRole::Parameter;
}

bool is_number(const Diagram& diagram, const Expression& expression) {
    return !any_part(expression, [&](const Expression& part) {
        const Read* element = std::get_if<Read>(&part.node);
        return std::holds_alternative<AxisIndex>(part.node) ||
               (element != nullptr && diagram[element->array].role != ArrayRole::Parameter);
    });
}

MathText name_in_formula(const Diagram& diagram, const Unit& unit, ArrayId array) {
    return parse_math(Schematic(diagram, unit, FormulaDetail{}).name_of_array(array));
}

std::vector<MathText> call_of(const Diagram& diagram, const Unit& unit, const std::string& name,
                              const std::vector<ArrayId>& arguments) {
    const Schematic schematic(diagram, unit, FormulaDetail{});
    std::vector<std::string> names;
    for (ArrayId array : arguments) names.push_back(schematic.name_of_array(array));
    return formula_lines(upright(name) + "(" + comma_separated(names) + ")");
}

std::optional<MathText> factor_of(const Diagram& diagram, const Unit& unit,
                                  const std::vector<Scale>& scales) {
    const Schematic schematic(diagram, unit, FormulaDetail{});
    std::string text;
    for (const Scale& scale : scales) text += schematic.write(scale);
    if (text.empty()) return MathText{};
    const std::vector<MathText> lines = formula_lines(text);
    // A root of one long name has no place to break at, and is no less a factor.
    if (lines.empty()) return parse_math(text);
    return lines.size() == 1 ? std::optional(lines.front()) : std::nullopt;
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
