// How each kind of statement gives elements of its targets.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "diagrams/evaluate/arithmetic.h"
#include "diagrams/evaluate/engine.h"

namespace napkin::evaluation {
namespace {

/// Runs of the innermost folded axis at least this long are evaluated one by one, so that reads are
/// contiguous; shorter ones are gathered into full batches.
constexpr std::int64_t kLongRun = 64;

double combine_builtin(MonoidId monoid, double a, double b) {
    if (monoid == kSum) return arithmetic::add(a, b);
    if (monoid == kProduct) return arithmetic::multiply(a, b);
    return monoid == kMax ? arithmetic::maximum(a, b) : arithmetic::minimum(a, b);
}

bool is_builtin(MonoidId monoid) {
    return monoid <= kMin;
}

double sum_lanes(double start, const Value& value, std::size_t count) {
    if (!value.uniform()) {
        const double sum = start + sum_in_strands(value.lanes, count, [](double x) { return x; });
        if (!std::isnan(sum)) return sum;
    }
    double sum = start;
    for (std::size_t lane = 0; lane < count; ++lane) sum = arithmetic::add(sum, value.at(lane));
    return sum;
}

/// Calls `visit(count)` for batches that cover every index of `over` in row-major order, after
/// setting their lanes in `axes`.
template <class Visitor>
void for_each_batch(const Diagram& diagram, const std::vector<AxisId>& over,
                    std::vector<IndexLanes>& axes, LanePool<Offset>& pool, const Visitor& visit) {
    const std::int64_t run = diagram[over.back()].extent;
    const bool long_runs = over.size() == 1 || run >= kLongRun;
    std::int64_t total = 1;
    for (const AxisId axis : over) total *= diagram[axis].extent;
    std::vector<LaneBuffer<Offset>> buffers;
    if (!long_runs)
        for (std::size_t at = 0; at < over.size(); ++at) buffers.emplace_back(pool);
    for (std::int64_t start = 0; start < total;) {
        std::int64_t count = std::min<std::int64_t>(kLanes, total - start);
        if (long_runs) count = std::min(count, run - start % run);
        std::int64_t inner = 1;
        for (std::size_t at = over.size(); at-- > 0;) {
            const std::int64_t extent = diagram[over[at]].extent;
            IndexLanes& lanes = axes[over[at].index()];
            if (long_runs) {
                lanes = {start / inner % extent, at + 1 == over.size() ? 1 : 0, nullptr};
            } else {
                for (std::int64_t lane = 0; lane < count; ++lane)
                    buffers[at].get()[lane] = (start + lane) / inner % extent;
                lanes = {0, 0, buffers[at].get()};
            }
            inner *= extent;
        }
        visit(static_cast<std::size_t>(count));
        start += count;
    }
}

/// Larger first, a NaN before every number, equal ones by index.
struct Ranking {
    const std::vector<double>& values;
    bool operator()(std::int64_t a, std::int64_t b) const {
        const double left = values[static_cast<std::size_t>(a)];
        const double right = values[static_cast<std::size_t>(b)];
        if (std::isnan(left) != std::isnan(right)) return std::isnan(left);
        if (left != right && !std::isnan(left)) return left > right;
        return a < b;
    }
};

}  // namespace

Engine::Axes Engine::position_of(ArrayId array, Offset offset) const {
    Axes position(diagram_.axes.size());
    const std::vector<AxisId>& axes = diagram_[array].axes;
    const std::vector<Offset>& strides = sources_[array.index()].strides;
    for (std::size_t at = 0; at < axes.size(); ++at)
        position[axes[at].index()].base = offset / strides[at] % diagram_[axes[at]].extent;
    return position;
}

Offset Engine::offset_of(ArrayId array, const Axes& position) const {
    Offset offset = 0;
    const std::vector<AxisId>& axes = diagram_[array].axes;
    for (std::size_t at = 0; at < axes.size(); ++at)
        offset += position[axes[at].index()].base * sources_[array.index()].strides[at];
    return offset;
}

void Engine::compute_map(ArrayId array, const Compiled& code, std::span<const Offset> offsets,
                         double* out) {
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
                const Offset stride = sources_[array.index()].strides[at];
                const std::int64_t extent = diagram_[axes[at]].extent;
                for (std::size_t lane = 0; lane < count; ++lane)
                    buffers[at].get()[lane] = offsets[start + lane] / stride % extent;
                lanes[axes[at].index()] = {0, 0, buffers[at].get()};
            }
        }
        const Program& program = code.values.front();
        const Value value = evaluate(program, program.root(), {count, lanes, {}});
        for (std::size_t lane = 0; lane < count; ++lane)
            out[start + lane] = store(array, offsets[start + lane], value.at(lane));
    }
}

std::vector<double> Engine::initial_state(const Fold& fold, const Compiled& code,
                                          const Axes& position) {
    const std::vector<Program>& programs = fold.seed.empty() ? code.identity : code.seed;
    std::vector<double> state;
    state.reserve(programs.size());
    for (const Program& program : programs)
        state.push_back(evaluate(program, program.root(), {1, position, {}}).at(0));
    return state;
}

void Engine::combine(MonoidId monoid, const Compiled& code, std::span<double> state,
                     std::span<const Value> values, std::size_t lane) {
    if (is_builtin(monoid)) {
        state[0] = combine_builtin(monoid, state[0], values[0].at(lane));
        return;
    }
    std::vector<double> operands(state.begin(), state.end());
    for (const Value& value : values) operands.push_back(value.at(lane));
    for (std::size_t at = 0; at < state.size(); ++at) {
        const Program& program = code.combine[at];
        state[at] = evaluate(program, program.root(), {1, {}, operands}).at(0);
    }
}

void Engine::fold_lanes(const Fold& fold, const Compiled& code, const Batch& batch,
                        std::span<double> state) {
    std::vector<Value> values;
    for (const Program& program : code.values)
        values.push_back(evaluate(program, program.root(), batch));
    if (fold.monoid == kSum) {
        state[0] = sum_lanes(state[0], values[0], batch.count);
        return;
    }
    for (std::size_t lane = 0; lane < batch.count; ++lane)
        combine(fold.monoid, code, state, values, lane);
}

double Engine::compute_fold(ArrayId array, const Statement& statement, const Compiled& code,
                            Offset offset) {
    const Fold& fold = std::get<Fold>(statement.body);
    Axes position = position_of(array, offset);
    std::vector<double> state = initial_state(fold, code, position);
    for_each_batch(diagram_, fold.over, position, offsets_, [&](std::size_t count) {
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

double Engine::compute_scan(ArrayId array, const Statement& statement, const Compiled& code,
                            Offset offset) {
    const double known = sources_[array.index()].memo.get(offset);
    if (!is_absent(known)) return known;
    const Fold& fold = std::get<Fold>(statement.body);
    const AxisId axis = fold.over.front();
    Axes lanes = position_of(array, offset);
    Axes position = lanes;
    std::vector<double> state = initial_state(fold, code, position);
    double result = 0;
    for_each_batch(diagram_, fold.over, lanes, offsets_, [&](std::size_t count) {
        std::vector<Value> values;
        for (const Program& program : code.values)
            values.push_back(evaluate(program, program.root(), {count, lanes, {}}));
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

double Engine::compute_select(ArrayId array, const Statement& statement, const Compiled& code,
                              Offset offset) {
    const double known = sources_[array.index()].memo.get(offset);
    if (!is_absent(known)) return known;
    const Select& select = std::get<Select>(statement.body);
    invariant(statement.targets.size() == 2, "a selection has values and indices");
    Axes lanes = position_of(array, offset);
    Axes position = lanes;
    std::vector<double> values;
    const Program& program = code.values.front();
    for_each_batch(diagram_, {select.over}, lanes, offsets_, [&](std::size_t count) {
        const Value part = evaluate(program, program.root(), {count, lanes, {}});
        for (std::size_t lane = 0; lane < count; ++lane) values.push_back(part.at(lane));
    });
    const std::int64_t ranks = select.rank ? diagram_[*select.rank].extent : 1;
    invariant(ranks <= static_cast<std::int64_t>(values.size()), "more ranks than elements");
    std::vector<std::int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + ranks, order.end(), Ranking{values});
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
