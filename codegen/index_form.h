// Integer index expressions of generated code, kept as sums of constant multiples of names so that
// `x0 + ix - x0` prints as `ix`.
//
// Every name comes with the range of its values. So every form knows its own, and prints in 64 bits
// exactly what 32 bits may not hold: a product or a partial sum that could leave them begins with
// `i64(...)`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/kernel_tree.h"
#include "diagrams/integer_range.h"

namespace napkin {

/// What a sum is made of; the same expression is the same value.
struct IndexAtom {
    kernel::Expression value;
    Interval range;
    bool wide = false;  ///< of a 64-bit type
    bool operator==(const IndexAtom& other) const { return value == other.value; }
};

/// constant + sum of coefficient * atom.
struct IndexForm {
    std::int64_t constant = 0;
    std::vector<std::pair<IndexAtom, std::int64_t>> terms;  ///< in the order first added

    IndexForm() = default;
    IndexForm(std::int64_t value) : constant(value) {}  // NOLINT(google-explicit-constructor)
    bool operator==(const IndexForm&) const = default;
    [[nodiscard]] bool is_constant() const { return terms.empty(); }
    [[nodiscard]] bool is_constant(std::int64_t value) const {
        return terms.empty() && constant == value;
    }
};

/// What the range needs 64 bits for has them, `wide` or not.
[[nodiscard]] IndexForm index_atom(kernel::Expression value, const Interval& range,
                                   bool wide = false);
[[nodiscard]] IndexForm index_atom(std::string name, const Interval& range, bool wide = false);
[[nodiscard]] Interval range_of(const IndexForm& a);
/// Whether what is printed is of a 64-bit type.
[[nodiscard]] bool is_wide(const IndexForm& a);
/// `int`, or `i64` where the form prints so.
[[nodiscard]] kernel::Type type_of(const IndexForm& a);
[[nodiscard]] IndexForm operator+(const IndexForm& a, const IndexForm& b);
[[nodiscard]] IndexForm operator-(const IndexForm& a, const IndexForm& b);
[[nodiscard]] IndexForm operator*(const IndexForm& a, std::int64_t factor);
[[nodiscard]] IndexForm operator*(const IndexForm& a, const IndexForm& b);
/// Rounded down.
[[nodiscard]] IndexForm floor_divide(const IndexForm& a, const IndexForm& divisor);
/// Rounded up; `a` is not negative.
[[nodiscard]] IndexForm ceil_divide(const IndexForm& a, std::int64_t divisor);
[[nodiscard]] IndexForm modulo(const IndexForm& a, const IndexForm& divisor);
[[nodiscard]] IndexForm minimum(const IndexForm& a, const IndexForm& b);
[[nodiscard]] IndexForm maximum(const IndexForm& a, const IndexForm& b);
[[nodiscard]] IndexForm absolute(const IndexForm& a);
/// BitAnd, BitOr, BitXor, ShiftLeft or ShiftRight of two.
[[nodiscard]] IndexForm bit_operation(Function function, const IndexForm& a, const IndexForm& b);
/// To a power that is not negative.
[[nodiscard]] IndexForm power(const IndexForm& a, std::int64_t exponent);

/// `x0 * 64 + ix - 2`.
[[nodiscard]] kernel::Expression expression_of(const IndexForm& a);
/// The same, of a 64-bit type where `wide`.
[[nodiscard]] kernel::Expression expression_as(const IndexForm& a, bool wide);
[[nodiscard]] std::string print(const IndexForm& a);

}  // namespace napkin
