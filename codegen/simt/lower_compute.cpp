#include <fmt/format.h>

#include <algorithm>

#include "codegen/expression_text.h"
#include "codegen/simt/simt_lowering.h"
#include "diagrams/overloaded.h"

namespace napkin::lowering {
void SimtLowering::lower_compute(const Compute& compute, Span span, Body& body) {
    kernel::Phase phase = std::visit(
        overloaded{[&](const Map& map) { return lower_map(map, compute); },
                   [&](const Fold& fold) {
                       if (std::optional<kernel::Phase> fast = lower_contraction(fold, compute))
                           return *std::move(fast);
                       return lower_fold(fold, compute);
                   },
                   [&](const Select& select) { return lower_select(select, compute); },
                   [&](const Opaque& opaque) -> kernel::Phase {
                       throw InternalError("opaque box `" + opaque.name + "` reached codegen");
                   }},
        compute.statement.body);
    phase.comments = comments(text_of(compute.statement), span, compute.via);
    body.push_back({std::move(phase)});
}

std::vector<AxisId> SimtLowering::target_axes(const Compute& compute) const {
    return region_.arrays[compute.statement.targets.front().index()].axes;
}

ExpressionScope SimtLowering::scope_for(const Compute& compute) {
    ExpressionScope scope;
    scope.sizes = &sizes_;
    scope.arrays = &region_.arrays;
    for (const VariableId variable : compute.reads) {
        const ArrayId array = region_.variables[variable.index()].array;
        scope.tiles[array] = views_.at(storage(variable));
    }
    for (const Expression* expression : expressions_of(compute.statement))
        note_parameters(*expression, scope);
    return scope;
}

void SimtLowering::declare_known(const std::vector<const Expression*>& expressions,
                                 ExpressionScope& scope, Body& body) {
    std::vector<Expression> conditions;
    for (const Expression* expression : expressions)
        collect_conditions(*expression, false, conditions);
    const IntervalPrinter intervals(axes_, ranges_, sizes_);
    int number = 0;
    for (const Expression& condition : conditions) {
        kernel::Expression everywhere = intervals.must_hold(condition, names_, body);
        if (is(everywhere, false)) continue;
        const std::string flag = fmt::format("all{}", number++);
        body.push_back(kernel::define("bool", flag, std::move(everywhere),
                                      napkin::print(scope_, condition) + " everywhere"));
        scope.known.push_back({condition, kernel::variable(flag)});
    }
}

IndexForm SimtLowering::local_index(AxisId axis) const {
    return counted(axis_names_[axis.index()].local, ranges_.at(axis).capacity - 1);
}

std::int64_t SimtLowering::elements_of(const std::vector<AxisId>& axes) const {
    std::int64_t elements = 1;
    for (const AxisId axis : axes) elements *= ranges_.at(axis).capacity;
    return elements;
}

std::vector<LocalIndex> SimtLowering::decompose(const std::string& flat,
                                                const std::vector<AxisId>& axes, Body& body,
                                                const std::set<AxisId>& clamped) const {
    std::vector<LocalIndex> locals;
    const std::int64_t total = elements_of(axes);
    std::int64_t below = total;
    for (const AxisId axis : axes) {
        const AxisRange& range = ranges_.at(axis);
        LocalIndex local{axis, 0};
        const bool clamp = clamped.contains(axis) && !range.exact() && range.capacity > 1;
        if (range.capacity > 1) {
            below /= range.capacity;
            kernel::Expression value = kernel::variable(flat);
            if (below > 1) value = std::move(value) / below;
            if (below * range.capacity < total) value = std::move(value) % range.capacity;
            if (clamp)
                value = kernel::call("minimum", {std::move(value), expression_of(range.count - 1)});
            const std::string& name = axis_names_[axis.index()].local;
            body.push_back(kernel::define("int", name, std::move(value)));
            local.local = local_index(axis);
        }
        if (!range.exact() && !clamp)
            local.test = expression_of(local.local) < expression_of(range.count);
        locals.push_back(std::move(local));
    }
    return locals;
}

ElementScope SimtLowering::element_at(const std::vector<LocalIndex>& locals) const {
    ElementScope element;
    for (const LocalIndex& local : locals)
        element.index[local.axis] = ranges_.at(local.axis).start + local.local;
    return element;
}

kernel::Expression SimtLowering::tests_of(const std::vector<LocalIndex>& locals) const {
    kernel::Expression tests = true;
    for (const LocalIndex& local : locals) tests = std::move(tests) && local.test;
    return tests;
}

std::vector<IndexForm> SimtLowering::indices_of(ArrayId array, const ElementScope& element) const {
    std::vector<IndexForm> at;
    for (const AxisId axis : region_.arrays[array.index()].axes)
        at.push_back(element.index.at(axis));
    return at;
}

void SimtLowering::store(Body& body, const Compute& compute, std::size_t target, const Code& value,
                         const ElementScope& element) const {
    constexpr std::size_t kLongLine = 68;
    const ArrayId array = compute.statement.targets[target];
    const Array& info = region_.arrays[array.index()];
    const TileView& view = views_.at(storage(compute.targets[target]));
    Code kept = info.rounds && info.type != view.type ? rounded(value, info.type) : value;
    const kernel::Expression place = ExpressionPrinter::place(view, indices_of(array, element));
    if (width_of(place) + width_of(stored(kept, view.type)) > kLongLine) {
        body.push_back(kernel::define(type_of(kept), "result", kept.value));
        kept.value = kernel::variable("result");
    }
    body.push_back(kernel::assign(place, stored(kept, view.type)));
}

SimtLowering::Body SimtLowering::thread_loop(std::int64_t count, Body inner) const {
    if (count == 1) return kernel::only_if(equal(kernel::thread_index(), 0), std::move(inner));
    return {kernel::shared_loop("e", count, std::move(inner))};
}

kernel::Body SimtLowering::axis_loops(const std::vector<AxisId>& axes, kernel::Body inner) const {
    for (std::size_t i = axes.size(); i-- > 0;) {
        const AxisRange& range = ranges_.at(axes[i]);
        if (range.capacity == 1 && range.exact()) continue;
        kernel::For loop;
        loop.name = axis_names_[axes[i].index()].local;
        loop.end = expression_of(range.count);
        loop.body = std::move(inner);
        inner = {{std::move(loop)}};
    }
    return inner;
}

kernel::Phase SimtLowering::lower_map(const Map& map, const Compute& compute) {
    ExpressionScope scope = scope_for(compute);
    const TileView view = define_target(compute.targets.front());
    // A target that is read too is in the scope with its own place.
    kernel::Phase phase;
    declare_known({&map.value}, scope, phase.body);
    Body inner;
    const std::vector<AxisId> axes = target_axes(compute);
    const std::vector<LocalIndex> locals = decompose("e", axes, inner);
    ElementScope element = element_at(locals);
    Body work;
    int next = 0;
    element.temporaries = &work;
    element.next_temporary = &next;
    const Code value = ExpressionPrinter(scope).print(map.value, element);
    store(work, compute, 0, value, element);
    element.temporaries = nullptr;
    append(inner, kernel::only_if(tests_of(locals), std::move(work)));
    append(phase.body, thread_loop(elements_of(axes), std::move(inner)));

    // What is read only at the element that is written may share its memory.
    const std::vector<IndexForm> own = indices_of(compute.statement.targets.front(), element);
    for (const auto& [array, tile] : scope.tiles) {
        bool same = tile.capacity == view.capacity && tile.stride == view.stride &&
                    kernel::element_bytes(tile.type) == kernel::element_bytes(view.type) &&
                    tile.origin == view.origin;
        const ArrayId read_array = array;
        walk(map.value, [&](const Expression& node) {
            const Read* read = std::get_if<Read>(&node.node);
            if (read == nullptr || read->array != read_array) return;
            std::vector<IndexForm> at;
            for (const Expression& index : read->index)
                at.push_back(ExpressionPrinter(scope).index(index, element));
            same = same && at == own;
        });
        if (same) phase.in_place.emplace_back(view.tile, tile.tile);
    }
    return phase;
}

}  // namespace napkin::lowering
