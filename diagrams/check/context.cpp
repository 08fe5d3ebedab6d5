#include "diagrams/check/context.h"

#include <algorithm>
#include <utility>

#include "diagrams/check/messages.h"
#include "diagrams/nearest.h"

namespace napkin::checking {

void Context::report(Diagnostic diagnostic) {
    for (const Diagnostic& known : errors.list) {
        const bool same_place = known.primary.span.begin == diagnostic.primary.span.begin &&
                                known.primary.span.end == diagnostic.primary.span.end &&
                                known.primary.span.file == diagnostic.primary.span.file;
        if (same_place && known.code == diagnostic.code && known.message == diagnostic.message)
            return;
    }
    errors.add(std::move(diagnostic));
}

bool Context::claim(const syntax::Name& name) {
    const auto [place, fresh] = places.emplace(name.text, name.span);
    if (!fresh) report(messages::defined_twice(name.span, name.text, place->second));
    return fresh;
}

std::optional<AxisId> Context::find_axis(const syntax::Name& name) {
    const auto found = axes.find(name.text);
    if (found == axes.end()) {
        report(messages::unknown_axis(name.span, name.text, suggestion(name.text, names_of(axes))));
        return std::nullopt;
    }
    named_axes.insert(found->second);
    return found->second;
}

ArrayId Context::add_array(Array array) {
    array.layout.clear();
    for (std::uint32_t i = 0; i < array.axes.size(); ++i) array.layout.push_back(i);
    diagram.arrays.push_back(std::move(array));
    return ArrayId{static_cast<std::uint32_t>(diagram.arrays.size() - 1)};
}

Array Context::declare(const syntax::Target& target, ArrayRole role) {
    Array array;
    array.name = target.name.text;
    array.role = role;
    array.span = target.name.span;
    array.rounds = target.type.has_value();
    array.type = target.type.value_or(ElementType::F32);
    for (const syntax::Name& name : target.axes) {
        const std::optional<AxisId> axis = find_axis(name);
        if (!axis) continue;
        if (std::find(array.axes.begin(), array.axes.end(), *axis) != array.axes.end())
            report(messages::repeated_axis(name.span, name.text, target.name.text));
        else
            array.axes.push_back(*axis);
    }
    return array;
}

std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
    return nearest(name, known).value_or("");
}

}  // namespace napkin::checking
