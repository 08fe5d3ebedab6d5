// Formulas as trees of JSON, which a page can evaluate and set.
//
// A tree is a number, the name of a symbol, or an array of an operation and its trees:
// `["*", 2, "q", "d"]`. Operations are `+ * / ^`, `floor ceil mod` of two (rounded quotients and
// the rest), `min max`, `<=` (1 where it holds, else 0) and `["sum", index, from, to, term]`, the
// bounds included.
#pragma once

#include "cli/json.h"
#include "diagrams/formula.h"
#include "diagrams/symbol_names.h"
#include "perfmodel/cost.h"

namespace napkin::cli {

[[nodiscard]] Json tree_of(const Formula& formula, const SymbolNames& names);
/// Terms and factors stand as they are printed, `parts` that are products as such.
[[nodiscard]] Json tree_of(const Polynomial& polynomial, const SymbolNames& names,
                           const std::vector<Symbol>& order,
                           const std::vector<Polynomial>& parts = {});
/// `{values, bytes, ideal, leads, exact, bits, ideal_bits}`: numbers, then trees: of values in the
/// paper's form (null where there is none; whether it lacks lesser terms), of values and of bits
/// exactly, of bits in the paper's form.
[[nodiscard]] Json tree_of(const Amount& amount, const SymbolNames& names,
                           const std::vector<Symbol>& order,
                           const std::vector<Polynomial>& parts = {});

}  // namespace napkin::cli
