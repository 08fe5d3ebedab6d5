#include <fmt/format.h>

#include <algorithm>

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
    for (const VariableId target : compute.targets)
        phase.writes.push_back(views_.at(storage(target)).tile);
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
                                 ExpressionScope& scope, Body& body) const {
    std::vector<Expression> conditions;
    for (const Expression* expression : expressions) collect_conditions(*expression, conditions);
    const IntervalPrinter intervals(ranges_, sizes_);
    int number = 0;
    for (const Expression& condition : conditions) {
        const std::string code = intervals.must_hold(condition);
        if (code == "false") continue;
        const std::string flag = fmt::format("all{}", number++);
        body.push_back({kernel::Declare{"bool", flag, code, true,
                                        napkin::print(scope_, condition) + " everywhere"}});
        scope.known.push_back({condition, flag});
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
        LocalIndex local{axis, 0, {}};
        if (range.capacity > 1) {
            below /= range.capacity;
            std::string text = flat;
            if (below > 1) text = fmt::format("{} / {}", flat, below);
            if (below * range.capacity < total) text += fmt::format(" % {}", range.capacity);
            const bool clamp = clamped.contains(axis) && !range.exact();
            if (clamp) text = fmt::format("minimum({}, {})", text, print(range.count - 1));
            const std::string& name = axis_names_[axis.index()].local;
            body.push_back({kernel::Declare{"int", name, text, true, {}}});
            local.local = local_index(axis);
            if (!range.exact() && !clamp)
                local.test = fmt::format("{} < {}", name, print(range.count));
        } else if (!range.exact()) {
            local.test = fmt::format("0 < {}", print(range.count));
        }
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

std::string SimtLowering::tests_of(const std::vector<LocalIndex>& locals) const {
    std::string tests;
    for (const LocalIndex& local : locals)
        if (!local.test.empty()) tests += (tests.empty() ? "" : " && ") + local.test;
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
    const std::string place = ExpressionPrinter::place(view, indices_of(array, element));
    if (place.size() + stored(kept, view.type).size() > kLongLine) {
        body.push_back({kernel::Declare{type_of(kept), "result", kept.text, true, {}}});
        kept.text = "result";
        kept.precedence = 16;
    }
    body.push_back({kernel::Assign{place, "=", stored(kept, view.type)}});
}

SimtLowering::Body SimtLowering::thread_loop(std::int64_t count, Body inner) const {
    if (count == 1) return {{kernel::If{"threadIdx.x == 0", std::move(inner), {}}}};
    kernel::For loop;
    loop.name = "e";
    loop.begin = "threadIdx.x";
    loop.end = std::to_string(count);
    loop.step = "kThreads";
    loop.body = std::move(inner);
    return {{std::move(loop)}};
}

kernel::Body SimtLowering::axis_loops(const std::vector<AxisId>& axes, kernel::Body inner) const {
    for (std::size_t i = axes.size(); i-- > 0;) {
        const AxisRange& range = ranges_.at(axes[i]);
        if (range.capacity == 1 && range.exact()) continue;
        kernel::For loop;
        loop.name = axis_names_[axes[i].index()].local;
        loop.end = napkin::print(range.count);
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
    const std::string tests = tests_of(locals);
    if (tests.empty())
        inner.insert(inner.end(), work.begin(), work.end());
    else
        inner.push_back({kernel::If{tests, std::move(work), {}}});
    for (Body part = thread_loop(elements_of(axes), std::move(inner));
         kernel::Statement & statement : part)
        phase.body.push_back(std::move(statement));

    // What is read only at the element that is written may share its memory.
    const std::vector<IndexForm> own = indices_of(compute.statement.targets.front(), element);
    for (const auto& [array, tile] : scope.tiles) {
        phase.reads.push_back(tile.tile);
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
