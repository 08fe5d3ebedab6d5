#include "diagrams/evaluate/arithmetic.h"

#include <span>

#include "diagrams/evaluate.h"

namespace napkin {
namespace {

double truth(bool value) {
    return value ? 1.0 : 0.0;
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
    case Function::Abs: return std::abs(a);
    case Function::Min: return arithmetic::minimum(a, b);
    case Function::Max: return arithmetic::maximum(a, b);
    case Function::Floor: return std::floor(a);
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
