#include "diagrams/evaluate/lane_evaluator.h"

#include <algorithm>
#include <cmath>

#include "diagrams/evaluate/arithmetic.h"
#include "diagrams/evaluate/messages.h"

namespace napkin::evaluation {
namespace {

constexpr std::size_t kMostArguments = 3;

// Operations are template arguments, so that the loops over lanes contain no calls and vectorise;
// `out` is always a buffer of its own.
template <double (*kOperation)(double)>
void for_lanes(const Value& a, std::size_t count, double* __restrict out) {
    const double* values = a.lanes;
    for (std::size_t lane = 0; lane < count; ++lane) out[lane] = kOperation(values[lane]);
}

template <double (*kOperation)(double, double)>
void for_lanes(const Value& a, const Value& b, std::size_t count, double* __restrict out) {
    const double* left = a.lanes;
    const double* right = b.lanes;
    if (a.uniform())
        for (std::size_t lane = 0; lane < count; ++lane)
            out[lane] = kOperation(a.scalar, right[lane]);
    else if (b.uniform())
        for (std::size_t lane = 0; lane < count; ++lane)
            out[lane] = kOperation(left[lane], b.scalar);
    else
        for (std::size_t lane = 0; lane < count; ++lane)
            out[lane] = kOperation(left[lane], right[lane]);
}

/// The language's arithmetic differs from the machine's only where the machine's gives NaN.
template <double (*kMachine)(double, double), double (*kLanguage)(double, double)>
void for_lanes(const Value& a, const Value& b, std::size_t count, double* __restrict out) {
    for_lanes<kMachine>(a, b, count, out);
    // x - x is 0, or NaN where x is NaN or infinite.
    if (std::isnan(sum_in_strands(out, count, [](double x) { return x - x; })))
        for_lanes<kLanguage>(a, b, count, out);
}

double plus(double a, double b) {
    return a + b;
}
double minus(double a, double b) {
    return a - b;
}
double times(double a, double b) {
    return a * b;
}
double over(double a, double b) {
    return a / b;
}
double magnitude(double a) {
    return std::abs(a);
}
double square_root(double a) {
    return std::sqrt(a);
}
double negated(double a) {
    return -a;
}
double less(double a, double b) {
    return a < b ? 1.0 : 0.0;
}
double less_equal(double a, double b) {
    return a <= b ? 1.0 : 0.0;
}

/// The functions that inner loops are made of; false for the others.
bool apply_common(Function function, std::span<const Value> arguments, std::size_t count,
                  double* out) {
    const Value& a = arguments.front();
    const Value& b = arguments.back();
    switch (function) {
    case Function::Add: for_lanes<plus, arithmetic::add>(a, b, count, out); return true;
    case Function::Subtract: for_lanes<minus, arithmetic::subtract>(a, b, count, out); return true;
    case Function::Multiply: for_lanes<times, arithmetic::multiply>(a, b, count, out); return true;
    case Function::Divide: for_lanes<over, arithmetic::divide>(a, b, count, out); return true;
    case Function::Max: for_lanes<arithmetic::maximum>(a, b, count, out); return true;
    case Function::Min: for_lanes<arithmetic::minimum>(a, b, count, out); return true;
    case Function::LessEqual: for_lanes<less_equal>(a, b, count, out); return true;
    case Function::Less: for_lanes<less>(a, b, count, out); return true;
    case Function::Abs: for_lanes<magnitude>(a, count, out); return true;
    case Function::Sqrt: for_lanes<square_root>(a, count, out); return true;
    case Function::Negate: for_lanes<negated>(a, count, out); return true;
    case Function::Guard: for_lanes<arithmetic::guard>(a, count, out); return true;
    default: return false;
    }
}

bool contiguous(std::span<const std::size_t> chosen) {
    return chosen.back() - chosen.front() + 1 == chosen.size();
}

}  // namespace

Value LaneEvaluator::evaluate(const Program& program, NodeId id, const Batch& batch) {
    const Node& node = program.nodes[id];
    switch (node.kind) {
    case Node::Kind::Constant: return {node.constant, nullptr, {}};
    case Node::Kind::Operand: return {batch.operands[node.id], nullptr, {}};
    case Node::Kind::Apply: return evaluate_apply(program, node, batch);
    case Node::Kind::Read: return evaluate_read(program, node, batch);
    case Node::Kind::Axis: {
        const IndexLanes& lanes = batch.axes[node.id];
        if (lanes.uniform()) return {static_cast<double>(lanes.base), nullptr, {}};
        LaneBuffer<double> out(numbers_);
        for (std::size_t lane = 0; lane < batch.count; ++lane)
            out.get()[lane] = static_cast<double>(lanes.at(lane));
        const double* values = out.get();
        return {0, values, std::move(out)};
    }
    case Node::Kind::Convert: {
        const Value value = evaluate(program, node.arguments[0], batch);
        if (value.uniform()) return {round_to(node.type, value.scalar), nullptr, {}};
        LaneBuffer<double> out(numbers_);
        for (std::size_t lane = 0; lane < batch.count; ++lane)
            out.get()[lane] = round_to(node.type, value.lanes[lane]);
        const double* values = out.get();
        return {0, values, std::move(out)};
    }
    }
    throw InternalError("unknown node");
}

Value LaneEvaluator::evaluate_apply(const Program& program, const Node& node, const Batch& batch) {
    ++depth_;
    if (node.function == Function::Select || node.function == Function::And ||
        node.function == Function::Or) {
        Value chosen = evaluate_choice(program, node, batch);
        --depth_;
        return chosen;
    }
    std::array<Value, kMostArguments> values;
    const std::span<const Value> arguments(values.data(), node.arguments.size());
    bool uniform = true;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        if (at > 0 && node.arguments[at] == node.arguments[0])  // x * x
            values[at] = {values[0].scalar, values[0].lanes, {}};
        else
            values[at] = evaluate(program, node.arguments[at], batch);
        uniform = uniform && values[at].uniform();
    }
    --depth_;
    std::array<double, kMostArguments> scalars = {};
    const std::span<const double> used(scalars.data(), arguments.size());
    const auto gather = [&](std::size_t lane) {
        for (std::size_t at = 0; at < arguments.size(); ++at) scalars[at] = arguments[at].at(lane);
    };
    if (uniform) {
        gather(0);
        return {apply_function(node.function, used), nullptr, {}};
    }
    LaneBuffer<double> out(numbers_);
    if (node.function == Function::Exp)
        exponentials_(arguments.front().lanes, batch.count, out.get());
    else if (!apply_common(node.function, arguments, batch.count, out.get()))
        for (std::size_t lane = 0; lane < batch.count; ++lane) {
            gather(lane);
            out.get()[lane] = apply_function(node.function, used);
        }
    const double* results = out.get();
    return {0, results, std::move(out)};
}

void LaneEvaluator::one_by_one(const double* values, std::size_t count, double* out) {
    std::transform(values, values + count, out, [](double value) { return std::exp(value); });
}

Value LaneEvaluator::evaluate_choice(const Program& program, const Node& node, const Batch& batch) {
    // `a and b` is `if a then b else false`, `a or b` is `if a then true else b`.
    const Value condition = evaluate(program, node.arguments[0], batch);
    const bool is_select = node.function == Function::Select;
    const auto branch = [&](bool taken) -> std::optional<NodeId> {
        if (is_select) return node.arguments[taken ? 1 : 2];
        if (taken == (node.function == Function::And)) return node.arguments[1];
        return std::nullopt;
    };
    const auto constant = [](bool taken) { return Value{taken ? 1.0 : 0.0, nullptr, {}}; };
    std::array<std::vector<std::size_t>, 2> lanes;
    const std::size_t distinct = condition.uniform() ? 1 : batch.count;
    for (std::size_t lane = 0; lane < distinct; ++lane)
        lanes[condition.at(lane) != 0 ? 1 : 0].push_back(lane);
    for (const bool taken : {false, true}) {
        if (!lanes[taken ? 0 : 1].empty()) continue;
        const std::optional<NodeId> part = branch(taken);
        return part ? evaluate(program, *part, batch) : constant(taken);
    }
    LaneBuffer<double> out(numbers_);
    for (const bool taken : {false, true}) {
        const std::vector<std::size_t>& chosen = lanes[taken ? 1 : 0];
        if (const std::optional<NodeId> part = branch(taken))
            evaluate_part(program, *part, batch, chosen, out.get());
        else
            for (const std::size_t lane : chosen) out.get()[lane] = taken ? 1.0 : 0.0;
    }
    const double* values = out.get();
    return {0, values, std::move(out)};
}

void LaneEvaluator::evaluate_part(const Program& program, NodeId id, const Batch& batch,
                                  std::span<const std::size_t> chosen, double* out) {
    std::vector<IndexLanes> axes(batch.axes.begin(), batch.axes.end());
    std::vector<LaneBuffer<Offset>> buffers;
    const bool shifted = contiguous(chosen);
    for (IndexLanes& lanes : axes) {
        if (lanes.uniform()) continue;
        if (shifted) {
            lanes.base = lanes.affine() ? lanes.at(chosen.front()) : 0;
            if (!lanes.affine()) lanes.values += chosen.front();
            continue;
        }
        buffers.emplace_back(offsets_);
        Offset* values = buffers.back().get();
        for (std::size_t at = 0; at < chosen.size(); ++at) values[at] = lanes.at(chosen[at]);
        lanes = {0, 0, values};
    }
    const Value value = evaluate(program, id, {chosen.size(), axes, batch.operands});
    for (std::size_t at = 0; at < chosen.size(); ++at) out[chosen[at]] = value.at(at);
}

IndexLanes LaneEvaluator::affine_lanes(const Affine& form, const Batch& batch,
                                       LaneBuffer<Offset>& storage) {
    IndexLanes sum{form.constant, 0, nullptr};
    bool affine = true;
    for (const auto& [axis, coefficient] : form.terms) {
        const IndexLanes& lanes = batch.axes[axis.index()];
        affine = affine && lanes.affine();
        sum.base += coefficient * lanes.base;
        sum.step += coefficient * lanes.step;
    }
    if (affine) return sum;
    storage = LaneBuffer<Offset>(offsets_);
    Offset* values = storage.get();
    std::fill_n(values, batch.count, form.constant);
    for (const auto& [axis, coefficient] : form.terms) {
        const IndexLanes& lanes = batch.axes[axis.index()];
        for (std::size_t lane = 0; lane < batch.count; ++lane)
            values[lane] += coefficient * lanes.at(lane);
    }
    return {0, 0, values};
}

void LaneEvaluator::add_checked_index(const Program& program, const Node& node,
                                      std::size_t dimension, const Batch& batch, Offset* offsets) {
    const ReadIndex& index = node.index[dimension];
    const auto add = [&](std::size_t lane, double value) {
        if (!(value >= 0 && value < static_cast<double>(index.extent)))
            throw ContractError(messages::index_out_of_range(diagram_, ArrayId{node.id}, dimension,
                                                             value, node.span));
        offsets[lane] += static_cast<Offset>(value) * index.stride;
    };
    if (index.affine) {
        LaneBuffer<Offset> storage;
        const IndexLanes lanes = affine_lanes(*index.affine, batch, storage);
        for (std::size_t lane = 0; lane < batch.count; ++lane)
            add(lane, static_cast<double>(lanes.at(lane)));
        return;
    }
    const Value value = evaluate(program, index.expression, batch);
    for (std::size_t lane = 0; lane < batch.count; ++lane) add(lane, value.at(lane));
}

Value LaneEvaluator::evaluate_read(const Program& program, const Node& node, const Batch& batch) {
    const ArrayId array{node.id};
    LaneBuffer<Offset> storage;
    if (node.offset) {
        const IndexLanes lanes = affine_lanes(*node.offset, batch, storage);
        if (lanes.affine()) return read_affine(array, lanes, batch.count);
    } else {
        storage = LaneBuffer<Offset>(offsets_);
        std::fill_n(storage.get(), batch.count, 0);
        for (std::size_t at = 0; at < node.index.size(); ++at)
            add_checked_index(program, node, at, batch, storage.get());
        const Offset* first = storage.get();
        if (std::all_of(first, first + batch.count, [&](Offset at) { return at == *first; }))
            return read_affine(array, {*first, 0, nullptr}, batch.count);
    }
    LaneBuffer<double> out(numbers_);
    fetch(array, {storage.get(), batch.count}, out.get());
    const double* values = out.get();
    return {0, values, std::move(out)};
}

Value LaneEvaluator::read_affine(ArrayId array, const IndexLanes& offsets, std::size_t count) {
    if (offsets.step == 0 || count == 1) {
        Value result;
        fetch(array, {&offsets.base, 1}, &result.scalar);
        return result;
    }
    const Dense dense = this->dense(array);
    if (dense.values != nullptr && offsets.step == 1)
        return {0, dense.values + (offsets.base - dense.origin), {}};
    LaneBuffer<double> out(numbers_);
    double* values = out.get();
    if (dense.values != nullptr) {
        for (std::size_t lane = 0; lane < count; ++lane)
            values[lane] = dense.values[offsets.at(lane) - dense.origin];
    } else {
        LaneBuffer<Offset> places(offsets_);
        for (std::size_t lane = 0; lane < count; ++lane) places.get()[lane] = offsets.at(lane);
        fetch(array, {places.get(), count}, values);
    }
    return {0, values, std::move(out)};
}

}  // namespace napkin::evaluation
