// Left operands of products in 16 bits that are computed in pairs, two numbers an instruction, in
// the words that the tensor core takes.
//
// Such an operand is made of numbers of the product's type or of integers of 4 bits, which that
// type has all of; two neighbours along the depth at a time. An operation on two words rounds to 16
// bits, as the operand is rounded anyway: where just one on the way to the value rounds, pairs have
// the value that f32 would give.
#pragma once

#include <optional>
#include <vector>

#include "schedule/plan.h"
#include "schedule/program.h"

namespace napkin::schedule {

/// Whether an operation has a form for pairs.
[[nodiscard]] bool has_pair_form(Function function);

/// The computation of a product's left operand, where nothing else needs what it makes; null
/// elsewhere.
[[nodiscard]] const Compute* maker_of(const RegionProgram& region, const Plan& plan,
                                      LeafId product);

/// Whether a value that a computation makes for a product's left operand can be made in pairs.
[[nodiscard]] bool pairs_serve(const RegionProgram& region, const Plan& plan, const Compute& maker,
                               const Product& product, const Expression& value);

/// The value of a product's left operand, where it is computed in pairs.
[[nodiscard]] std::optional<Expression> paired_value(const RegionProgram& region, const Plan& plan,
                                                     const Program& program, LeafId product);

/// The product whose left operand an operation on elements makes in pairs.
[[nodiscard]] std::optional<LeafId> paired_product(const RegionProgram& region, const Plan& plan,
                                                   const Program& program, const Op& op);

/// The elements of which a paired value is made, each once.
[[nodiscard]] std::vector<Expression> elements_read(const Expression& value);

/// The variable through which a computation reads an array, if it does.
[[nodiscard]] std::optional<VariableId> variable_read(const RegionProgram& region,
                                                      const Compute& compute, ArrayId array);

}  // namespace napkin::schedule
