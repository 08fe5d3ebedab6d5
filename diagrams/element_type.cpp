#include "diagrams/element_type.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace napkin {
namespace {

struct TypeFacts {
    ElementType type = ElementType::F64;
    std::string_view name;
    std::int64_t bits = 0;
    /// Stored fraction bits and least normal exponent of a floating type; fraction bits are 0 for
    /// the others.
    int fraction_bits = 0;
    int least_exponent = 0;
    double largest = 0;
};

// In the order of ElementType.
constexpr std::array kTypes = {
    TypeFacts{ElementType::F64, "f64", 64, 52, -1022, std::numeric_limits<double>::max()},
    TypeFacts{ElementType::F32, "f32", 32, 23, -126, std::numeric_limits<float>::max()},
    TypeFacts{ElementType::TF32, "tf32", 32, 10, -126, 0x1.ffcp+127},
    TypeFacts{ElementType::BF16, "bf16", 16, 7, -126, 0x1.fep+127},
    TypeFacts{ElementType::F16, "f16", 16, 10, -14, 65504},
    TypeFacts{ElementType::E4M3, "e4m3", 8, 3, -6, 448},
    TypeFacts{ElementType::E5M2, "e5m2", 8, 2, -14, 57344},
    TypeFacts{ElementType::I8, "i8", 8, 0, 0, 127},
    TypeFacts{ElementType::I4, "i4", 4, 0, 0, 7},
    TypeFacts{ElementType::I32, "i32", 32, 0, 0, 2147483647},
    // The largest double below 2^63.
    TypeFacts{ElementType::I64, "i64", 64, 0, 0, 0x1.fffffffffffffp+62},
    TypeFacts{ElementType::Bool, "bool", 8, 0, 0, 1},
};

const TypeFacts& facts(ElementType type) {
    return kTypes[static_cast<std::size_t>(type)];
}

constexpr int kDoubleFraction = 52;
constexpr int kDoubleBias = 1023;

/// Rounds to `fraction_bits` bits, ties to even, with gradual underflow below `least_exponent` and
/// no upper limit to the exponent.
double round_fraction(double value, int fraction_bits, int least_exponent) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    const int exponent = static_cast<int>((bits >> kDoubleFraction) & 0x7ff) - kDoubleBias;
    if (exponent >= least_exponent) {
        // A carry out of the fraction increments the exponent, as it should.
        const int dropped = kDoubleFraction - fraction_bits;
        const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
        const std::uint64_t odd = (bits >> dropped) & 1;
        return std::bit_cast<double>((bits + half - 1 + odd) & ~(2 * half - 1));
    }
    // Scaling by a power of two is exact, so only nearbyint rounds (to even).
    const int quantum = least_exponent - fraction_bits;
    return std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
}

double round_floating(const TypeFacts& type, double value) {
    const bool saturates = type.type == ElementType::E4M3;
    if (std::isnan(value)) return value;
    if (std::isinf(value)) return saturates ? std::copysign(type.largest, value) : value;
    const double rounded = round_fraction(value, type.fraction_bits, type.least_exponent);
    if (std::abs(rounded) <= type.largest) return rounded;
    const double limit = saturates ? type.largest : std::numeric_limits<double>::infinity();
    return std::copysign(limit, value);
}

double round_integer(const TypeFacts& type, double value) {
    if (std::isnan(value)) return 0;
    const double least = type.type == ElementType::I64 ? -0x1p63 : -type.largest - 1;
    // Adding zero turns -0 into 0.
    return std::fmin(std::fmax(std::nearbyint(value), least), type.largest) + 0.0;
}

}  // namespace

std::string_view name_of(ElementType type) {
    return facts(type).name;
}

std::optional<ElementType> element_type_named(std::string_view name) {
    for (const TypeFacts& type : kTypes)
        if (type.name == name && type.type != ElementType::F64) return type.type;
    return std::nullopt;
}

std::int64_t bits_of(ElementType type) {
    return facts(type).bits;
}

bool is_floating(ElementType type) {
    return facts(type).fraction_bits > 0;
}

double unit_roundoff(ElementType type) {
    return is_floating(type) ? std::ldexp(1.0, -facts(type).fraction_bits - 1) : 0.0;
}

double underflow_error(ElementType type) {
    const TypeFacts& known = facts(type);
    return is_floating(type) ? std::ldexp(1.0, known.least_exponent - known.fraction_bits - 1) : 0;
}

bool is_narrow(ElementType type) {
    return type == ElementType::E4M3 || type == ElementType::E5M2;
}

bool is_multiplied(ElementType type) {
    return type == ElementType::BF16 || type == ElementType::F16 || type == ElementType::TF32;
}

bool is_in_parts(ElementType type) {
    return type == ElementType::F32;
}

bool converts_exactly(ElementType from, ElementType to) {
    if (from == to) return true;
    // Only f16's exponents are narrower than any others.
    const bool range = to != ElementType::F16 || is_narrow(from) || !is_floating(from);
    const double step =
        is_floating(from) ? unit_roundoff(from) : std::ldexp(1.0, -static_cast<int>(bits_of(from)));
    return range && step >= unit_roundoff(to);
}

double round_to(ElementType type, double value) {
    if (type == ElementType::F64) return value;
    if (type == ElementType::Bool) return value != 0 ? 1 : 0;
    return is_floating(type) ? round_floating(facts(type), value)
                             : round_integer(facts(type), value);
}

}  // namespace napkin
