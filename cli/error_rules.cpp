#include "cli/error_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "diagrams/evaluate.h"

namespace napkin::cli {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Device functions are a few units in the last place from the real value.
constexpr double kFunctionUlps = 4;
// How many standard deviations the probabilistic bound allows.
constexpr double kDeviations = 8;

bool is_integer_function(Function function) {
    return function == Function::FloorDivide || function == Function::Modulo;
}

/// The relative error of a positive argument, kept below one.
double relative(Bounded a) {
    const double least = std::abs(a.value) - a.error;
    return least > 0 ? a.error / least : (a.error > 0 ? kInfinity : 0);
}

Bounded comparison(double value, Bounded a, Bounded b) {
    const bool uncertain =
        a.error + b.error > 0 && std::abs(a.value - b.value) <= a.error + b.error;
    return {value, uncertain ? 1.0 : 0.0};
}

Bounded select(std::span<const Bounded> arguments) {
    const Bounded& taken = arguments[arguments[0].value != 0 ? 1 : 2];
    const Bounded& other = arguments[arguments[0].value != 0 ? 2 : 1];
    if (arguments[0].error == 0) return taken;
    return {taken.value, taken.error + other.error + std::abs(taken.value - other.value)};
}

/// The error that the arguments' errors cause, without the operation's own rounding.
double propagated(Function function, std::span<const Bounded> x, double value) {
    const Bounded a = x[0];
    const Bounded b = x.size() > 1 ? x[1] : Bounded{};
    switch (function) {
    case Function::Add:
    case Function::Subtract: return a.error + b.error;
    case Function::Multiply:
        return std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error;
    case Function::Divide: {
        const double least = std::abs(b.value) - b.error;
        if (a.error == 0 && b.error == 0) return 0;
        return least > 0 ? (a.error + std::abs(value) * b.error) / least : kInfinity;
    }
    case Function::Power: return std::abs(b.value * value) * relative(a);
    case Function::Exp: return value * std::expm1(a.error);
    case Function::Log: return relative(a);
    case Function::Sqrt: return std::min(value * relative(a) / 2, std::sqrt(a.error));
    case Function::Rsqrt: return value * relative(a) / 2;
    case Function::Erf: return 1.13 * a.error;
    case Function::Min:
    case Function::Max: return std::max(a.error, b.error);
    case Function::Floor:
        return std::floor(a.value - a.error) == std::floor(a.value + a.error) ? 0.0 : a.error + 1;
    default: return a.error;  // 1-Lipschitz: negate, abs, tanh, guard
    }
}

/// The operation's own rounding, in units of the roundoff relative to the result.
double own_ulps(Function function, std::span<const Bounded> x) {
    switch (function) {
    case Function::Negate:
    case Function::Abs:
    case Function::Min:
    case Function::Max:
    case Function::Floor:
    case Function::Guard: return 0;
    case Function::Add:
    case Function::Subtract:
    case Function::Multiply: return 1;
    case Function::Divide: return 2;
    case Function::Exp: return kFunctionUlps + 2 * std::abs(x[0].value);  // by way of exp2
    default: return kFunctionUlps;
    }
}

}  // namespace

Bounded apply_bounded(const Precision& precision, Function function,
                      std::span<const Bounded> arguments) {
    if (function == Function::Select) return select(arguments);
    std::array<double, 3> values{};
    double error = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        values[i] = arguments[i].value;
        error = std::max(error, arguments[i].error);
    }
    const double value = apply_function(function, std::span(values.data(), arguments.size()));
    if (is_comparison_or_logic(function)) {
        const bool logic =
            function == Function::And || function == Function::Or || function == Function::Not;
        return logic ? Bounded{value, error} : comparison(value, arguments[0], arguments[1]);
    }
    if (is_integer_function(function)) return {value, error > 0 ? kInfinity : 0};
    if (!std::isfinite(value)) return {value, std::isfinite(error) ? 0 : error};
    double bound = propagated(function, arguments, value);
    bound += own_ulps(function, arguments) * precision.roundoff * (std::abs(value) + bound);
    if (own_ulps(function, arguments) > 1) bound += precision.smallest;
    // The logarithm near one loses relative accuracy, not absolute.
    if (function == Function::Log) bound += kFunctionUlps * precision.roundoff;
    return {value, std::isnan(bound) ? kInfinity : bound};
}

Bounded round_both(ElementType type, Bounded argument) {
    const double value = round_to(type, argument.value);
    if (argument.error == 0 || !std::isfinite(argument.value)) return {value, argument.error};
    const double up = round_to(type, argument.value + argument.error) - value;
    const double down = value - round_to(type, argument.value - argument.error);
    return {value, std::max({up, down, 0.0})};
}

Bounded round_kernel(ElementType type, Bounded argument) {
    if (!std::isfinite(argument.value)) return argument;
    const double up = round_to(type, argument.value + argument.error) - argument.value;
    const double down = argument.value - round_to(type, argument.value - argument.error);
    const double near = std::abs(round_to(type, argument.value) - argument.value);
    const double step = std::abs(argument.value) * unit_roundoff(type);
    return {argument.value, std::max({up, down, near, argument.error + step})};
}

double summation_error(const Precision& precision, std::int64_t count, double magnitude) {
    return kDeviations * std::sqrt(static_cast<double>(count) + 1) * precision.roundoff * magnitude;
}

}  // namespace napkin::cli
