// Computes a stage's blocks.
#pragma once

#include <memory>
#include <vector>

#include "diagrams/evaluate.h"
#include "diagrams/evaluate/batches.h"
#include "diagrams/evaluate/lane_evaluator.h"
#include "diagrams/evaluate/whole/plan.h"

namespace napkin::evaluation {

/// Where every array's elements are known to lie; null for the others. By ArrayId.
using KnownArrays = std::vector<const double*>;

/// What all threads that compute a stage share.
struct StagePrograms {
    struct Term {
        const ProductTerm* term = nullptr;
        Program left;
        Program right;
        Program both;                   ///< their product, for what matrices do not serve
        bool left_transposed = false;   ///< filled with the folded axes outside
        bool right_transposed = false;  ///< filled with the columns outside
    };
    struct OfPart {
        CompiledStatement code;
        std::vector<Term> terms;
        std::vector<Program> rest;  ///< at most one
    };
    StagePrograms(const Diagram& diagram, const Stage& stage);

    Strides strides;  ///< of whole arrays, and of blocks of what the stage computes
    std::vector<OfPart> parts;
};

/// One thread's.
class StageRunner final : LaneEvaluator {
public:
    /// `outputs` are those of the stage's roots.
    StageRunner(const Diagram& diagram, const Stage& stage, const StagePrograms& programs,
                const KnownArrays& known, Tensors& outputs);
    /// Computes one of the stage's blocks and puts it into the outputs.
    void run(std::int64_t block);

private:
    using Ranges = std::vector<IndexRange>;
    struct Held {
        std::vector<double> values;
        Offset origin = 0;
    };
    /// The indices of a product of matrices.
    struct Extent {
        Ranges rows;
        Ranges columns;
        Ranges folded;
    };

    void fetch(ArrayId array, std::span<const Offset> offsets, double* out) override;
    [[nodiscard]] Dense dense(ArrayId array) const override;

    void set_block(std::int64_t block);
    [[nodiscard]] std::vector<std::int64_t> key_of(const Part& part) const;
    [[nodiscard]] Ranges ranges_of(const Part& part, const std::vector<AxisId>& axes) const;
    /// Makes room for a block of an array.
    void hold(const Part& part, ArrayId array);
    void keep_roots();

    // Each kind of statement, into blocks of its targets.
    void compute(const Part& part, const StagePrograms::OfPart& programs);
    void fill(const Program& program, const Ranges& ranges, double* out);
    void compute_fold(const Part& part, const Fold& fold, const CompiledStatement& code);
    void compute_scan(const Part& part, const Fold& fold, const CompiledStatement& code);
    void compute_select(const Part& part, const Select& select, const CompiledStatement& code);
    /// Calls `visit` with the lanes of `axes_` at every index of the ranges.
    template <class Visitor>
    void for_each_index(const Ranges& ranges, const Visitor& visit) {
        std::int64_t total = 1;
        for (const IndexRange& range : ranges) {
            axes_[range.axis.index()] = {range.low, 0, nullptr};
            total *= range.count;
        }
        for (std::int64_t at = 0; at < total; ++at) {
            visit();
            for (std::size_t inner = ranges.size(); inner-- > 0;) {
                std::int64_t& index = axes_[ranges[inner].axis.index()].base;
                if (++index < ranges[inner].low + ranges[inner].count) break;
                index = ranges[inner].low;
            }
        }
    }
    [[nodiscard]] double& element(ArrayId array);

    // stage_products.cpp
    void compute_sum(const Part& part, const Fold& fold, const StagePrograms::OfPart& programs);
    void add_product(const StagePrograms::Term& term, const Extent& extent, ArrayId target);
    void add_elements(const Program& program, const Extent& extent, ArrayId target);
    [[nodiscard]] std::vector<Offset> offsets_along(ArrayId array, const Ranges& ranges) const;

    const Stage& stage_;
    const StagePrograms& programs_;
    const KnownArrays& known_;
    Tensors& outputs_;
    std::vector<std::int64_t> origin_;  ///< of the block, a dimension of the roots each
    std::vector<std::int64_t> first_;   ///< the first index that no block before has
    std::map<ArrayId, Held> held_;
    std::vector<std::optional<std::vector<std::int64_t>>> keys_;  ///< of what each part holds
    std::vector<IndexLanes> axes_;
    std::vector<double> left_;
    std::vector<double> right_;
    std::vector<double> product_;
};

}  // namespace napkin::evaluation
