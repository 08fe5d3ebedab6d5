// The device primitives' arithmetic, compiled for the host, against the reference's own rounding
// and arithmetic.
#include <doctest/doctest.h>
#include <napkin.cuh>

#include <bit>
#include <limits>
#include <random>
#include <vector>

#include "diagrams/element_type.h"
#include "diagrams/evaluate.h"

namespace napkin {
namespace {

bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || a == b;
}

/// Values around every rounding decision of every small type, and random bit patterns.
std::vector<float> interesting_floats() {
    std::vector<float> values = {0.0f,     -0.0f,         0.5f,     1.5f,     2.5f,
                                 448.0f,   464.0f,        480.0f,   65504.0f, 65519.0f,
                                 65520.0f, 57344.0f,      61440.0f, 3e38f,    127.5f,
                                 -128.5f,  2147483648.0f, 9.3e18f,  1e-45f};
    values.push_back(std::numeric_limits<float>::infinity());
    values.push_back(-std::numeric_limits<float>::infinity());
    values.push_back(std::numeric_limits<float>::quiet_NaN());
    for (std::uint32_t top = 0; top < 0x10000; ++top)
        for (const std::uint32_t low :
             {0x0000U, 0x0fffU, 0x1000U, 0x1001U, 0x7fffU, 0x8000U, 0x8001U})
            values.push_back(std::bit_cast<float>(top << 16 | low));
    std::mt19937 random(7);
    for (int i = 0; i < 200000; ++i)
        values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    return values;
}

template <class Function>
void check_rounding(ElementType type, const Function& rounded) {
    for (const float value : interesting_floats()) {
        const double expected = round_to(type, static_cast<double>(value));
        const double actual = static_cast<double>(rounded(value));
        if (same(expected, actual)) continue;
        INFO(name_of(type), " of ", value, " (bits ", std::bit_cast<std::uint32_t>(value), ")");
        CHECK_EQ(actual, expected);
        return;
    }
}

}  // namespace

TEST_CASE("prelude: conversions round as the reference does") {
    check_rounding(ElementType::BF16, nk::round_to<nk::bf16>);
    check_rounding(ElementType::F16, nk::round_to<nk::f16>);
    check_rounding(ElementType::E4M3, nk::round_to<nk::e4m3>);
    check_rounding(ElementType::E5M2, nk::round_to<nk::e5m2>);
    check_rounding(ElementType::I8, nk::round_to<nk::i8>);
    check_rounding(ElementType::TF32, nk::round_tf32);
    check_rounding(ElementType::I32, [](float value) { return nk::convert<int>(value) * 1.0; });
    check_rounding(ElementType::Bool, [](float value) { return nk::convert<nk::u8>(value); });
    CHECK_EQ(nk::convert<nk::i64>(std::numeric_limits<float>::infinity()),
             std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("prelude: arithmetic has the language's conventions") {
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> values = {0, 1, -2, 2.5, inf, -inf, nan};
    for (const double a : values) {
        const float x = static_cast<float>(a);
        const auto check_one = [&](Function function, float actual) {
            INFO(name_of(function), " of ", a);
            CHECK_UNARY(same(static_cast<double>(actual),
                             apply_function(function, std::vector<double>{a})));
        };
        check_one(Function::Guard, nk::guard(x));
        check_one(Function::Abs, nk::absolute(x));
        for (const double b : values) {
            const float y = static_cast<float>(b);
            const auto check = [&](Function function, float actual) {
                INFO(name_of(function), " of ", a, " and ", b);
                const double expected = apply_function(function, std::vector<double>{a, b});
                CHECK_UNARY(same(static_cast<double>(actual), static_cast<float>(expected)));
            };
            check(Function::Add, nk::add(x, y));
            check(Function::Subtract, nk::subtract(x, y));
            check(Function::Multiply, nk::multiply(x, y));
            check(Function::Divide, nk::divide(x, y));
            check(Function::Min, nk::minimum(x, y));
            check(Function::Max, nk::maximum(x, y));
        }
    }
    for (int a = -7; a <= 7; ++a)
        for (int b = -3; b <= 3; ++b) {
            const std::vector<double> both = {static_cast<double>(a), static_cast<double>(b)};
            CHECK_EQ(nk::floor_divide(a, b), apply_function(Function::FloorDivide, both));
            CHECK_EQ(nk::modulo(a, b), apply_function(Function::Modulo, both));
        }
}

TEST_CASE("prelude: the least integers have remainders, and quotients that wrap") {
    constexpr int kLeast = std::numeric_limits<int>::min();
    constexpr nk::i64 kLeast64 = std::numeric_limits<nk::i64>::min();
    CHECK_EQ(nk::modulo(kLeast, -1), 0);
    CHECK_EQ(nk::modulo(kLeast64, nk::i64(-1)), 0);
    CHECK_EQ(nk::floor_divide(kLeast, -1), kLeast);
    CHECK_EQ(nk::floor_divide(kLeast64, nk::i64(-1)), kLeast64);
    CHECK_EQ(nk::floor_divide(nk::i64(kLeast), nk::i64(-1)), -nk::i64(kLeast));
    for (const int a : {-5, 0, 5, kLeast}) {
        const double expected =
            apply_function(Function::ShiftRight, std::vector<double>{a * 1.0, 99});
        CHECK_EQ(nk::shift_right(a, 99), expected);
        CHECK_EQ(nk::shift_right(nk::i64(a), nk::i64(99)), expected);
    }
}

}  // namespace napkin
