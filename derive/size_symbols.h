// The symbols that stand for group and stream sizes in formulas: `g_q`, `s_x` at l1, `g_q@warps`
// below.
#pragma once

#include <string>

#include "diagrams/relabelling.h"

namespace napkin {

/// The symbol of a group's size; other levels than `block` follow an `@`.
[[nodiscard]] inline std::string group_symbol(const std::string& axis, Level level) {
    return "g_" + axis + (level == Level::Block ? "" : "@" + std::string(name_of(level)));
}
/// The symbol of a stream's chunk size.
[[nodiscard]] inline std::string stream_symbol(const std::string& axis, Level level) {
    return "s_" + axis + (level == Level::Block ? "" : "@" + std::string(name_of(level)));
}

}  // namespace napkin
