#include "derive/separation/algebra/signs.h"

#include <algorithm>
#include <cmath>

namespace napkin::separation {
namespace {

bool is_even(double power) {
    return std::fmod(power, 2) == 0;
}
constexpr int kDepth = 64;

}  // namespace

bool Signs::nonnegative(TermId id) const {
    if (depth_ > kDepth) return false;
    ++depth_;
    const Term& term = algebra_[id];
    bool result = false;
    switch (term.kind) {
    case Kind::Number: result = term.number >= 0; break;
    case Kind::Axis:
    case Kind::Size: result = true; break;
    case Kind::Convert:
    case Kind::Inner: result = nonnegative(term.parts.front()); break;
    case Kind::Sum: result = nonnegative(PolynomialId{term.ref}); break;
    case Kind::Apply: result = nonnegative_call(term); break;
    case Kind::Read:
    case Kind::Fold:
    case Kind::State:
    case Kind::Late: {
        const std::optional<TermId> body = body_of_(term);
        result = body && nonnegative(*body);
        break;
    }
    case Kind::Mask:
    case Kind::Mean:
    case Kind::Relative: break;
    }
    --depth_;
    return result;
}

bool Signs::nonnegative_call(const Term& term) const {
    const auto all = [&] {
        return std::all_of(term.parts.begin(), term.parts.end(),
                           [&](TermId part) { return nonnegative(part); });
    };
    switch (term.function) {
    case Function::Exp:
    case Function::Abs:
    case Function::Sqrt:
    case Function::Rsqrt: return true;
    case Function::Add:
    case Function::Divide:
    case Function::FloorDivide:
    case Function::Modulo:
    case Function::Min: return all();
    case Function::Multiply: return term.parts[0] == term.parts[1] || all();
    case Function::Max: return nonnegative(term.parts[0]) || nonnegative(term.parts[1]);
    case Function::Power: {
        const Term& power = algebra_[term.parts[1]];
        return (power.kind == Kind::Number && is_even(power.number)) || nonnegative(term.parts[0]);
    }
    case Function::Select: return nonnegative(term.parts[1]) && nonnegative(term.parts[2]);
    case Function::Tanh:
    case Function::Erf:
    case Function::Floor:
    case Function::Guard: return nonnegative(term.parts[0]);
    default: return is_comparison_or_logic(term.function);
    }
}

bool Signs::nonnegative(const Monomial& monomial) const {
    return std::all_of(monomial.powers.begin(), monomial.powers.end(), [&](const auto& factor) {
        return is_even(factor.second) || nonnegative(factor.first);
    });
}

bool Signs::nonnegative(PolynomialId polynomial) const {
    const Polynomial& sum = algebra_[polynomial];
    return std::all_of(sum.terms.begin(), sum.terms.end(), [&](const auto& term) {
        return term.second > 0 && nonnegative(term.first);
    });
}

std::optional<double> Signs::magnitude(TermId id) const {
    const Term& term = algebra_[id];
    if (term.kind == Kind::Number) return std::abs(term.number);
    if (term.kind != Kind::Apply) return std::nullopt;
    if (term.function == Function::Tanh || term.function == Function::Erf ||
        term.function == Function::Sin || term.function == Function::Cos)
        return 1;
    if (is_comparison_or_logic(term.function)) return 1;
    return std::nullopt;
}

std::optional<double> Signs::upper(PolynomialId polynomial) const {
    double bound = 0;
    for (const auto& [mono, coefficient] : algebra_[polynomial].terms) {
        if (mono.powers.empty() && mono.exponent == kZero) {
            bound += coefficient;
            continue;
        }
        if (coefficient < 0 && nonnegative(mono)) continue;
        const bool mask =
            mono.powers.size() == 1 && algebra_[mono.powers[0].first].kind == Kind::Mask;
        if (mask && coefficient > 0) continue;
        if (mono.exponent != kZero) return std::nullopt;
        double product = std::abs(coefficient);
        for (const auto& [term, power] : mono.powers) {
            const std::optional<double> size = magnitude(term);
            if (!size || (power < 0 && algebra_[term].kind != Kind::Number)) return std::nullopt;
            product *= std::pow(*size, power);
        }
        bound += product;
    }
    return bound;
}

}  // namespace napkin::separation
