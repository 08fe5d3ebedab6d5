#include "perfmodel/function_cost.h"

#include <algorithm>

#include "derive/operations.h"

namespace napkin {

FunctionCost cost_of_function(Function function) {
    switch (function) {
    case Function::Negate:
    case Function::Abs:
    case Function::Guard: return {0, 0};
    case Function::Exp: return {1, 1};
    case Function::Log: return {4, 1};
    case Function::Sqrt:
    case Function::Rsqrt: return {6, 1};
    case Function::Divide: return {8, 1};
    case Function::Tanh: return {14, 2};
    case Function::Erf: return {24, 1};
    case Function::Sin:
    case Function::Cos: return {20, 1};
    case Function::FloorDivide:
    case Function::Modulo: return {12, 0};
    default: return {1, 0};
    }
}

namespace {

bool multiplies(const Expression& value) {
    const Apply* call = std::get_if<Apply>(&value.node);
    return call != nullptr && call->function == Function::Multiply;
}

}  // namespace

FunctionCost cost_of_call(const Apply& call) {
    constexpr double kReciprocal = 5;  // nothing to test of what is divided
    const bool adds = call.function == Function::Add || call.function == Function::Subtract;
    // It is added as it is multiplied.
    if (adds && std::any_of(call.arguments.begin(), call.arguments.end(), multiplies))
        return {0, 0};
    if (call.function == Function::Divide &&
        std::holds_alternative<Number>(call.arguments.front().node))
        return {kReciprocal, 1};
    if (call.function != Function::Power) return cost_of_function(call.function);
    const PowerSteps steps = steps_of_power(std::get<Number>(call.arguments.back().node).value);
    if (steps.by == PowerSteps::By::Root) return cost_of_function(Function::Sqrt);
    FunctionCost cost{static_cast<double>(steps.products), 0};
    const auto add = [&](Function function) {
        const FunctionCost more = cost_of_function(function);
        cost.instructions += more.instructions;
        cost.special += more.special;
    };
    if (steps.divides) add(Function::Divide);
    if (steps.by == PowerSteps::By::Logarithm)
        for (const Function part : {Function::Log, Function::Multiply, Function::Exp}) add(part);
    return cost;
}

}  // namespace napkin
