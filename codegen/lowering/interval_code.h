// Integer reasoning about the block's current part of its axes, printed as code: bounds of indices,
// and what index/mask.h knows of masks in closed form.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "codegen/lowering/scope.h"
#include "diagrams/index/mask.h"

namespace napkin::lowering {

struct IntervalCode {
    IndexForm low;
    IndexForm high;
};

/// Starts of chunks in arithmetic progression: from `first` to below `end`, `step` apart.
struct ChunkProgression {
    IndexForm first;
    IndexForm end;
    std::int64_t step = 0;
    kernel::Expression when = true;  ///< where it has any
    /// Of a step of several chunks: the start from which they are counted, which may lie before it.
    std::optional<IndexForm> origin;
};

class IntervalPrinter {
public:
    /// The least and the greatest of the elements that a read means in the block's part.
    using Elements = std::function<std::optional<IntervalCode>(const Read&)>;

    /// `sizes` gives the size of every axis, by axis.
    IntervalPrinter(const std::vector<Axis>& axes, const AxisRanges& ranges,
                    const std::vector<IndexForm>& sizes, Elements elements = {})
        : axes_(axes), ranges_(ranges), sizes_(sizes), elements_(std::move(elements)) {}

    /// Bounds of an integer expression; nullopt where it depends on data.
    [[nodiscard]] std::optional<IntervalCode> bounds(const Expression& expression) const;
    /// Code that is true unless the conditions hold nowhere; parts of it are declared first.
    [[nodiscard]] kernel::Expression may_hold(const std::vector<Expression>& conditions,
                                              Names& names, kernel::Body& body) const;
    /// Code that is true only if the condition holds everywhere.
    [[nodiscard]] kernel::Expression must_hold(const Expression& condition, Names& names,
                                               kernel::Body& body) const;
    /// The chunks in which the conditions may hold, of the axis' present part; nullopt where they
    /// are no progressions.
    [[nodiscard]] std::optional<std::vector<ChunkProgression>> chunks(
        const std::vector<Expression>& conditions, AxisId axis, std::int64_t size, Names& names,
        kernel::Body& body) const;

private:
    struct Linear;
    [[nodiscard]] bool add_linear(const Expression& expression, std::int64_t factor,
                                  Linear& sum) const;
    [[nodiscard]] std::optional<IntervalCode> nonlinear(const Expression& expression) const;
    [[nodiscard]] std::optional<IntervalCode> quotient(const Apply& call) const;
    [[nodiscard]] std::vector<IntervalCode> ends_of(const index::Mask& mask) const;
    [[nodiscard]] index::Mask mask_of(const std::vector<Expression>& conditions) const;

    const std::vector<Axis>& axes_;
    const AxisRanges& ranges_;
    const std::vector<IndexForm>& sizes_;
    Elements elements_;
};

}  // namespace napkin::lowering
