// Identifiers of printed code. Every name that a user gives (of diagrams, axes, arrays, parameters)
// reaches kernels, launchers and operators through here.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace napkin {

/// Identifiers that differ from each other and from what the code around them means by a word.
class Names {
public:
    /// Of kernels for a target: apart from words and macros of C++ and CUDA, from what the device
    /// primitives declare, and from variables that the target's kernels always name alike.
    [[nodiscard]] static Names of_kernel(const std::string& target);
    /// Of launchers in C and operators in Python.
    [[nodiscard]] static Names of_export();
    /// Of files beside these, which would be found in place of a header or a module.
    [[nodiscard]] static Names of_export_files();

    /// `wanted` made an identifier, with a number when it is taken.
    [[nodiscard]] std::string fresh(const std::string& wanted);
    /// Whether none of the names is taken; `fresh` of each would then give it unchanged.
    [[nodiscard]] bool are_free(const std::vector<std::string>& names) const;
    [[nodiscard]] static std::string identifier(const std::string& text);

private:
    std::set<std::string> taken_;
};

}  // namespace napkin
