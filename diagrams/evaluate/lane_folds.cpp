// Steps of folds and selections over lanes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "diagrams/evaluate/arithmetic.h"
#include "diagrams/evaluate/lane_evaluator.h"

namespace napkin::evaluation {
namespace {

double combine_builtin(MonoidId monoid, double a, double b) {
    if (monoid == kSum) return arithmetic::add(a, b);
    if (monoid == kProduct) return arithmetic::multiply(a, b);
    return monoid == kMax ? arithmetic::maximum(a, b) : arithmetic::minimum(a, b);
}

bool is_builtin(MonoidId monoid) {
    return monoid <= kMin;
}

/// By rank, equal ones by index.
struct Ranking {
    const std::vector<double>& values;
    bool operator()(std::int64_t a, std::int64_t b) const {
        const double left = values[static_cast<std::size_t>(a)];
        const double right = values[static_cast<std::size_t>(b)];
        if (arithmetic::ranks_above(left, right)) return true;
        return a < b && !arithmetic::ranks_above(right, left);
    }
};

}  // namespace

double LaneEvaluator::sum_lanes(double start, const Value& value, std::size_t count) {
    if (!value.uniform()) {
        const double sum = start + sum_in_strands(value.lanes, count, [](double x) { return x; });
        if (!std::isnan(sum)) return sum;
    }
    double sum = start;
    for (std::size_t lane = 0; lane < count; ++lane) sum = arithmetic::add(sum, value.at(lane));
    return sum;
}

std::vector<double> LaneEvaluator::initial_state(const Fold& fold, const CompiledStatement& code,
                                                 std::span<const IndexLanes> position) {
    const std::vector<Program>& programs = fold.seed.empty() ? code.identity : code.seed;
    std::vector<double> state;
    state.reserve(programs.size());
    for (const Program& program : programs)
        state.push_back(evaluate(program, {1, position, {}}).at(0));
    return state;
}

void LaneEvaluator::combine(MonoidId monoid, const CompiledStatement& code, std::span<double> state,
                            std::span<const Value> values, std::size_t lane) {
    if (is_builtin(monoid)) {
        state[0] = combine_builtin(monoid, state[0], values[0].at(lane));
        return;
    }
    std::vector<double> operands(state.begin(), state.end());
    for (const Value& value : values) operands.push_back(value.at(lane));
    for (std::size_t at = 0; at < state.size(); ++at) {
        const Program& program = code.combine[at];
        state[at] = evaluate(program, {1, {}, operands}).at(0);
    }
}

void LaneEvaluator::fold_lanes(const Fold& fold, const CompiledStatement& code, const Batch& batch,
                               std::span<double> state) {
    std::vector<Value> values;
    for (const Program& program : code.values) values.push_back(evaluate(program, batch));
    if (fold.monoid == kSum) {
        state[0] = sum_lanes(state[0], values[0], batch.count);
        return;
    }
    for (std::size_t lane = 0; lane < batch.count; ++lane)
        combine(fold.monoid, code, state, values, lane);
}

std::vector<std::int64_t> LaneEvaluator::ranking(const std::vector<double>& values,
                                                 std::int64_t ranks) {
    invariant(ranks <= static_cast<std::int64_t>(values.size()), "more ranks than elements");
    std::vector<std::int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + ranks, order.end(), Ranking{values});
    return order;
}

}  // namespace napkin::evaluation
