// Deriving the accumulator of a streamed region from its expressions.
#pragma once

#include <map>
#include <variant>
#include <vector>

#include "derive/accumulator.h"

namespace napkin {

/// Derives the accumulator of `region` for streaming `axes`, or says why there is none. Statements
/// of the region that neither carry one of them nor depend on folds over them are left out: they
/// are computed before the loop. Axes that are streamed together are folded together.
///
/// `stored` holds wires kept in a narrower type than they are computed in (`retype`). A wire that
/// depends on a fold is never formed while chunks arrive; what is stored in its type is its
/// streamed part, `exp(S - m)` of a softmax, where that is a factor of a product which is folded.
[[nodiscard]] std::variant<Accumulator, NotApplicable> derive_accumulator(
    const Diagram& diagram, const Region& region, const std::vector<AxisId>& axes,
    const std::map<ArrayId, ElementType>& stored = {});

/// The accumulator of a region that streams these axes, outermost first: of all together, or else
/// of the first ones with the others streamed inside of their chunks.
[[nodiscard]] std::variant<Accumulator, NotApplicable> derive_streams(
    const Diagram& diagram, const Region& region, const std::vector<AxisId>& axes,
    const std::map<ArrayId, ElementType>& stored = {});

}  // namespace napkin
