// The numbers at which a comparison of an input's elements changes: random points never hit them.
#pragma once

#include <map>
#include <set>

#include "diagrams/diagram.h"

namespace napkin::proof {

using Boundaries = std::map<ArrayId, std::set<double>>;

/// Of every real input whose elements are compared with a literal, in a statement or in the rule of
/// a monoid: those literals. Where an element is multiplied first, 0 alone.
[[nodiscard]] Boundaries boundaries_of(const Diagram& diagram);

}  // namespace napkin::proof
