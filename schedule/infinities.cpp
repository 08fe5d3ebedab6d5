// Which arrays can hold infinities although inputs are finite and nothing overflows: those that
// masks, or maxima over nothing, reach, in this kernel or in one before.
#include <cmath>

#include "diagrams/overloaded.h"
#include "schedule/plan.h"
#include "schedule/statements.h"

namespace napkin::schedule {
namespace {

struct Signs {
    bool above = false;
    bool below = false;
    bool operator==(const Signs&) const = default;
};
Signs operator|(Signs a, Signs b) {
    return {a.above || b.above, a.below || b.below};
}
Signs flipped(Signs a) {
    return {a.below, a.above};
}

using Known = std::map<ArrayId, Signs>;

Signs signs_of(const Expression& expression, const Known& known);

Signs signs_of_call(const Apply& call, const Known& known) {
    std::vector<Signs> parts;
    for (const Expression& argument : call.arguments) parts.push_back(signs_of(argument, known));
    switch (call.function) {
    case Function::Negate: return flipped(parts[0]);
    case Function::Add:
    case Function::Min:
    case Function::Max: return parts[0] | parts[1];
    case Function::Subtract: return parts[0] | flipped(parts[1]);
    case Function::Multiply: {
        const Signs both = parts[0] | parts[1];
        if (both == Signs{}) return {};
        // A constant keeps the signs apart.
        for (const std::size_t side : {0U, 1U})
            if (const Number* number = std::get_if<Number>(&call.arguments[side].node))
                if (std::isfinite(number->value))
                    return number->value < 0 ? flipped(parts[1 - side]) : parts[1 - side];
        return {true, true};
    }
    case Function::Divide: return parts[0] == Signs{} ? Signs{} : Signs{true, true};
    case Function::Power: {
        const Number* exponent = std::get_if<Number>(&call.arguments[1].node);
        if (exponent != nullptr && std::fmod(exponent->value, 2) == 1) return parts[0];
        return {parts[0].above || parts[0].below, false};
    }
    case Function::Abs: return {parts[0].above || parts[0].below, false};
    case Function::Exp:
    case Function::Sqrt: return {parts[0].above, false};
    case Function::Log:
        // The logarithm of a sum over nothing.
        return {parts[0].above, true};
    case Function::Floor: return parts[0];
    case Function::Select: return parts[1] | parts[2];
    default: return {};
    }
}

Signs signs_of(const Expression& expression, const Known& known) {
    return std::visit(overloaded{[](const Number& number) -> Signs {
                                     return {number.value > 0 && std::isinf(number.value),
                                             number.value < 0 && std::isinf(number.value)};
                                 },
                                 [&](const Read& read) {
                                     const auto found = known.find(read.array);
                                     return found == known.end() ? Signs{} : found->second;
                                 },
                                 [&](const Apply& call) { return signs_of_call(call, known); },
                                 [&](const Convert& convert) {
                                     return signs_of(convert.argument.front(), known);
                                 },
                                 [](const auto&) { return Signs{}; }},
                      expression.node);
}

Signs signs_of(const Statement& statement, const Known& known) {
    Signs signs;
    for (const Expression* expression : expressions_of(statement))
        signs = signs | signs_of(*expression, known);
    if (const Fold* fold = std::get_if<Fold>(&statement.body);
        fold != nullptr && fold->seed.empty())
        signs = signs | Signs{fold->monoid == kMin, fold->monoid == kMax};
    return signs;
}

}  // namespace

std::set<ArrayId> infinite_arrays(const RegionProgram& region) {
    Known known;
    for (bool changed = true; changed;) {
        changed = false;
        for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
            const auto join = [&](ArrayId array, Signs signs) {
                const Signs joined = known[array] | signs;
                changed = changed || !(joined == known[array]);
                known[array] = joined;
            };
            if (const Load* load = std::get_if<Load>(&statement.node); load != nullptr)
                join(region.variables[load->target.index()].array,
                     {load->infinite, load->infinite});
            const Compute* compute = std::get_if<Compute>(&statement.node);
            if (compute == nullptr) return;
            const Signs signs = signs_of(compute->statement, known);
            for (const ArrayId target : compute->statement.targets) join(target, signs);
        });
    }
    std::set<ArrayId> result;
    for (const auto& [array, signs] : known)
        if (!(signs == Signs{})) result.insert(array);
    return result;
}

}  // namespace napkin::schedule
