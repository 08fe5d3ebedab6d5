// Inputs of a diagram at a random point of the field pair.
#pragma once

#include "derive/interpret/device.h"
#include "derive/proof/field_domain.h"

namespace napkin::proof {

/// Reals are variables; whole numbers and conditions are drawn as for any validation.
[[nodiscard]] Grids<FieldValue> field_inputs(FieldDomain& domain, const Diagram& diagram,
                                             std::uint64_t seed);

}  // namespace napkin::proof
