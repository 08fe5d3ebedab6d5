// Names of symbols, for people and for JSON: `q`, `g_q`, `s_x`, below the block level `g_q@warps`,
// in sums `i_q` and `j_x`, and `bits(bf16)`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagrams/symbol.h"

namespace napkin {

struct Axis;

/// Names that are all different: where an axis is itself called `g_q`, the size of a group of `q`
/// is written with its level, `g_q@block`, which no axis can be called.
class SymbolNames {
public:
    SymbolNames() = default;
    explicit SymbolNames(const std::vector<Axis>& axes);
    [[nodiscard]] std::string operator()(Symbol symbol) const;
    /// The same where axes are called otherwise.
    [[nodiscard]] SymbolNames renamed(const std::map<std::string, std::string>& names) const;

private:
    std::vector<std::string> axes_;  ///< by id
};

}  // namespace napkin
