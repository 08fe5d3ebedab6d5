// Expressions of kernels with what is known of their values, and how values of element types are
// read, rounded and stored.
#pragma once

#include <optional>

#include "codegen/index_form.h"
#include "codegen/kernel_program.h"

namespace napkin::lowering {

/// What sort of number an expression is in the kernel.
enum class Sort { Boolean, Integer, Real };
[[nodiscard]] Sort sort_of(ElementType type);

/// An expression with what is known of its value.
struct Code {
    kernel::Expression value = 0;
    Sort sort = Sort::Real;
    bool wide = false;               ///< a 64-bit integer
    Interval range = kAny64;         ///< of an integer's values
    std::optional<IndexForm> index;  ///< of an integer, where it is a sum of terms
    std::optional<double> constant;  ///< where it is known
    std::optional<IndexForm> place;  ///< of `buffer[place]`
    bool finite = false;             ///< certainly no infinity
    bool guarded = false;            ///< came from `guard`: subtracting it needs no convention
    bool factor = false;             ///< certainly neither infinite nor zero
};

/// A real number of which nothing is known, or that it is no infinity.
[[nodiscard]] Code real_code(kernel::Expression value, bool finite = false);
/// An integer that is a sum of multiples of names.
[[nodiscard]] Code index_code(IndexForm form);
/// Any integer as such a sum, of itself if need be.
[[nodiscard]] IndexForm form_of(const Code& code);
/// An integer that stands in a variable or is a call.
[[nodiscard]] Code integer_code(kernel::Expression value, const Interval& range, bool wide = false);
/// Whether no convention of a product matters beside it.
[[nodiscard]] bool harmless_factor(const Code& code);
[[nodiscard]] Code infix(kernel::Operator operation, const Code& a, const Code& b, Sort sort);
/// `float`, `i64` or `bool`.
[[nodiscard]] kernel::Type type_of(Sort sort);
/// The same, but `int` of an integer that 32 bits hold.
[[nodiscard]] kernel::Type type_of(const Code& code);
/// The code as a number of another sort.
[[nodiscard]] Code as_sort(const Code& code, Sort sort);
[[nodiscard]] Code real_constant(double value);
/// A value as what a tile or array of a type holds.
[[nodiscard]] kernel::Expression stored(const Code& value, ElementType type);
/// A value rounded to a type, as a real or integer.
[[nodiscard]] Code rounded(const Code& value, ElementType type);
/// What an element of a type means, read from `place`.
[[nodiscard]] Code loaded(const kernel::Expression& place, ElementType type);

}  // namespace napkin::lowering
