#include "diagrams/drawing/spelled.h"

#include <algorithm>
#include <iterator>

namespace napkin::drawing {

namespace {

/// Whether an expression has the shape of a call's value, whatever stands for the arguments.
bool has_shape(const NamedCall& call, const Expression& shape, const Expression& expression,
               std::vector<const Expression*>& arguments) {
    const auto is = std::find(call.arguments.begin(), call.arguments.end(), shape);
    if (is != call.arguments.end()) {
        const Expression*& argument =
            arguments[static_cast<std::size_t>(std::distance(call.arguments.begin(), is))];
        if (argument == nullptr) argument = &expression;
        return *argument == expression;
    }
    const auto alike = [&](const std::vector<Expression>& parts,
                           const std::vector<Expression>& others) {
        return std::equal(parts.begin(), parts.end(), others.begin(), others.end(),
                          [&](const Expression& part, const Expression& other) {
                              return has_shape(call, part, other, arguments);
                          });
    };
    const Apply* apply = std::get_if<Apply>(&shape.node);
    const Apply* other = std::get_if<Apply>(&expression.node);
    if (apply != nullptr && other != nullptr)
        return apply->function == other->function && alike(apply->arguments, other->arguments);
    // What a call folds is an array of its own, and another of the same call has other indices.
    const Read* element = std::get_if<Read>(&shape.node);
    const Read* read = std::get_if<Read>(&expression.node);
    if (element != nullptr && read != nullptr) return element->array == read->array;
    return shape == expression;
}

std::optional<Spelled> as_call(const NamedCall& call, const Expression& expression) {
    Spelled found{call.name, std::vector<const Expression*>(call.arguments.size())};
    if (!has_shape(call, call.value, expression, found.arguments)) return std::nullopt;
    // An argument that only folds read, as that of `logsumexp`, is as it was written.
    for (std::size_t i = 0; i < found.arguments.size(); ++i)
        if (found.arguments[i] == nullptr) found.arguments[i] = &call.arguments[i];
    return found;
}

}  // namespace

std::optional<Spelled> spelled(const Diagram& diagram, const Expression& expression) {
    for (const NamedCall& call : diagram.spellings.calls)
        if (call.library)
            if (std::optional<Spelled> found = as_call(call, expression)) return found;
    return std::nullopt;
}

std::optional<Spelled> spelled_as(const Diagram& diagram, const std::string& name,
                                  const Expression& expression) {
    for (const NamedCall& call : diagram.spellings.calls)
        if (call.name == name)
            if (std::optional<Spelled> found = as_call(call, expression)) return found;
    return std::nullopt;
}

}  // namespace napkin::drawing
