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
#include "diagrams/evaluate/lanes.h"
#include "diagrams/evaluate/memo.h"
#include "diagrams/evaluate/program.h"

namespace napkin::evaluation {

using Offset = std::int64_t;

class Engine {
public:
    Engine(const Diagram& diagram, const Tensors& inputs);

    /// Elements of one array by their row-major offsets.
    void request(ArrayId array, std::span<const Offset> offsets, std::span<double> out);
    [[nodiscard]] const Diagram& diagram() const { return diagram_; }

private:
    /// The programs of one statement, made when it is first needed.
    struct Compiled {
        std::vector<Program> values;
        std::vector<Program> seed;
        std::vector<Program> combine;
        std::vector<Program> identity;
    };
    struct Source {
        std::vector<Offset> strides;
        Offset size = 1;
        const double* input = nullptr;  ///< values of an input
        double parameter = 0;           ///< a parameter's default, pointed to by `input`
        std::optional<StatementId> statement;
        Memo memo{0};
    };
    using Axes = std::vector<IndexLanes>;

    // engine.cpp
    void demand(ArrayId array, std::span<const Offset> offsets, double* out);
    void fetch(ArrayId array, std::span<const Offset> offsets, double* out);
    void fill_missing(ArrayId array, std::span<const Offset> offsets, double* out);
    [[nodiscard]] std::vector<Offset> missing(ArrayId array, std::span<const Offset> offsets) const;
    void compute(ArrayId array, std::span<const Offset> offsets, double* out);
    double store(ArrayId array, Offset offset, double value);
    const Compiled& compiled(StatementId id);
    void drop_if_large();

    // engine_statements.cpp
    void compute_map(ArrayId array, const Compiled& code, std::span<const Offset> offsets,
                     double* out);
    double compute_fold(ArrayId array, const Statement& statement, const Compiled& code,
                        Offset offset);
    double compute_scan(ArrayId array, const Statement& statement, const Compiled& code,
                        Offset offset);
    double compute_select(ArrayId array, const Statement& statement, const Compiled& code,
                          Offset offset);
    [[nodiscard]] Axes position_of(ArrayId array, Offset offset) const;
    [[nodiscard]] Offset offset_of(ArrayId array, const Axes& position) const;
    [[nodiscard]] std::vector<double> initial_state(const Fold& fold, const Compiled& code,
                                                    const Axes& position);
    void combine(MonoidId monoid, const Compiled& code, std::span<double> state,
                 std::span<const Value> values, std::size_t lane);
    void fold_lanes(const Fold& fold, const Compiled& code, const Batch& batch,
                    std::span<double> state);

    // engine_expressions.cpp
    [[nodiscard]] Value evaluate(const Program& program, NodeId id, const Batch& batch);
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

    const Diagram& diagram_;
    std::vector<Source> sources_;
    std::vector<std::optional<Compiled>> compiled_;
    LanePool<double> numbers_;
    LanePool<Offset> offsets_;
    std::int64_t kept_ = 0;  // bytes
    int depth_ = 0;
};

}  // namespace napkin::evaluation
