// How values follow when the gauge that states are kept relative to is another number.
//
// With a gauge g + e in place of g, a state that is relative to it is exp(-e) times what it was,
// and the gauge itself e more. A value of *weight* w is then exp(-w e) times, one of *shift* a is a
// e more: a quotient of two sums has neither, nor has g plus the logarithm of a sum. What has
// neither is the same whichever number the gauge is.
#pragma once

#include <map>
#include <optional>

#include "diagrams/diagram.h"

namespace napkin::schedule {

struct GaugeDegree {
    double weight = 0;
    double shift = 0;
    bool operator==(const GaugeDegree&) const = default;
};
/// Of arrays; those that are not there have neither, and those without a value follow in no such
/// way.
using GaugeDegrees = std::map<ArrayId, std::optional<GaugeDegree>>;

/// Nothing where it follows in another way.
[[nodiscard]] std::optional<GaugeDegree> degree_of(const Expression& expression,
                                                   const GaugeDegrees& degrees);
/// Of what a statement computes.
[[nodiscard]] std::optional<GaugeDegree> degree_of(const Statement& statement,
                                                   const GaugeDegrees& degrees);

}  // namespace napkin::schedule
