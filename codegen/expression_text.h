// Expressions as text, with the parentheses they need and the places where a line may end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/kernel_tree.h"

namespace napkin::kernel {

/// Where a text may be broken, looser kinds first.
struct Break {
    enum class Kind { Or, And, Sum, Argument, Question, Colon };
    std::size_t at = 0;  ///< of the space that a new line takes the place of
    Kind kind = Kind::Sum;
    int depth = 0;  ///< of parentheses around it
};

/// An expression's text. A function's ends with the brace that its body stands behind.
struct Text {
    std::string text;
    std::vector<Break> breaks;
    /// Of a call: where its arguments begin.
    std::size_t arguments = std::string::npos;
};

[[nodiscard]] Text text_of(const Expression& expression);
/// The same on one line.
[[nodiscard]] std::string print(const Expression& expression);
[[nodiscard]] std::string print(const Entity& entity);
/// Columns that it takes on one line.
[[nodiscard]] std::size_t width_of(const Expression& expression);

}  // namespace napkin::kernel
