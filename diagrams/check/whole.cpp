// What is said of the diagram as a whole: outputs, sizes of arrays, names that nothing uses.
#include <utility>

#include "diagrams/check/context.h"
#include "diagrams/check/messages.h"

namespace napkin::checking {

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 62;

void check_elements(Context& context, const Array& array) {
    std::int64_t total = 1;
    std::string product;
    for (AxisId axis : array.axes) {
        const Axis& part = context.axis(axis);
        product += (product.empty() ? "" : " * ") + std::to_string(part.extent);
        if (total != 0 && part.extent <= kMostElements / total)
            total *= part.extent;
        else
            total = 0;
    }
    if (total == 0) context.report(messages::too_many_elements(array.span, array.name, product));
}

void warn(Context& context, Span place, std::string_view what, const std::string& name) {
    context.warnings.add(messages::unused(place, what, name));
}

}  // namespace

void check_sizes(Context& context) {
    bool output = false;
    for (const Array& array : context.diagram.arrays) {
        check_elements(context, array);
        output = output || array.role == ArrayRole::Output;
    }
    if (!output)
        context.report(messages::no_output(context.file.diagram->span, context.diagram.name));
}

void warn_unused(Context& context) {
    std::set<ArrayId> read;
    for (const Statement& statement : context.diagram.statements)
        for (ArrayId array : inputs_of(statement)) read.insert(array);
    for (std::uint32_t i = 0; i < context.diagram.axes.size(); ++i)
        if (!context.named_axes.contains(AxisId{i}))
            warn(context, context.diagram.axes[i].span, "axis", context.diagram.axes[i].name);
    for (std::uint32_t i = 0; i < context.diagram.arrays.size(); ++i) {
        const Array& array = context.diagram.arrays[i];
        if (!array.named || array.role == ArrayRole::Output || read.contains(ArrayId{i})) continue;
        const char* what = array.role == ArrayRole::Input       ? "input"
                           : array.role == ArrayRole::Parameter ? "parameter"
                                                                : "array";
        const std::optional<StatementId> maker = producer(context.diagram, ArrayId{i});
        if (maker && context.diagram[*maker].targets.size() > 1) continue;
        warn(context, array.span, what, array.name);
    }
    for (const auto& [name, line] : context.lets)
        if (!context.used_lets.contains(name)) warn(context, line->target.name.span, "let", name);
    for (const auto& [name, operation] : context.operations)
        if (!operation.library && !context.used_operations.contains(name))
            warn(context, operation.definition->name.span, "definition", name);
}

}  // namespace napkin::checking
