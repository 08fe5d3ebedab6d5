// Machines as pictures: their levels and what connects them.
#pragma once

#include "diagrams/drawing/hierarchy.h"
#include "perfmodel/machine.h"

namespace napkin::cli {

/// The levels of a machine from far to near, the tensor core beside the nearest one.
[[nodiscard]] drawing::Hierarchy hierarchy_of(const Machine& machine);

}  // namespace napkin::cli
