// Exact formulas in lines that fit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace napkin {

/// A printed formula in lines of so many columns, broken at the outermost commas and operators that
/// each line has.
[[nodiscard]] std::vector<std::string> wrapped_formula(std::string_view text, std::size_t columns);

}  // namespace napkin
