#include "diagrams/evaluate/messages.h"

#include <fmt/format.h>

#include <algorithm>

namespace napkin::messages {
namespace {

Diagnostic at_place(std::string code, std::string message, Span span, std::string label,
                    std::string help) {
    Diagnostic result = plain_error(std::move(code), std::move(message), std::move(help));
    result.has_place = true;
    result.primary = {span, std::move(label)};
    return result;
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& extents) {
    return fmt::format("[{}]", fmt::join(extents, ", "));
}

Diagnostic index_out_of_range(const Diagram& diagram, ArrayId array, std::size_t dimension,
                              double index, Span span) {
    const Axis& axis = diagram[diagram[array].axes[dimension]];
    return at_place("E0501",
                    fmt::format("index {} is outside axis `{}` of `{}`, which has size {}", index,
                                axis.name, diagram[array].name, axis.extent),
                    span, "read here",
                    "give values in range, or guard the access with `if ... then ... else ...`");
}

Diagnostic missing_input(const Diagram& diagram, ArrayId array) {
    return at_place("E0502", fmt::format("input `{}` has no values", diagram[array].name),
                    diagram[array].span, "declared here", "");
}

Diagnostic wrong_shape(const Diagram& diagram, ArrayId array,
                       const std::vector<std::int64_t>& extents) {
    std::vector<std::int64_t> wanted;
    for (const AxisId axis : diagram[array].axes) wanted.push_back(diagram[axis].extent);
    return at_place("E0503",
                    fmt::format("input `{}` has shape {} but its values have shape {}",
                                diagram[array].name, shape_text(wanted), shape_text(extents)),
                    diagram[array].span, "declared here",
                    "dimensions stand in the order of the "
                    "declaration, woven axes first; sizes can be set");
}

Diagnostic wrong_value(const Diagram& diagram, ArrayId array, const std::string& where,
                       double value) {
    return at_place("E0504",
                    fmt::format("value {} of input `{}` at {} is not of type {}", value,
                                diagram[array].name, where, name_of(diagram[array].type)),
                    diagram[array].span, "declared here", "");
}

Diagnostic index_value_out_of_range(const Diagram& diagram, ArrayId array, const std::string& where,
                                    double value) {
    const Axis& axis = diagram[*diagram[array].indexes];
    return at_place(
        "E0505",
        fmt::format("value {} of input `{}` at {} is no index of axis `{}`, which has size {}",
                    value, diagram[array].name, where, axis.name, axis.extent),
        diagram[array].span, "declared here",
        fmt::format("values must lie between 0 and {}; where others mark padding, guard both ends, "
                    "as in `if {}[i] >= 0 and {}[i] < size({}) then ...`",
                    axis.extent - 1, diagram[array].name, diagram[array].name, axis.name));
}

Diagnostic opaque_box(const Diagram& diagram, const Statement& statement) {
    const Opaque* box = std::get_if<Opaque>(&statement.body);
    return at_place(
        "E0506",
        fmt::format("`{}` depends on the opaque box `{}`, which has no definition",
                    diagram[statement.targets.front()].name, box == nullptr ? "" : box->name),
        statement.span, "declared here",
        "opaque boxes are drawn and costed; write a definition to evaluate or run it");
}

}  // namespace napkin::messages
