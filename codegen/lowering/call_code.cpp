// Calls as code: which operator or device function serves, for integers and for reals.
#include <algorithm>
#include <cmath>

#include "codegen/expression_text.h"
#include "codegen/lowering/expression_code.h"
#include "derive/operations.h"

namespace napkin::lowering {
namespace {

/// Whether dividing by it is multiplying by its reciprocal.
bool exact_divisor(const Code& code) {
    int exponent = 0;
    return std::abs(std::frexp(*code.constant, &exponent)) == 0.5;
}

const char* real_function(Function function) {
    switch (function) {
    case Function::Exp: return "expf";
    case Function::Log: return "logf";
    case Function::Sqrt: return "sqrtf";
    case Function::Rsqrt: return "rsqrtf";
    case Function::Tanh: return "tanhf";
    case Function::Erf: return "erff";
    case Function::Sin: return "sinf";
    case Function::Cos: return "cosf";
    case Function::Abs: return "absolute";
    case Function::Floor: return "floorf";
    case Function::Guard: return "guard";
    case Function::Min: return "minimum";
    case Function::Max: return "maximum";
    case Function::FloorDivide: return "floor_divide";
    case Function::Modulo: return "modulo";
    default: return nullptr;
    }
}

/// What serves instead where inputs are finite.
const char* fast_function(Function function, bool gradual) {
    switch (function) {
    case Function::Exp: return gradual ? "exp2_gradual" : "exp2_fast";
    case Function::Tanh: return "tanh_by_exp";
    default: return nullptr;
    }
}

/// Names the longest arguments until what they make is short enough for a line.
void shorten(std::vector<Code>& arguments, const ElementScope& element) {
    if (element.temporaries == nullptr) return;
    for (;;) {
        std::size_t total = 16;
        for (const Code& argument : arguments) total += width_of(argument.value);
        if (total <= kLongText) return;
        const auto longest = std::max_element(
            arguments.begin(), arguments.end(),
            [](const Code& a, const Code& b) { return width_of(a.value) < width_of(b.value); });
        if (width_of(longest->value) <= 8 || longest->constant) return;
        *longest = named(*longest, element);
    }
}

Code power(const Code& base, double exponent) {
    switch (steps_of_power(exponent).by) {
    case PowerSteps::By::Products:
        return real_code(
            kernel::call({"integer_power", {static_cast<int>(exponent)}}, {base.value}));
    case PowerSteps::By::Root:
        return real_code(kernel::call(exponent > 0 ? "sqrtf" : "rsqrtf", {base.value}));
    case PowerSteps::By::Logarithm:
        return real_code(kernel::call("powf", {base.value, kernel::real(exponent)}));
    }
    throw InternalError("unknown way to a power");
}

}  // namespace

Code ExpressionPrinter::integer_call(const Apply& call, const std::vector<Code>& arguments) {
    const IndexForm a = form_of(arguments[0]);
    const IndexForm b = arguments.size() > 1 ? form_of(arguments[1]) : IndexForm();
    switch (call.function) {
    case Function::Floor:
    case Function::Guard: return arguments[0];  // none is infinite
    case Function::Negate: return index_code(a * std::int64_t{-1});
    case Function::Add: return index_code(a + b);
    case Function::Subtract: return index_code(a - b);
    case Function::Multiply: return index_code(a * b);
    case Function::FloorDivide: return index_code(floor_divide(a, b));
    case Function::Modulo: return index_code(modulo(a, b));
    case Function::Min: return index_code(minimum(a, b));
    case Function::Max: return index_code(maximum(a, b));
    case Function::Abs: return index_code(absolute(a));
    case Function::BitAnd:
    case Function::BitOr:
    case Function::BitXor:
    case Function::ShiftLeft:
    case Function::ShiftRight: return index_code(bit_operation(call.function, a, b));
    case Function::Power: return index_code(napkin::power(a, b.constant));
    default: throw InternalError("no integer function");
    }
}

Code ExpressionPrinter::real_call(const Apply& call, std::vector<Code> arguments,
                                  const ElementScope& element) const {
    const bool finite = std::all_of(arguments.begin(), arguments.end(),
                                    [](const Code& code) { return code.finite; });
    const bool reciprocal =
        (call.function == Function::Divide && arguments[0].constant && !arguments[1].constant) ||
        (call.function == Function::Power && *arguments[1].constant < 0);
    Code code = real_operation(call, std::move(arguments), element);
    if (scope_.fast)
        code.finite = call.function == Function::Guard || call.function == Function::Exp ||
                      call.function == Function::Tanh || call.function == Function::Erf ||
                      (finite && call.function != Function::Log && !reciprocal);
    return code;
}

// Plain operators where the language's conventions cannot matter, calls elsewhere.
Code ExpressionPrinter::real_operation(const Apply& call, std::vector<Code> arguments,
                                       const ElementScope& element) const {
    shorten(arguments, element);
    std::vector<kernel::Expression> values;
    values.reserve(arguments.size());
    for (const Code& argument : arguments) values.push_back(argument.value);
    const Code& a = arguments[0];
    /// The operator where it is `harmless`.
    const auto either = [&](bool harmless, kernel::Operator operation, const char* function) {
        return harmless ? infix(operation, a, arguments[1], Sort::Real)
                        : real_code(kernel::call(function, values));
    };
    switch (call.function) {
    case Function::Negate: return real_code(-a.value, a.finite);
    case Function::Add:
        return either(a.finite || arguments[1].finite, kernel::Operator::Add, "add");
    case Function::Subtract:
        return either(a.finite || arguments[1].finite || arguments[1].guarded,
                      kernel::Operator::Subtract, "subtract");
    case Function::Multiply:
        return either((a.finite && arguments[1].finite) || harmless_factor(a) ||
                          harmless_factor(arguments[1]),
                      kernel::Operator::Multiply, "multiply");
    case Function::Divide:
        return either(
            harmless_factor(arguments[1]) && (!scope_.fast || exact_divisor(arguments[1])),
            kernel::Operator::Divide, scope_.fast ? "divide_fast" : "divide");
    case Function::Power:
        invariant(arguments[1].constant.has_value(), "a power has a constant exponent");
        return power(a, *arguments[1].constant);
    default: break;
    }
    const char* fast = scope_.fast ? fast_function(call.function, scope_.gradual) : nullptr;
    const char* name = fast != nullptr ? fast : real_function(call.function);
    invariant(name != nullptr, "unknown function");
    Code code = real_code(kernel::call(name, std::move(values)));
    code.guarded = call.function == Function::Guard;
    code.finite = call.function == Function::Tanh || call.function == Function::Erf;
    return code;
}

}  // namespace napkin::lowering
