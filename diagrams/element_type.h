// Element types of arrays: their names, sizes and how a real number is rounded to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace napkin {

enum class ElementType { F64, F32, TF32, BF16, F16, E4M3, E5M2, I8, I4, I32, I64, Bool };

[[nodiscard]] std::string_view name_of(ElementType type);
/// F64 is internal (the reference's own arithmetic) and is not found by name.
[[nodiscard]] std::optional<ElementType> element_type_named(std::string_view name);
/// Bits that one value takes in memory (tf32 takes 32, bool 8).
[[nodiscard]] std::int64_t bits_of(ElementType type);
[[nodiscard]] bool is_floating(ElementType type);
/// Half the distance from 1 to the next value: the largest relative error of rounding to nearest; 0
/// for integers.
[[nodiscard]] double unit_roundoff(ElementType type);
/// The largest error of rounding a number that underflows: half of the smallest number; 0 for
/// integers.
[[nodiscard]] double underflow_error(ElementType type);
/// Whether every value of one type is one of another, which is floating.
[[nodiscard]] bool converts_exactly(ElementType from, ElementType to);
/// Whether tensor cores multiply numbers of the type in 16 or more bits.
[[nodiscard]] bool is_multiplied(ElementType type);
/// Whether a tensor core multiplies operands of it in parts: f32 in two of tf32, a rounded one and
/// what that lacks.
[[nodiscard]] bool is_in_parts(ElementType type);
/// Products of these parts that are made; what both operands lack is not multiplied.
inline constexpr int kProductsOfParts = 3;
/// Whether it is a floating type of 8 bits.
[[nodiscard]] bool is_narrow(ElementType type);
/// To nearest, ties to even; e4m3 saturates at 448, the others overflow to infinity; integers round
/// to nearest and saturate.
[[nodiscard]] double round_to(ElementType type, double value);

}  // namespace napkin
