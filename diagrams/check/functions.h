// The functions that the language knows without a definition.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagrams/expression.h"

namespace napkin::checking {

struct KnownFunction {
    std::string_view name;
    Function function = Function::Exp;
    std::size_t arguments = 1;
    bool more = false;  ///< takes any greater number as well, combined from the left
};
/// `exp`, `max` and the like, called with parentheses.
[[nodiscard]] std::optional<KnownFunction> known_function(std::string_view name);
/// A binary operator's function, `not` and `-` excluded.
[[nodiscard]] std::optional<Function> binary_function(std::string_view op);
/// Names that no definition may take: functions, `size`, `topk`, `argmax`, types.
[[nodiscard]] bool is_built_in(std::string_view name);
/// Reductions to the place of an element, not to a value.
inline constexpr std::array<std::string_view, 2> kSelections = {"argmax", "argmin"};
[[nodiscard]] bool is_selection(std::string_view name);
/// All names that can be called, for suggestions.
[[nodiscard]] std::vector<std::string> built_in_names();

}  // namespace napkin::checking
