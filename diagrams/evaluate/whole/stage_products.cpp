// Sums of products as products of matrices.
//
// Infinities and NaN do not pass through: the language gives 0 * inf and inf - inf another meaning
// than the machine. Where an operand or a result holds one, that piece is summed element by
// element.
#include <algorithm>
#include <cmath>

#include "diagrams/evaluate/arithmetic.h"
#include "diagrams/evaluate/whole/stage_runner.h"
#include "diagrams/evaluate/whole/vectorised.h"

namespace napkin::evaluation {
namespace {

/// Values of an operand, or of a product: larger ones are computed in pieces.
constexpr std::int64_t kMostValues = std::int64_t{1} << 21;

std::int64_t places(const std::vector<IndexRange>& ranges) {
    std::int64_t count = 1;
    for (const IndexRange& range : ranges) count *= range.count;
    return count;
}

bool all_finite(const std::vector<double>& values) {
    return !std::isnan(
        sum_in_strands(values.data(), values.size(), [](double x) { return x - x; }));
}

std::vector<IndexRange> joined(std::vector<IndexRange> outer,
                               const std::vector<IndexRange>& inner) {
    outer.insert(outer.end(), inner.begin(), inner.end());
    return outer;
}

}  // namespace

void StageRunner::compute_sum(const Part& part, const Fold& fold,
                              const StagePrograms::OfPart& programs) {
    const ArrayId target = diagram_[part.statement].targets.front();
    Held& sums = held_.at(target);
    const Ranges kept = ranges_of(part, diagram_[target].axes);
    const Ranges folded = ranges_of(part, fold.over);
    if (fold.seed.empty())
        std::fill(sums.values.begin(), sums.values.end(), 0.0);
    else
        fill(programs.code.seed.front(), kept, sums.values.data());
    for (const StagePrograms::Term& term : programs.terms) {
        const Extent extent{ranges_of(part, term.term->rows), ranges_of(part, term.term->columns),
                            folded};
        for_each_index(ranges_of(part, term.term->batch),
                       [&] { add_product(term, extent, target); });
    }
    for (const Program& rest : programs.rest) add_elements(rest, {kept, {}, folded}, target);
}

void StageRunner::add_product(const StagePrograms::Term& term, const Extent& extent,
                              ArrayId target) {
    const ProductShape shape{places(extent.rows), places(extent.columns), places(extent.folded)};
    const std::int64_t most = std::max(
        {shape.rows * shape.depth, shape.columns * shape.depth, shape.rows * shape.columns});
    if (most > kMostValues) {
        Extent halves[2] = {extent, extent};
        const bool rows = shape.rows >= std::max(shape.columns, shape.depth);
        Ranges Extent::*const longest = rows                           ? &Extent::rows
                                        : shape.columns >= shape.depth ? &Extent::columns
                                                                       : &Extent::folded;
        for (std::size_t at = 0; at < (extent.*longest).size(); ++at) {
            const std::int64_t count = (extent.*longest)[at].count;
            if (count == 1) continue;
            (halves[0].*longest)[at].count = count / 2;
            (halves[1].*longest)[at].low += count / 2;
            (halves[1].*longest)[at].count -= count / 2;
            break;
        }
        for (const Extent& half : halves) add_product(term, half, target);
        return;
    }
    left_.resize(static_cast<std::size_t>(shape.rows * shape.depth));
    right_.resize(static_cast<std::size_t>(shape.columns * shape.depth));
    product_.resize(static_cast<std::size_t>(shape.rows * shape.columns));
    const std::vector<IndexLanes> position = axes_;
    fill(term.left,
         term.left_transposed ? joined(extent.folded, extent.rows)
                              : joined(extent.rows, extent.folded),
         left_.data());
    fill(term.right,
         term.right_transposed ? joined(extent.columns, extent.folded)
                               : joined(extent.folded, extent.columns),
         right_.data());
    axes_ = position;
    bool finite = all_finite(left_) && all_finite(right_);
    if (finite) {
        multiply({left_.data(), term.left_transposed}, {right_.data(), term.right_transposed},
                 shape, product_.data());
        finite = all_finite(product_);
    }
    if (!finite) return add_elements(term.both, extent, target);
    const std::vector<Offset> rows = offsets_along(target, extent.rows);
    const std::vector<Offset> columns = offsets_along(target, extent.columns);
    Held& held = held_.at(target);
    Offset batch = -held.origin;
    for (const AxisId axis : term.term->batch)
        batch += offsets_along(target, {{axis, axes_[axis.index()].base, 1}}).front();
    double* const sums = held.values.data();
    const double* product = product_.data();
    for (const Offset row : rows)
        for (const Offset column : columns) {
            double& sum = sums[batch + row + column];
            sum = arithmetic::add(sum, *product++);
        }
}

void StageRunner::add_elements(const Program& program, const Extent& extent, ArrayId target) {
    const std::vector<IndexLanes> position = axes_;
    for_each_index(joined(extent.rows, extent.columns), [&] {
        double sum = 0;
        for_each_batch(extent.folded, axes_, offsets_, [&](std::size_t count) {
            sum = sum_lanes(sum, evaluate(program, {count, axes_, {}}), count);
        });
        double& total = element(target);
        total = arithmetic::add(total, sum);
    });
    axes_ = position;
}

}  // namespace napkin::evaluation
