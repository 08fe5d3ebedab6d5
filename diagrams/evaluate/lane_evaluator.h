// Expressions over lanes, of elements that whoever derives from it provides. A branch is evaluated
// only for the lanes that take it.
#pragma once

#include <span>

#include "diagrams/evaluate.h"
#include "diagrams/evaluate/lanes.h"
#include "diagrams/evaluate/program.h"

namespace napkin::evaluation {

using Offset = std::int64_t;

/// Where an array's elements lie: that at an offset at `values[offset - origin]`.
struct Dense {
    const double* values = nullptr;
    Offset origin = 0;
};

class LaneEvaluator {
protected:
    using Exponentials = void (*)(const double* values, std::size_t count, double* out);
    explicit LaneEvaluator(const Diagram& diagram, Exponentials exponentials = one_by_one)
        : diagram_(diagram), exponentials_(exponentials) {}
    ~LaneEvaluator() = default;
    LaneEvaluator(const LaneEvaluator&) = delete;
    LaneEvaluator& operator=(const LaneEvaluator&) = delete;

    /// Elements by offsets in the strides that programs were compiled with.
    virtual void fetch(ArrayId array, std::span<const Offset> offsets, double* out) = 0;
    /// Null where elements must be fetched.
    [[nodiscard]] virtual Dense dense(ArrayId array) const = 0;

    [[nodiscard]] Value evaluate(const Program& program, NodeId id, const Batch& batch);
    [[nodiscard]] Value evaluate(const Program& program, const Batch& batch) {
        return evaluate(program, program.root(), batch);
    }

    // lane_folds.cpp
    /// Of a fold at a position with one lane.
    [[nodiscard]] std::vector<double> initial_state(const Fold& fold, const CompiledStatement& code,
                                                    std::span<const IndexLanes> position);
    /// Takes one lane of the values into the state.
    void combine(MonoidId monoid, const CompiledStatement& code, std::span<double> state,
                 std::span<const Value> values, std::size_t lane);
    /// Takes the values of all lanes into the state.
    void fold_lanes(const Fold& fold, const CompiledStatement& code, const Batch& batch,
                    std::span<double> state);
    [[nodiscard]] static double sum_lanes(double start, const Value& value, std::size_t count);
    /// Which values are the largest, in order, ties to the lowest.
    [[nodiscard]] static std::vector<std::int64_t> ranking(const std::vector<double>& values,
                                                           std::int64_t ranks);

    const Diagram& diagram_;
    LanePool<double> numbers_;
    LanePool<Offset> offsets_;
    int depth_ = 0;  ///< of nested calls

private:
    /// By the C library.
    static void one_by_one(const double* values, std::size_t count, double* out);
    [[nodiscard]] Value evaluate_apply(const Program& program, const Node& node,
                                       const Batch& batch);
    [[nodiscard]] Value evaluate_choice(const Program& program, const Node& node,
                                        const Batch& batch);
    void evaluate_part(const Program& program, NodeId id, const Batch& batch,
                       std::span<const std::size_t> chosen, double* out);
    [[nodiscard]] Value evaluate_read(const Program& program, const Node& node, const Batch& batch);
    [[nodiscard]] Value read_affine(ArrayId array, const IndexLanes& offsets, std::size_t count);
    [[nodiscard]] IndexLanes affine_lanes(const Affine& form, const Batch& batch,
                                          LaneBuffer<Offset>& storage);
    void add_checked_index(const Program& program, const Node& node, std::size_t dimension,
                           const Batch& batch, Offset* offsets);

    Exponentials exponentials_;
};

}  // namespace napkin::evaluation
