// The machinery behind Evaluator.
//
// Work is demanded element by element: `fetch` gives elements of an array, computing those that are
// not known yet by evaluating the defining statement for exactly these. Statements cannot be
// mutually recursive, so the depth of this recursion is at most the length of a chain of
// statements; `demand` bounds it. Where a chain is deeper than the bound, the innermost request is
// thrown to `demand`, computed from the bottom of the stack, and the interrupted request started
// again: it now finds the answer. Kept elements are dropped when they take too much memory; they
// are only a cache.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "diagrams/evaluate.h"
#include "diagrams/evaluate/lane_evaluator.h"
#include "diagrams/evaluate/memo.h"

namespace napkin::evaluation {

class Engine final : LaneEvaluator {
public:
    Engine(const Diagram& diagram, const Tensors& inputs);

    /// Elements of one array by their row-major offsets.
    void request(ArrayId array, std::span<const Offset> offsets, std::span<double> out);
    [[nodiscard]] const Diagram& diagram() const { return diagram_; }

private:
    struct Source {
        Offset size = 1;
        const double* input = nullptr;  ///< values of an input
        double parameter = 0;           ///< a parameter's default, pointed to by `input`
        std::optional<StatementId> statement;
        Memo memo{0};
    };
    using Axes = std::vector<IndexLanes>;

    // engine.cpp
    void demand(ArrayId array, std::span<const Offset> offsets, double* out);
    void fetch(ArrayId array, std::span<const Offset> offsets, double* out) override;
    [[nodiscard]] Dense dense(ArrayId array) const override {
        return {sources_[array.index()].input, 0};
    }
    void fill_missing(ArrayId array, std::span<const Offset> offsets, double* out);
    [[nodiscard]] std::vector<Offset> missing(ArrayId array, std::span<const Offset> offsets) const;
    void compute(ArrayId array, std::span<const Offset> offsets, double* out);
    double store(ArrayId array, Offset offset, double value);
    const CompiledStatement& compiled(StatementId id);
    void drop_if_large();

    // engine_statements.cpp
    void compute_map(ArrayId array, const CompiledStatement& code, std::span<const Offset> offsets,
                     double* out);
    double compute_fold(ArrayId array, const Statement& statement, const CompiledStatement& code,
                        Offset offset);
    double compute_scan(ArrayId array, const Statement& statement, const CompiledStatement& code,
                        Offset offset);
    double compute_select(ArrayId array, const Statement& statement, const CompiledStatement& code,
                          Offset offset);
    [[nodiscard]] Axes position_of(ArrayId array, Offset offset) const;
    [[nodiscard]] Offset offset_of(ArrayId array, const Axes& position) const;

    std::vector<Source> sources_;
    std::vector<std::vector<Offset>> strides_;  ///< of every array
    std::vector<std::optional<CompiledStatement>> compiled_;
    std::int64_t kept_ = 0;  // bytes
};

}  // namespace napkin::evaluation
