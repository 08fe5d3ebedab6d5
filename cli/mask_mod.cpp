// A mask as FlexAttention's `mask_mod`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/mask_export.h"
#include "cli/numbers.h"
#include "diagrams/contains.h"
#include "diagrams/overloaded.h"
#include "diagrams/rounding.h"
#include "perfmodel/token_order.h"

namespace napkin::cli {

namespace {

/// The name in Python of an axis or an array: none of the language's words, nor of what the text
/// uses itself.
std::string python_name(const Diagram& diagram, std::string name) {
    static const std::set<std::string> kTaken = {
        "False",   "None",   "True",     "abs",      "and",   "as",  "assert",   "async", "await",
        "batch",   "break",  "class",    "continue", "def",   "del", "elif",     "else",  "except",
        "finally", "for",    "from",     "global",   "head",  "if",  "import",   "in",    "is",
        "kv_idx",  "lambda", "mask_mod", "math",     "max",   "min", "nonlocal", "not",   "or",
        "pass",    "q_idx",  "raise",    "return",   "torch", "try", "while",    "with",  "yield"};
    const auto has_name = [&](const auto& each) { return each.name == name; };
    const bool is_taken = kTaken.contains(name);
    while (is_taken && (kTaken.contains(name) ||
                        std::any_of(diagram.axes.begin(), diagram.axes.end(), has_name) ||
                        std::any_of(diagram.arrays.begin(), diagram.arrays.end(), has_name)))
        name += "_";
    return name;
}

/// What PyTorch calls a function of one tensor, and Python's `math` of one number.
const char* function_name(Function function) {
    switch (function) {
    case Function::Exp: return "exp";
    case Function::Log: return "log";
    case Function::Sqrt: return "sqrt";
    case Function::Tanh: return "tanh";
    case Function::Erf: return "erf";
    case Function::Sin: return "sin";
    case Function::Cos: return "cos";
    case Function::Floor: return "floor";
    default: return nullptr;
    }
}

/// Python's operator of two arguments, whose arithmetic on integers is the language's.
const char* operator_name(Function function) {
    switch (function) {
    case Function::Power: return "**";
    case Function::BitAnd:
    case Function::And: return "&";
    case Function::BitOr:
    case Function::Or: return "|";
    case Function::BitXor: return "^";
    case Function::ShiftLeft: return "<<";
    case Function::ShiftRight: return ">>";
    default: return name_of(function);
    }
}

class PythonWriter {
public:
    explicit PythonWriter(const Diagram& diagram) : diagram_(diagram) {}

    [[nodiscard]] std::string text(const Expression& expression) const {
        return std::visit(
            overloaded{
                [](const Number& number) { return number_text(number); },
                [&](const AxisIndex& index) {
                    return python_name(diagram_, diagram_[index.axis].name);
                },
                [&](const SizeOf& item) { return std::to_string(diagram_[item.axis].extent); },
                [&](const Read& element) { return read(element); },
                [&](const Apply& call) { return call_text(call); },
                [&](const Convert& convert) { return text(convert.argument.front()); },
                [](const Operand&) { return std::string(); },
            },
            expression.node);
    }

    /// One number for all queries and keys, and no tensor.
    static bool is_number(const Expression& expression) {
        return axes_used(expression).empty() && arrays_read(expression).empty();
    }

private:
    static std::string number_text(const Number& number) {
        if (number.is_integer) return std::to_string(static_cast<std::int64_t>(number.value));
        if (std::isinf(number.value)) return number.value > 0 ? "math.inf" : "-math.inf";
        // As many digits as it takes to read the same number.
        std::string text = fmt::format("{}", number.value);
        return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
    }
    [[nodiscard]] std::string read(const Read& element) const {
        std::string index;
        for (const Expression& each : element.index)
            index += (index.empty() ? "" : ", ") + text(each);
        return python_name(diagram_, diagram_[element.array].name) +
               (index.empty() ? "" : "[" + index + "]");
    }
    [[nodiscard]] std::string call_text(const Apply& call) const {
        const std::string first = text(call.arguments[0]);
        const std::string library = is_number(call.arguments[0]) ? "math." : "torch.";
        if (const char* name = function_name(call.function))
            return library + name + "(" + first + ")";
        switch (call.function) {
        case Function::Negate: return "(-" + first + ")";
        case Function::Not:
            return is_number(call.arguments[0]) ? "(not " + first + ")"
                                                : "torch.logical_not(" + first + ")";
        case Function::Abs: return "abs(" + first + ")";
        case Function::Rsqrt: return "(1 / " + library + "sqrt(" + first + "))";
        case Function::Guard: return first;
        case Function::Select: return select(call);
        case Function::Min: return smaller(call, "<=");
        case Function::Max: return smaller(call, ">=");
        default: break;
        }
        return "(" + first + " " + operator_name(call.function) + " " + text(call.arguments[1]) +
               ")";
    }
    [[nodiscard]] std::string select(const Apply& call) const {
        const std::string condition = text(call.arguments[0]);
        const std::string yes = text(call.arguments[1]);
        const std::string no = text(call.arguments[2]);
        if (is_number(call.arguments[0]))
            return "(" + yes + " if " + condition + " else " + no + ")";
        return "torch.where(" + condition + ", " + yes + ", " + no + ")";
    }
    /// The library's `min` and `max` take no mixture of numbers and tensors, nor Python's tensors.
    [[nodiscard]] std::string smaller(const Apply& call, const char* sign) const {
        const std::string a = text(call.arguments[0]);
        const std::string b = text(call.arguments[1]);
        if (is_number(call.arguments[0]) && is_number(call.arguments[1]))
            return name_of(call.function) + ("(" + a + ", " + b + ")");
        return "torch.where(" + a + " " + sign + " " + b + ", " + a + ", " + b + ")";
    }

    const Diagram& diagram_;
};

/// `index // inner % count`, a digit of a flat index.
std::string digit(std::string index, std::int64_t inner, std::optional<std::int64_t> count) {
    if (inner > 1) index += " // " + std::to_string(inner);
    if (count) index += " % " + std::to_string(*count);
    return index;
}

std::string line_of(const Diagram& diagram, AxisId axis, const std::string& value) {
    return "    " + python_name(diagram, diagram[axis].name) + " = " + value + "\n";
}

/// `i = q_idx // 56` and the like: parts of a flat index.
std::string parts_of(const Diagram& diagram, const std::vector<AxisId>& axes,
                     const std::string& index) {
    std::string text;
    std::int64_t inner = 1;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        const std::int64_t extent = diagram[*axis].extent;
        const bool first = std::next(axis) == axes.rend();
        text = line_of(diagram, *axis,
                       digit(index, inner, first ? std::nullopt : std::optional(extent))) +
               text;
        inner *= extent;
    }
    return text;
}

/// The same of an index that goes through tiles one after the other, all of them as long.
std::string parts_of_tiles(const Diagram& diagram, const std::vector<index::Tiling>& tilings,
                           const std::string& index) {
    std::string text;
    std::int64_t inside = 1;
    std::int64_t tiles = 1;
    for (const index::Tiling& tiling : tilings) tiles *= tiling.size;
    for (auto tiling = tilings.rbegin(); tiling != tilings.rend(); ++tiling) {
        const std::int64_t count = ceil_quotient(diagram[tiling->axis].extent, tiling->size);
        const std::string size = std::to_string(tiling->size);
        const bool first = std::next(tiling) == tilings.rend();
        text = line_of(diagram, tiling->axis,
                       "(" + digit(index, tiles, first ? std::nullopt : std::optional(count)) +
                           ") * " + size + " + " + digit(index, inside, tiling->size)) +
               text;
        inside *= tiling->size;
        tiles *= count;
    }
    return text;
}

/// That sizes of the launch are not in it, where there are such.
std::string sizes_text(const Diagram& diagram, const MaskReport& report) {
    std::string sizes;
    for (const index::Tiling& tiling : report.tilings)
        if (const Axis& axis = diagram[tiling.axis]; axis.dynamic)
            sizes += (sizes.empty() ? "" : ", ") + axis.name + " = " + std::to_string(axis.extent);
    return sizes.empty() ? ""
                         : "# At " + sizes + ", which a kernel takes at run time; of other sizes " +
                               "by --set.\n";
}

/// "queries are [j, i] as in `Q`, not as in `O`".
std::string order_text(const Diagram& diagram, const std::string& tokens, const TokenAxes& order) {
    std::vector<std::string> axes;
    std::vector<std::string> others;
    for (const AxisId axis : order.axes) axes.push_back(diagram[axis].name);
    for (const ArrayId other : order.otherwise) others.push_back("`" + diagram[other].name + "`");
    return tokens + " are [" + joined(axes) + "] as in `" + diagram[*order.array].name +
           "`, not as in " + joined(others);
}

}  // namespace

std::string other_orders_text(const Diagram& diagram, const MaskReport& report) {
    const TokenAxes queries = axes_of_tokens(diagram, report.queries, report.keys);
    const TokenAxes keys = axes_of_tokens(diagram, report.keys, report.queries);
    std::string text;
    if (!queries.otherwise.empty()) text = order_text(diagram, "queries", queries);
    if (!keys.otherwise.empty())
        text += (text.empty() ? "" : "; ") + order_text(diagram, "keys", keys);
    return text;
}

std::string mask_mod_text(const State& state, const MaskReport& report, TokenOrder order) {
    const Diagram& diagram = state.diagram;
    const PythonWriter writer(diagram);
    const auto keys = report.tilings.begin() + static_cast<std::ptrdiff_t>(report.queries.size());
    const auto tokens = [&](const std::vector<AxisId>& axes,
                            const std::vector<index::Tiling>& tilings, const char* index) {
        return order == TokenOrder::Arrays || are_consecutive(diagram, tilings)
                   ? parts_of(diagram, axes, index)
                   : parts_of_tiles(diagram, tilings, index);
    };
    std::string text = tokens(report.queries, {report.tilings.begin(), keys}, "q_idx") +
                       tokens(report.keys, {keys, report.tilings.end()}, "kv_idx");
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
            text += "    " + python_name(diagram, first_woven) + " = batch\n";
        else
            heads.push_back(axis);
    }
    std::vector<AxisId> head_axes;  // all woven ones but the batch, as heads are numbered
    for (std::uint32_t k = 0; k < diagram.axes.size(); ++k)
        if (diagram.axes[k].woven && !(all_woven > 1 && diagram.axes[k].name == first_woven))
            head_axes.push_back(AxisId{k});
    if (!heads.empty()) text += parts_of(diagram, head_axes, "head");
    // What no index decides is Python's own bool, and FlexAttention takes a tensor.
    const bool is_number =
        std::all_of(conditions.begin(), conditions.end(), PythonWriter::is_number);
    std::string result = is_number ? "(q_idx >= 0)" : "";
    for (const Expression& condition : conditions)
        result += (result.empty() ? "" : " & ") + writer.text(condition);
    const char* const math = result.find("math.") != std::string::npos ? "import math\n" : "";
    const std::string orders = other_orders_text(diagram, report);
    return fmt::format(
        "# The mask of {}, for FlexAttention.\n{}{}{}import torch\n\n\n"
        "def mask_mod(batch, head, q_idx, kv_idx):\n{}    return {}\n",
        report.statement, orders.empty() ? "" : "# Its " + orders + ".\n",
        sizes_text(diagram, report), math, text, result);
}

}  // namespace napkin::cli
