#include "diagrams/evaluate/arithmetic.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "diagrams/evaluate.h"

namespace napkin {
namespace {

double truth(bool value) {
    return value ? 1.0 : 0.0;
}

std::int64_t whole(double value) {
    constexpr double kLimit = 0x1p63;
    return std::abs(value) < kLimit ? static_cast<std::int64_t>(value) : 0;
}

double of_bits(Function function, double a, double b) {
    const std::int64_t x = whole(a);
    const std::int64_t y = whole(b);
    if (function == Function::BitAnd) return static_cast<double>(x & y);
    return static_cast<double>(function == Function::BitOr ? x | y : x ^ y);
}

/// a * 2^n, or a / 2^n where `direction` is negative; 0 for a negative n. By more than `kMost` an
/// integer has left its type, or is a fraction of its own sign, which must not vanish.
double shifted(double a, double n, int direction) {
    constexpr double kMost = 1000;
    return n < 0 ? 0 : std::ldexp(a, direction * static_cast<int>(std::min(n, kMost)));
}

}  // namespace

std::size_t arity(Function function) {
    switch (function) {
    case Function::Negate:
    case Function::Exp:
    case Function::Log:
    case Function::Sqrt:
    case Function::Rsqrt:
    case Function::Tanh:
    case Function::Erf:
    case Function::Sin:
    case Function::Cos:
    case Function::Abs:
    case Function::Floor:
    case Function::Not:
    case Function::Guard: return 1;
    case Function::Select: return 3;
    default: return 2;
    }
}

double apply_function(Function function, std::span<const double> arguments) {
    invariant(arguments.size() == arity(function), "wrong number of arguments of a function");
    const double a = arguments[0];
    const double b = arguments.size() > 1 ? arguments[1] : 0;
    switch (function) {
    case Function::Negate: return -a;
    case Function::Add: return arithmetic::add(a, b);
    case Function::Subtract: return arithmetic::subtract(a, b);
    case Function::Multiply: return arithmetic::multiply(a, b);
    case Function::Divide: return arithmetic::divide(a, b);
    case Function::FloorDivide: return arithmetic::floor_divide(a, b);
    case Function::Modulo: return arithmetic::modulo(a, b);
    case Function::Power: return arithmetic::power(a, b);
    case Function::Exp: return std::exp(a);
    case Function::Log: return std::log(a);
    case Function::Sqrt: return std::sqrt(a);
    case Function::Rsqrt: return arithmetic::rsqrt(a);
    case Function::Tanh: return std::tanh(a);
    case Function::Erf: return std::erf(a);
    case Function::Sin: return std::sin(a);
    case Function::Cos: return std::cos(a);
    case Function::Abs: return std::abs(a);
    case Function::Min: return arithmetic::minimum(a, b);
    case Function::Max: return arithmetic::maximum(a, b);
    case Function::Floor: return std::floor(a);
    case Function::BitAnd:
    case Function::BitOr:
    case Function::BitXor: return of_bits(function, a, b);
    case Function::ShiftLeft: return shifted(a, b, 1);
    case Function::ShiftRight: return std::floor(shifted(a, b, -1));
    case Function::Less: return truth(a < b);
    case Function::LessEqual: return truth(a <= b);
    case Function::Greater: return truth(a > b);
    case Function::GreaterEqual: return truth(a >= b);
    case Function::Equal: return truth(a == b);
    case Function::NotEqual: return truth(a != b);
    case Function::And: return truth(a != 0 && b != 0);
    case Function::Or: return truth(a != 0 || b != 0);
    case Function::Not: return truth(a == 0);
    case Function::Select: return a != 0 ? b : arguments[2];
    case Function::Guard: return arithmetic::guard(a);
    }
    throw InternalError("unknown function");
}

}  // namespace napkin
