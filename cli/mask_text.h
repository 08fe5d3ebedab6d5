// Masks as people and programs read them.
#pragma once

#include <optional>
#include <string>

#include "cli/json.h"
#include "perfmodel/mask_report.h"

namespace napkin::cli {

/// What a mask's kernel transfers, in bytes: in all, and a head of every woven axis.
struct MaskBytes {
    std::int64_t total = 0;
    std::int64_t heads = 1;
};

/// The name of the kernel that the mask is in.
[[nodiscard]] std::string kernel_of(const State& state, const MaskReport& report);
[[nodiscard]] std::string mask_text(const State& state, const MaskReport& report,
                                    const std::optional<MaskBytes>& bytes);
/// `{statement, kernel, conditions[], data[], terms[], tiles, heads[], visited, ...}`.
[[nodiscard]] Json mask_json(const State& state, const MaskReport& report,
                             const std::optional<MaskBytes>& bytes);

}  // namespace napkin::cli
