// Rounding against facts that do not come from the code: the published tables of the formats, and
// an independent search for the nearest value among all values of the small types.
#include "diagrams/element_type.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "diagrams/infinity.h"

using napkin::ElementType;
using napkin::kInfinity;
using napkin::round_to;

namespace {

struct Rounded {
    ElementType type = ElementType::F32;
    double value = 0;
    double expected = 0;
};

/// Finite non-negative values of an eight or sixteen bit format, by decoding every bit pattern.
std::vector<double> decode_all(int exponent_bits, int fraction_bits, int bias,
                               bool all_ones_finite) {
    std::vector<double> values;
    const int top = (1 << exponent_bits) - 1;
    for (int exponent = 0; exponent <= top; ++exponent)
        for (int fraction = 0; fraction < (1 << fraction_bits); ++fraction) {
            const bool last = exponent == top;
            if (last && !all_ones_finite) continue;
            if (last && fraction == (1 << fraction_bits) - 1) continue;  // e4m3's only NaN
            const double unit = std::ldexp(1.0, -fraction_bits);
            values.push_back(exponent == 0 ? std::ldexp(fraction * unit, 1 - bias)
                                           : std::ldexp(1 + fraction * unit, exponent - bias));
        }
    return values;
}

/// The nearest of sorted `values`; of two equally near ones the even position (fractions alternate
/// in parity along the list, since position equals bit pattern).
double nearest(const std::vector<double>& values, double value) {
    std::size_t best = 0;
    for (std::size_t at = 1; at < values.size(); ++at) {
        const double old_distance = std::abs(values[best] - value);
        const double distance = std::abs(values[at] - value);
        if (distance < old_distance || (distance == old_distance && at % 2 == 0)) best = at;
    }
    return values[best];
}

}  // namespace

TEST_CASE("rounding: published values and ties") {
    const std::vector<Rounded> cases = {
        {ElementType::F32, 0.1, 0.100000001490116119384765625},
        {ElementType::F32, 16777217, 16777216},
        {ElementType::F32, 16777219, 16777220},
        {ElementType::F32, 0x1p-149, 0x1p-149},
        {ElementType::F32, 0x1p-150, 0},
        {ElementType::F32, 0x1.8p-149, 0x1p-148},
        {ElementType::F32, 3.5e38, kInfinity},
        {ElementType::TF32, 1 + 0x1p-11, 1},
        {ElementType::TF32, 1 + 0x3p-11, 1 + 0x1p-9},
        {ElementType::TF32, 1e-40, std::ldexp(std::nearbyint(1e-40 / 0x1p-136), -136)},
        {ElementType::BF16, 1 + 0x1p-8, 1},
        {ElementType::BF16, 1 + 0x3p-8, 1 + 0x1p-6},
        {ElementType::BF16, 3.14159265358979, 3.140625},
        {ElementType::BF16, 3.4e38, kInfinity},
        {ElementType::BF16, -0.1, -0.10009765625},
        {ElementType::F16, 65504, 65504},
        {ElementType::F16, 65519.99, 65504},
        {ElementType::F16, 65520, kInfinity},
        {ElementType::F16, 0x1p-24, 0x1p-24},
        {ElementType::F16, 0x1p-25, 0},
        {ElementType::F16, 0x1.8p-24, 0x1p-23},
        {ElementType::F16, 0.1, 0.0999755859375},
        {ElementType::F16, 2049, 2048},
        {ElementType::F16, 2051, 2052},
        {ElementType::E4M3, 448, 448},
        {ElementType::E4M3, 465, 448},
        {ElementType::E4M3, 1e9, 448},
        {ElementType::E4M3, -kInfinity, -448},
        {ElementType::E4M3, 0x1p-9, 0x1p-9},
        {ElementType::E4M3, 0x1p-10, 0},
        {ElementType::E4M3, 17, 16},
        {ElementType::E4M3, 19, 20},
        {ElementType::E5M2, 57344, 57344},
        {ElementType::E5M2, 61439, 57344},
        {ElementType::E5M2, 61440, kInfinity},
        {ElementType::E5M2, 0x1p-16, 0x1p-16},
        {ElementType::E5M2, 0x1p-17, 0},
        {ElementType::I8, 2.5, 2},
        {ElementType::I8, 3.5, 4},
        {ElementType::I8, -200, -128},
        {ElementType::I8, 127.4, 127},
        {ElementType::I4, 9, 7},
        {ElementType::I4, -9, -8},
        {ElementType::I32, 3e9, 2147483647},
        {ElementType::I32, -3e9, -2147483648.0},
        {ElementType::I64, 1e300, 0x1.fffffffffffffp62},
        {ElementType::I64, -1e300, -0x1p63},
        {ElementType::I64, -0.25, 0},
        {ElementType::Bool, 0.25, 1},
        {ElementType::Bool, 0, 0},
        {ElementType::F64, 0.1, 0.1},
    };
    for (const Rounded& entry : cases) {
        INFO(std::string(name_of(entry.type)), " of ", entry.value);
        CHECK_EQ(round_to(entry.type, entry.value), entry.expected);
    }
}

TEST_CASE("rounding: NaN stays NaN in floating types, infinities stay but in e4m3") {
    for (const ElementType type : {ElementType::F32, ElementType::TF32, ElementType::BF16,
                                   ElementType::F16, ElementType::E4M3, ElementType::E5M2}) {
        CHECK(std::isnan(round_to(type, std::nan(""))));
        if (type != ElementType::E4M3) CHECK_EQ(round_to(type, -kInfinity), -kInfinity);
        CHECK(std::signbit(round_to(type, -0.0)));
    }
    CHECK_EQ(round_to(ElementType::I32, std::nan("")), 0);
}

TEST_CASE("rounding: f32 agrees with the processor's conversion") {
    std::mt19937_64 random(7);
    for (int trial = 0; trial < 200000; ++trial) {
        double value = 0;
        std::uint64_t bits = random();
        // Every third value has an exponent around the subnormals or the overflow of f32.
        if (trial % 3 == 0)
            bits = (bits & ~(std::uint64_t{0x7ff} << 52)) | ((1023 - 150 + random() % 30) << 52);
        if (trial % 3 == 1)
            bits = (bits & ~(std::uint64_t{0x7ff} << 52)) | ((1023 + 120 + random() % 10) << 52);
        std::memcpy(&value, &bits, sizeof value);
        if (std::isnan(value)) continue;
        CHECK_EQ(round_to(ElementType::F32, value), static_cast<double>(static_cast<float>(value)));
    }
}

TEST_CASE("rounding: the small formats agree with a search among all their values") {
    struct Format {
        ElementType type = ElementType::F16;
        std::vector<double> values;
        double tie_with_infinity = 0;
    };
    const std::vector<Format> formats = {
        {ElementType::E4M3, decode_all(4, 3, 7, true), kInfinity},
        {ElementType::E5M2, decode_all(5, 2, 15, false), 61440},
    };
    std::mt19937_64 random(11);
    for (const Format& format : formats) {
        CHECK_EQ(format.values.back(), format.type == ElementType::E4M3 ? 448 : 57344);
        for (std::size_t at = 0; at + 1 < format.values.size(); ++at) {
            const double low = format.values[at];
            const double high = format.values[at + 1];
            const double middle = (low + high) / 2;
            for (const double value :
                 {low, middle, std::nextafter(middle, 0.0), std::nextafter(middle, kInfinity),
                  low + (high - low) * static_cast<double>(random() % 1000) / 1000}) {
                CHECK_EQ(round_to(format.type, value), nearest(format.values, value));
                CHECK_EQ(round_to(format.type, -value), -nearest(format.values, value));
            }
        }
    }
    const std::vector<double> half = decode_all(5, 10, 15, false);
    for (std::size_t at = 0; at + 1 < half.size(); ++at) {
        const double middle = (half[at] + half[at + 1]) / 2;
        CHECK_EQ(round_to(ElementType::F16, half[at]), half[at]);
        CHECK_EQ(round_to(ElementType::F16, middle), at % 2 == 0 ? half[at] : half[at + 1]);
        CHECK_EQ(round_to(ElementType::F16, std::nextafter(middle, 0.0)), half[at]);
        CHECK_EQ(round_to(ElementType::F16, std::nextafter(middle, kInfinity)), half[at + 1]);
    }
}

TEST_CASE("element types: names, bits, unit roundoff") {
    CHECK_EQ(napkin::element_type_named("bf16"), ElementType::BF16);
    CHECK_EQ(napkin::element_type_named("bool"), ElementType::Bool);
    CHECK_FALSE(napkin::element_type_named("f64").has_value());
    CHECK_FALSE(napkin::element_type_named("").has_value());
    CHECK_EQ(napkin::name_of(ElementType::E5M2), "e5m2");
    CHECK_EQ(napkin::bits_of(ElementType::TF32), 32);
    CHECK_EQ(napkin::bits_of(ElementType::I4), 4);
    CHECK_EQ(napkin::unit_roundoff(ElementType::F32), 0x1p-24);
    CHECK_EQ(napkin::unit_roundoff(ElementType::E4M3), 0x1p-4);
    CHECK_EQ(napkin::unit_roundoff(ElementType::I32), 0);
    CHECK_EQ(napkin::underflow_error(ElementType::F16), 0x1p-25);
    CHECK_EQ(napkin::underflow_error(ElementType::E4M3), 0x1p-10);
    CHECK_EQ(napkin::underflow_error(ElementType::I32), 0);
    CHECK_FALSE(napkin::is_floating(ElementType::Bool));
    CHECK(napkin::is_floating(ElementType::TF32));
}
