// Whether the newer of two targets is known to be the slower one for a region.
#pragma once

#include <optional>
#include <string>

#include "schedule/program.h"

namespace napkin::schedule {

/// Why warp groups would take longer for a scheduled region than warps do; nothing where they are
/// not known to. A rule from measurements on an H200 (bench/results), until times of both targets
/// are predicted: an operand of a product in a loop comes by threads that copy it, or is computed
/// by the whole block in its own turn.
[[nodiscard]] std::optional<std::string> why_slower(const Program& program);

}  // namespace napkin::schedule
