// Pieces of C++ with what is known of their values, and how values of element types are read,
// rounded and stored.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/index_form.h"
#include "codegen/kernel_program.h"

namespace napkin::lowering {

/// C++'s operator precedences, tighter ones higher.
namespace precedence {
inline constexpr int kPrimary = 16;
inline constexpr int kUnary = 15;
inline constexpr int kProduct = 13;
inline constexpr int kSumLevel = 12;
inline constexpr int kRelation = 10;
inline constexpr int kEquality = 9;
inline constexpr int kAnd = 5;
inline constexpr int kOr = 4;
inline constexpr int kChoice = 3;
}  // namespace precedence

/// What sort of number an expression is in the kernel.
enum class Sort { Boolean, Integer, Real };
[[nodiscard]] Sort sort_of(ElementType type);

/// A piece of C++ with what is known of its value.
struct Code {
    std::string text;
    int precedence = 16;  ///< C++'s, 16 for a name or call
    Sort sort = Sort::Real;
    bool wide = false;               ///< a 64-bit integer
    Interval range = kAny64;         ///< of an integer's values
    std::optional<IndexForm> index;  ///< of an integer, where it is a sum of terms
    std::optional<double> constant;  ///< where it is known
    std::optional<IndexForm> place;  ///< of `buffer[place]`
    bool finite = false;             ///< certainly no infinity
    bool guarded = false;            ///< came from `guard`: subtracting it needs no convention
};

/// An integer that is a sum of multiples of names.
[[nodiscard]] Code index_code(IndexForm form);
/// Any integer as such a sum, of itself if need be.
[[nodiscard]] IndexForm form_of(const Code& code);
/// An integer that stands in a variable or is a call.
[[nodiscard]] Code integer_code(std::string text, const Interval& range, bool wide = false);
[[nodiscard]] Code function_call(const std::string& name, const std::vector<std::string>& arguments,
                                 Sort sort = Sort::Real);
[[nodiscard]] Code infix(const Code& a, const std::string& operation, const Code& b, int precedence,
                         Sort sort);
/// `float`, `i64` or `bool`.
[[nodiscard]] const char* type_of(Sort sort);
/// The same, but `int` of an integer that 32 bits hold.
[[nodiscard]] const char* type_of(const Code& code);
/// The code as a number of another sort.
[[nodiscard]] Code as_sort(const Code& code, Sort sort);
[[nodiscard]] Code real_constant(double value);
/// The code in parentheses when it binds less than `precedence`.
[[nodiscard]] std::string wrapped(const Code& code, int precedence);
/// A value as what a tile or array of a type holds.
[[nodiscard]] std::string stored(const Code& value, ElementType type);
/// A value rounded to a type, as a real or integer.
[[nodiscard]] Code rounded(const Code& value, ElementType type);
/// What an element of a type means, read from `place`.
[[nodiscard]] Code loaded(const std::string& place, ElementType type);

}  // namespace napkin::lowering
