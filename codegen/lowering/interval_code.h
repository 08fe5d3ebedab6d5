// Interval reasoning about masks, printed as integer code: whether a condition may hold somewhere
// in the block's current part of its axes, and whether it holds everywhere there.
#pragma once

#include <optional>

#include "codegen/lowering/scope.h"

namespace napkin::lowering {

struct IntervalCode {
    IndexForm low;
    IndexForm high;
};

class IntervalPrinter {
public:
    /// `sizes` gives the size of every axis, by axis.
    IntervalPrinter(const AxisRanges& ranges, const std::vector<IndexForm>& sizes)
        : ranges_(ranges), sizes_(sizes) {}

    /// Bounds of an integer expression; nullopt where it depends on data.
    [[nodiscard]] std::optional<IntervalCode> bounds(const Expression& expression) const;
    /// Code that is true unless the condition holds nowhere.
    [[nodiscard]] kernel::Expression may_hold(const Expression& condition) const;
    /// Code that is true only if the condition holds everywhere.
    [[nodiscard]] kernel::Expression must_hold(const Expression& condition) const;

private:
    struct Linear;
    [[nodiscard]] bool add_linear(const Expression& expression, std::int64_t factor,
                                  Linear& sum) const;
    [[nodiscard]] std::optional<IntervalCode> nonlinear(const Expression& expression) const;
    [[nodiscard]] std::optional<IntervalCode> quotient(const Apply& call) const;
    [[nodiscard]] std::optional<IntervalCode> compared(const Apply& call) const;
    [[nodiscard]] kernel::Expression decide(const Expression& condition, bool everywhere) const;

    const AxisRanges& ranges_;
    const std::vector<IndexForm>& sizes_;
};

}  // namespace napkin::lowering
