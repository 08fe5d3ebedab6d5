// What people type who come from NumPy, PyTorch or C, and how the language says it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace napkin::checking {

struct OtherSpelling {
    std::string_view word;
    std::string_view statement;  ///< the same in the language, over arrays X, A, B, C, I
};
/// All of them; each statement checks (see tests/check/errors_test.cpp).
[[nodiscard]] const std::vector<OtherSpelling>& other_spellings();
/// How to write what the word means elsewhere; empty where it means nothing that is known.
[[nodiscard]] std::string written_here(std::string_view word);

}  // namespace napkin::checking
