// Maxima that a chunk need not take in.
//
// What is kept relative to a gauge g is exact for any g (derive/accumulator.h): a maximum only
// keeps exponentials in range. Where it is *stale*, a chunk is first folded in relative to the
// maximum as it was: no maximum along the row, no repair, and exponentials that wait for nothing.
// Each warp then looks at its sums of the very weights that it made, which bound every one of them:
//
//     w = exp(S - g);  more = sum(x) w                  for the g of the chunk before
//     unless P_sum + more <= most in all its rows:      g' = max(x) S + log(most) where that
//     maximum is
//                                                       above g, and all of it again, with what is
//                                                       relative to g repaired
//
// Weights then begin at 1 / most, so that logits which rise from chunk to chunk leave the range
// after twice as long; f16 has no such small numbers, and its g' is the maximum itself.
//
// What is saved in the end must not depend on which number g is (schedule/gauge_degree.h): a
// quotient of two sums, g plus the logarithm of one, but not the maximum itself.
//
// A row in which nothing was visible yet has no g and takes the second way, and so does what is
// NaN. `most` leaves a state that sums weight times value in range for every value up to the
// largest float over four times `most`.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schedule/plan.h"
#include "schedule/program.h"

namespace napkin::schedule {

/// Those of what is streamed inside a chunk too.
[[nodiscard]] std::vector<Gauge> gauges_of(const Accumulator& accumulator);

/// The gauges that the schedule is wanted to keep stale, or why one cannot be.
[[nodiscard]] std::variant<std::vector<StaleGauge>, Refusal> stale_gauges(
    const RegionProgram& region, const Plan& plan, const RegionSchedule& wanted);

/// Why a program does not let its plan's stale gauges be: something stands between the operations
/// of one, or a state follows in a product.
[[nodiscard]] std::optional<Refusal> why_not_stale(const Program& program, const Plan& plan,
                                                   const RegionSchedule& wanted);

/// Whether an operation is carried out only where a stale gauge is replaced.
[[nodiscard]] bool is_rare(const Plan& plan, const Op& op);

}  // namespace napkin::schedule
