#include "diagrams/check/context.h"
#include "diagrams/check/functions.h"

#include <algorithm>
#include <utility>

#include "diagrams/check/messages.h"
#include "diagrams/contains.h"
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

void Context::warn(Diagnostic warning) {
    if (std::none_of(warnings.list.begin(), warnings.list.end(), [&](const Diagnostic& known) {
            return known.code == warning.code &&
                   known.primary.span.begin == warning.primary.span.begin;
        }))
        warnings.add(std::move(warning));
}

bool Context::claim(const syntax::Name& name) {
    const auto [place, fresh] = places.emplace(name.text, name.span);
    if (!fresh) report(messages::defined_twice(name.span, name.text, place->second));
    return fresh;
}

AxisId Context::find_axis(const syntax::Name& name) {
    if (const auto found = axes.find(name.text); found != axes.end()) {
        named_axes.insert(found->second);
        return found->second;
    }
    sizes_known = false;
    unknown_axes.insert(name.text);
    report_missing(name);
    const auto [entry, fresh] = invented.emplace(name.text, AxisId{});
    if (fresh) entry->second = add_axis(name);
    return entry->second;
}

void Context::report_missing(const syntax::Name& name) {
    const auto [entry, fresh] = missing_.try_emplace(name.text);
    Missing& missing = entry->second;
    missing.places.emplace(name.span.begin, name.span);
    Diagnostic error =
        messages::unknown_axis(missing.places.begin()->second, name.text,
                               suggestion(name.text, names_of(axes)), missing.places.size() - 1);
    if (!fresh) {
        errors.list[missing.error] = std::move(error);
        return;
    }
    missing.error = errors.list.size();
    report(std::move(error));
}

AxisId Context::add_axis(const syntax::Name& name) {
    const AxisId id{static_cast<std::uint32_t>(diagram.axes.size())};
    Axis axis;
    axis.name = name.text;
    axis.extent = 1;
    axis.size = axis_size(id);
    axis.span = name.span;
    diagram.axes.push_back(std::move(axis));
    return id;
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
        const AxisId axis = find_axis(name);
        if (contains(array.axes, axis))
            report(messages::repeated_axis(name.span, name.text, target.name.text));
        else
            array.axes.push_back(axis);
    }
    return array;
}

namespace {

/// What an unknown reduction was probably meant to be: a call, where an operation has that name.
std::string meant_reduction(const Context& context, const syntax::Reduction& reduction) {
    const std::string& name = reduction.monoid.text;
    if (const auto found = context.operations.find(name); found != context.operations.end()) {
        std::string axes;
        if (!found->second.definition->axes.empty())
            for (const syntax::Name& axis : reduction.over)
                axes += (axes.empty() ? "[" : ", ") + axis.text;
        return name + axes + (axes.empty() ? "(...)" : "](...)");
    }
    std::vector<std::string> known = names_of(context.monoids);
    if (!reduction.every_prefix) known.insert(known.end(), kSelections.begin(), kSelections.end());
    return suggestion(name, known);
}

}  // namespace

void report_unknown(Context& context, const syntax::Reduction& reduction, Span place) {
    const std::string& name = reduction.monoid.text;
    const bool scanned = reduction.every_prefix;
    if (scanned && (is_selection(name) || name == "topk"))
        context.report(messages::selection_scanned(place, name));
    else
        context.report(
            messages::unknown_reduction(place, name, meant_reduction(context, reduction), scanned));
}

std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
    return nearest(name, known).value_or("");
}

}  // namespace napkin::checking
