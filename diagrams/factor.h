// Polynomials as products: `bkc(g_y + r - 1)(g_x + s - 1)/g_c` says at a glance what its nine terms
// do not.
#pragma once

#include <string>
#include <vector>

#include "diagrams/formula.h"
#include "diagrams/symbol_names.h"

namespace napkin {

/// Polynomials whose product it is: first one of a single term, then sums that share no symbols and
/// come apart no further. A single term is itself.
[[nodiscard]] std::vector<Polynomial> factors_of(const Polynomial& polynomial);
/// Whether that is a sum of several terms with a factor, or several sums.
[[nodiscard]] bool is_product(const std::vector<Polynomial>& factors);
/// As `print` does, but as a product where `factors_of` finds sums.
[[nodiscard]] std::string print_factored(const Polynomial& polynomial, const SymbolNames& names,
                                         const std::vector<Symbol>& order = {});
/// A sum of which some parts are known: those that are products stand as such, the rest as terms.
struct SumInParts {
    Polynomial rest;
    std::vector<Polynomial> products;
};
[[nodiscard]] SumInParts in_parts(const Polynomial& sum, const std::vector<Polynomial>& parts);
[[nodiscard]] std::string print_in_parts(const Polynomial& sum,
                                         const std::vector<Polynomial>& parts,
                                         const SymbolNames& names,
                                         const std::vector<Symbol>& order = {});

}  // namespace napkin
