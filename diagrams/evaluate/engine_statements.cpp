// How each kind of statement gives elements of its targets.
#include "diagrams/evaluate/batches.h"
#include "diagrams/evaluate/engine.h"

namespace napkin::evaluation {

Engine::Axes Engine::position_of(ArrayId array, Offset offset) const {
    Axes position(diagram_.axes.size());
    const std::vector<AxisId>& axes = diagram_[array].axes;
    const std::vector<Offset>& strides = strides_[array.index()];
    for (std::size_t at = 0; at < axes.size(); ++at)
        position[axes[at].index()].base = offset / strides[at] % diagram_[axes[at]].extent;
    return position;
}

Offset Engine::offset_of(ArrayId array, const Axes& position) const {
    Offset offset = 0;
    const std::vector<AxisId>& axes = diagram_[array].axes;
    for (std::size_t at = 0; at < axes.size(); ++at)
        offset += position[axes[at].index()].base * strides_[array.index()][at];
    return offset;
}

void Engine::compute_map(ArrayId array, const CompiledStatement& code,
                         std::span<const Offset> offsets, double* out) {
    const std::vector<AxisId>& axes = diagram_[array].axes;
    std::vector<LaneBuffer<Offset>> buffers;
    for (std::size_t start = 0; start < offsets.size(); start += kLanes) {
        const std::size_t count = std::min(kLanes, offsets.size() - start);
        const Offset first = offsets[start];
        const Offset last = offsets[start + count - 1];
        Axes lanes = position_of(array, first);
        const std::int64_t row = axes.empty() ? 1 : diagram_[axes.back()].extent;
        const bool contiguous = last - first == static_cast<Offset>(count) - 1;
        if (count > 1 && contiguous && first / row == last / row) {
            lanes[axes.back().index()].step = 1;
        } else if (count > 1) {
            for (std::size_t at = 0; at < axes.size(); ++at) {
                if (buffers.size() <= at) buffers.emplace_back(offsets_);
                const Offset stride = strides_[array.index()][at];
                const std::int64_t extent = diagram_[axes[at]].extent;
                for (std::size_t lane = 0; lane < count; ++lane)
                    buffers[at].get()[lane] = offsets[start + lane] / stride % extent;
                lanes[axes[at].index()] = {0, 0, buffers[at].get()};
            }
        }
        const Program& program = code.values.front();
        const Value value = evaluate(program, {count, lanes, {}});
        for (std::size_t lane = 0; lane < count; ++lane)
            out[start + lane] = store(array, offsets[start + lane], value.at(lane));
    }
}

double Engine::compute_fold(ArrayId array, const Statement& statement,
                            const CompiledStatement& code, Offset offset) {
    const Fold& fold = std::get<Fold>(statement.body);
    Axes position = position_of(array, offset);
    std::vector<double> state = initial_state(fold, code, position);
    for_each_batch(whole_ranges(diagram_, fold.over), position, offsets_, [&](std::size_t count) {
        fold_lanes(fold, code, {count, position, {}}, state);
    });
    double result = 0;
    for (std::size_t at = 0; at < statement.targets.size(); ++at) {
        const ArrayId target = statement.targets[at];
        const double kept = store(target, offset_of(target, position), state[at]);
        if (target == array) result = kept;
    }
    return result;
}

double Engine::compute_scan(ArrayId array, const Statement& statement,
                            const CompiledStatement& code, Offset offset) {
    const double known = sources_[array.index()].memo.get(offset);
    if (!is_absent(known)) return known;
    const Fold& fold = std::get<Fold>(statement.body);
    const AxisId axis = fold.over.front();
    Axes lanes = position_of(array, offset);
    Axes position = lanes;
    std::vector<double> state = initial_state(fold, code, position);
    double result = 0;
    for_each_batch(whole_ranges(diagram_, fold.over), lanes, offsets_, [&](std::size_t count) {
        std::vector<Value> values;
        for (const Program& program : code.values)
            values.push_back(evaluate(program, {count, lanes, {}}));
        for (std::size_t lane = 0; lane < count; ++lane) {
            combine(fold.monoid, code, state, values, lane);
            position[axis.index()].base = lanes[axis.index()].at(lane);
            for (std::size_t at = 0; at < statement.targets.size(); ++at) {
                const ArrayId target = statement.targets[at];
                const Offset place = offset_of(target, position);
                const double kept = store(target, place, state[at]);
                if (target == array && place == offset) result = kept;
            }
        }
    });
    return result;
}

double Engine::compute_select(ArrayId array, const Statement& statement,
                              const CompiledStatement& code, Offset offset) {
    const double known = sources_[array.index()].memo.get(offset);
    if (!is_absent(known)) return known;
    const Select& select = std::get<Select>(statement.body);
    invariant(statement.targets.size() == 2, "a selection has values and indices");
    Axes lanes = position_of(array, offset);
    Axes position = lanes;
    std::vector<double> values;
    const Program& program = code.values.front();
    for_each_batch(whole_ranges(diagram_, {select.over}), lanes, offsets_, [&](std::size_t count) {
        const Value part = evaluate(program, {count, lanes, {}});
        for (std::size_t lane = 0; lane < count; ++lane) values.push_back(part.at(lane));
    });
    const std::int64_t ranks = select.rank ? diagram_[*select.rank].extent : 1;
    const std::vector<std::int64_t> order = ranking(values, ranks);
    double result = 0;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        if (select.rank) position[select.rank->index()].base = rank;
        const std::int64_t winner = order[static_cast<std::size_t>(rank)];
        const std::array<double, 2> found = {values[static_cast<std::size_t>(winner)],
                                             static_cast<double>(winner)};
        for (std::size_t at = 0; at < 2; ++at) {
            const ArrayId target = statement.targets[at];
            const Offset place = offset_of(target, position);
            const double kept = store(target, place, found[at]);
            if (target == array && place == offset) result = kept;
        }
    }
    return result;
}

}  // namespace napkin::evaluation
