// The conditions of a mask, sorted.
#pragma once

#include "perfmodel/mask_report.h"

namespace napkin {

/// The terms whose union the conjunction of these conditions is, without those that never hold and
/// without what always does; one term of them as they are where there would be very many.
[[nodiscard]] std::vector<MaskTerm> terms_of(const Diagram& diagram,
                                             const std::vector<Expression>& conditions);

}  // namespace napkin
