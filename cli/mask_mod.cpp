// A mask as FlexAttention's `mask_mod`.
#include <cmath>

#include "cli/mask_export.h"
#include "diagrams/contains.h"
#include "diagrams/literal.h"
#include "diagrams/overloaded.h"

namespace napkin::cli {

namespace {

class PythonWriter {
public:
    explicit PythonWriter(const Diagram& diagram) : diagram_(diagram) {}

    [[nodiscard]] std::string text(const Expression& expression) const {
        return std::visit(
            overloaded{
                [](const Number& number) {
                    return number.is_integer
                               ? std::to_string(static_cast<std::int64_t>(number.value))
                               : std::to_string(number.value);
                },
                [&](const AxisIndex& index) { return diagram_[index.axis].name; },
                [&](const SizeOf& item) { return std::to_string(diagram_[item.axis].extent); },
                [&](const Read& element) { return read(element); },
                [&](const Apply& call) { return call_text(call); },
                [&](const Convert& convert) { return text(convert.argument.front()); },
                [](const Operand&) { return std::string(); },
            },
            expression.node);
    }

private:
    [[nodiscard]] std::string read(const Read& element) const {
        std::string index;
        for (const Expression& each : element.index)
            index += (index.empty() ? "" : ", ") + text(each);
        return diagram_[element.array].name + (index.empty() ? "" : "[" + index + "]");
    }
    [[nodiscard]] std::string call_text(const Apply& call) const {
        const std::string first = text(call.arguments[0]);
        switch (call.function) {
        case Function::Negate: return "(-" + first + ")";
        case Function::Not: return "torch.logical_not(" + first + ")";
        case Function::Abs: return "abs(" + first + ")";
        default: break;
        }
        if (call.arguments.size() < 2) return name_of(call.function) + ("(" + first + ")");
        const std::string second = text(call.arguments[1]);
        const auto choose = [](const std::string& condition, const std::string& yes,
                               const std::string& no) {
            return "torch.where(" + condition + ", " + yes + ", " + no + ")";
        };
        switch (call.function) {
        case Function::And: return "(" + first + " & " + second + ")";
        case Function::Or: return "(" + first + " | " + second + ")";
        case Function::Select: return choose(first, second, text(call.arguments[2]));
        case Function::Min: return smaller(call, "<=", first, second);
        case Function::Max: return smaller(call, ">=", first, second);
        default: return "(" + first + " " + name_of(call.function) + " " + second + ")";
        }
    }
    /// The library's `min` and `max` take no mixture of numbers and tensors, nor Python's tensors.
    [[nodiscard]] std::string smaller(const Apply& call, const char* sign, const std::string& a,
                                      const std::string& b) const {
        const bool numbers = std::all_of(
            call.arguments.begin(), call.arguments.end(), [](const Expression& argument) {
                return axes_used(argument).empty() && arrays_read(argument).empty();
            });
        if (numbers)
            return std::string(call.function == Function::Min ? "min" : "max") + "(" + a + ", " +
                   b + ")";
        return "torch.where(" + a + " " + sign + " " + b + ", " + a + ", " + b + ")";
    }

    const Diagram& diagram_;
};

/// `i = q_idx // 56` and the like: parts of a flat index.
std::string parts_of(const Diagram& diagram, const std::vector<AxisId>& axes,
                     const std::string& index) {
    std::string text;
    std::int64_t inner = 1;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        std::string value = index;
        if (inner > 1) value += " // " + std::to_string(inner);
        if (std::next(axis) != axes.rend()) value += " % " + std::to_string(diagram[*axis].extent);
        text = "    " + diagram[*axis].name + " = " + value + "\n" + text;
        inner *= diagram[*axis].extent;
    }
    return text;
}

}  // namespace

std::string mask_mod_text(const State& state, const MaskReport& report) {
    const Diagram& diagram = state.diagram;
    const PythonWriter writer(diagram);
    std::string text =
        "# The mask of " + report.statement + ", for FlexAttention.\nimport torch\n\n\n";
    text += "def mask_mod(batch, head, q_idx, kv_idx):\n";
    text += parts_of(diagram, report.queries, "q_idx") + parts_of(diagram, report.keys, "kv_idx");
    std::vector<AxisId> woven;
    std::vector<Expression> conditions = report.conditions;
    conditions.insert(conditions.end(), report.data.begin(), report.data.end());
    for (const Expression& condition : conditions)
        for (const AxisId axis : axes_used(condition))
            if (diagram[axis].woven && !contains(woven, axis)) woven.push_back(axis);
    std::string first_woven;
    for (const Axis& axis : diagram.axes)
        if (axis.woven && first_woven.empty()) first_woven = axis.name;
    std::size_t all_woven = 0;
    for (const Axis& axis : diagram.axes) all_woven += axis.woven ? 1 : 0;
    std::vector<AxisId> heads;
    for (const AxisId axis : woven) {
        if (all_woven > 1 && diagram[axis].name == first_woven)
            text += "    " + first_woven + " = batch\n";
        else
            heads.push_back(axis);
    }
    std::vector<AxisId> head_axes;  // all woven ones but the batch, as heads are numbered
    for (std::uint32_t k = 0; k < diagram.axes.size(); ++k)
        if (diagram.axes[k].woven && !(all_woven > 1 && diagram.axes[k].name == first_woven))
            head_axes.push_back(AxisId{k});
    if (!heads.empty()) text += parts_of(diagram, head_axes, "head");
    std::string result;
    for (const Expression& condition : conditions)
        result += (result.empty() ? "" : " & ") + writer.text(condition);
    return text + "    return " + result + "\n";
}

}  // namespace napkin::cli
