#include "schedule/gauge_degree.h"

#include <algorithm>

namespace napkin::schedule {
namespace {

constexpr GaugeDegree kNone;
using Degree = std::optional<GaugeDegree>;

Degree degree_of_product(const Apply& call, const GaugeDegree& a, const GaugeDegree& b) {
    const bool divides = call.function == Function::Divide;
    if (a.shift == 0 && b.shift == 0)
        return GaugeDegree{divides ? a.weight - b.weight : a.weight + b.weight, 0};
    // A multiple of the gauge by a literal.
    const double* left = literal(call.arguments[0]);
    const double* right = literal(call.arguments[1]);
    if (right != nullptr && a.weight == 0)
        return GaugeDegree{0, divides ? a.shift / *right : a.shift * *right};
    if (left != nullptr && b.weight == 0 && !divides) return GaugeDegree{0, *left * b.shift};
    return std::nullopt;
}

Degree degree_of_call(const Apply& call, const std::vector<GaugeDegree>& of) {
    if (std::all_of(of.begin(), of.end(), [](const GaugeDegree& each) { return each == kNone; }))
        return kNone;
    const GaugeDegree& a = of.front();
    switch (call.function) {
    case Function::Guard: return a;
    case Function::Negate: return GaugeDegree{a.weight, -a.shift};
    case Function::Add:
    case Function::Subtract: {
        const double sign = call.function == Function::Add ? 1 : -1;
        if (a.weight != of[1].weight) return std::nullopt;
        if (a.weight != 0 && (a.shift != 0 || of[1].shift != 0)) return std::nullopt;
        return GaugeDegree{a.weight, a.shift + sign * of[1].shift};
    }
    case Function::Multiply:
    case Function::Divide: return degree_of_product(call, a, of[1]);
    case Function::Exp: return a.weight == 0 ? Degree(GaugeDegree{-a.shift, 0}) : std::nullopt;
    case Function::Log: return a.shift == 0 ? Degree(GaugeDegree{0, -a.weight}) : std::nullopt;
    case Function::Select: return of[0] == kNone && of[1] == of[2] ? Degree(of[1]) : std::nullopt;
    default: return std::nullopt;
    }
}

}  // namespace

std::optional<GaugeDegree> degree_of(const Expression& expression, const GaugeDegrees& degrees) {
    if (const Read* element = std::get_if<Read>(&expression.node)) {
        for (const Expression& index : element->index)
            if (degree_of(index, degrees) != Degree(kNone)) return std::nullopt;
        const auto found = degrees.find(element->array);
        return found == degrees.end() ? Degree(kNone) : found->second;
    }
    std::vector<GaugeDegree> of;
    const Apply* call = std::get_if<Apply>(&expression.node);
    const Convert* convert = std::get_if<Convert>(&expression.node);
    const std::vector<Expression>* parts = call != nullptr      ? &call->arguments
                                           : convert != nullptr ? &convert->argument
                                                                : nullptr;
    if (parts == nullptr) return kNone;
    for (const Expression& part : *parts) {
        const Degree degree = degree_of(part, degrees);
        if (!degree) return std::nullopt;
        of.push_back(*degree);
    }
    if (call != nullptr) return degree_of_call(*call, of);
    return of.front() == kNone ? Degree(kNone) : std::nullopt;
}

std::optional<GaugeDegree> degree_of(const Statement& statement, const GaugeDegrees& degrees) {
    Degree all;
    for (const Expression* expression : expressions_of(statement)) {
        const Degree degree = degree_of(*expression, degrees);
        if (!degree || (all && *all != *degree)) return std::nullopt;
        all = degree;
    }
    if (!all || *all == kNone || std::holds_alternative<Map>(statement.body))
        return all ? all : kNone;
    const Fold* fold = std::get_if<Fold>(&statement.body);
    const bool sums = fold != nullptr && fold->monoid == kSum && all->shift == 0;
    return sums ? all : std::nullopt;
}

}  // namespace napkin::schedule
