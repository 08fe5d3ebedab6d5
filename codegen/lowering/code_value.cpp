#include "codegen/lowering/code_value.h"

#include <fmt/format.h>

#include <cmath>

#include "diagrams/result.h"

namespace napkin::lowering {

Code index_code(IndexForm form) {
    Code code;
    code.text = print(form);
    const bool simple = print_factor(form) == code.text;
    const bool product = form.terms.size() == 1 && form.constant == 0;
    code.precedence = simple    ? precedence::kPrimary
                      : product ? precedence::kProduct
                                : precedence::kSumLevel;
    code.sort = Sort::Integer;
    code.finite = true;
    if (form.is_constant()) code.constant = static_cast<double>(form.constant);
    code.wide = form.is_constant() && std::abs(form.constant) > 2147483647;
    code.index = std::move(form);
    return code;
}

Code function_call(const std::string& name, const std::vector<std::string>& arguments, Sort sort) {
    Code code;
    code.text = name + "(";
    for (std::size_t i = 0; i < arguments.size(); ++i)
        code.text += (i > 0 ? ", " : "") + arguments[i];
    code.text += ")";
    code.sort = sort;
    return code;
}

Code infix(const Code& a, const std::string& operation, const Code& b, int precedence, Sort sort) {
    Code code;
    code.text =
        fmt::format("{} {} {}", wrapped(a, precedence), operation, wrapped(b, precedence + 1));
    code.precedence = precedence;
    code.sort = sort;
    code.finite = a.finite && b.finite && sort != Sort::Real;
    code.wide = a.wide || b.wide;
    return code;
}

Sort sort_of(ElementType type) {
    if (type == ElementType::Bool) return Sort::Boolean;
    return is_floating(type) ? Sort::Real : Sort::Integer;
}

const char* type_of(Sort sort) {
    switch (sort) {
    case Sort::Boolean: return "bool";
    case Sort::Integer: return "i64";
    case Sort::Real: return "float";
    }
    throw InternalError("unknown sort");
}

std::string wrapped(const Code& code, int precedence) {
    return code.precedence < precedence ? "(" + code.text + ")" : code.text;
}

Code real_constant(double value) {
    Code code;
    code.constant = value;
    code.finite = std::isfinite(value);
    const float single = static_cast<float>(value);
    if (std::isnan(value)) {
        code.text = "float_of(0x7fc00000u)";
    } else if (std::isinf(single)) {
        code.text = value > 0 ? "infinity()" : "minus_infinity()";
    } else {
        code.text = fmt::format("{}", single);
        if (code.text.find_first_of(".e") == std::string::npos) code.text += ".0";
        code.text += "f";
        if (std::signbit(single)) code.precedence = precedence::kUnary;
    }
    return code;
}

Code as_sort(const Code& code, Sort sort) {
    if (code.sort == sort) return code;
    if (code.constant) {
        if (sort == Sort::Real) return real_constant(*code.constant);
        if (sort == Sort::Integer && *code.constant == std::floor(*code.constant))
            return index_code(static_cast<std::int64_t>(*code.constant));
    }
    Code result;
    result.sort = sort;
    result.finite = code.sort != Sort::Real;
    switch (sort) {
    case Sort::Real: result.text = "float(" + code.text + ")"; break;
    case Sort::Integer:
        result.text =
            code.sort == Sort::Real ? "convert<i64>(" + code.text + ")" : "int(" + code.text + ")";
        result.wide = code.sort == Sort::Real;
        break;
    case Sort::Boolean:
        result.text = fmt::format("{} != 0", wrapped(code, precedence::kEquality + 1));
        result.precedence = precedence::kEquality;
        break;
    }
    return result;
}

std::string stored(const Code& value, ElementType type) {
    const std::string element = kernel::element_name(type);
    if (is_floating(type)) {
        const Code real = as_sort(value, Sort::Real);
        if (type == ElementType::TF32) return "round_tf32(" + real.text + ")";
        return type == ElementType::F32 ? real.text : "convert<" + element + ">(" + real.text + ")";
    }
    if (value.sort == Sort::Boolean) return fmt::format("convert<{}>({})", element, value.text);
    if (type == ElementType::I32 && value.sort == Sort::Integer && !value.wide) return value.text;
    if (type == ElementType::I64 && value.sort == Sort::Integer) return value.text;
    return fmt::format("convert<{}>({})", element, value.text);
}

Code rounded(const Code& value, ElementType type) {
    if (is_floating(type)) {
        const Code real = as_sort(value, Sort::Real);
        if (type == ElementType::F32 || type == ElementType::F64) return real;
        if (type == ElementType::TF32) return function_call("round_tf32", {real.text});
        return function_call("round_to<" + kernel::element_name(type) + ">", {real.text});
    }
    if (type == ElementType::Bool) return as_sort(value, Sort::Boolean);
    Code code =
        function_call("convert<" + kernel::element_name(type) + ">", {value.text}, Sort::Integer);
    code.wide = type == ElementType::I64;
    code.finite = true;
    if (!code.wide && type != ElementType::I32) code.text = "int(" + code.text + ")";
    return code;
}

Code loaded(const std::string& place, ElementType type) {
    Code code;
    code.sort = sort_of(type);
    code.finite = code.sort != Sort::Real;
    switch (type) {
    case ElementType::F32:
    case ElementType::TF32: code.text = place; break;
    case ElementType::Bool:
        code.text = place + " != 0";
        code.precedence = precedence::kEquality;
        break;
    case ElementType::I32: code.text = "int(" + place + ")"; break;
    case ElementType::I64:
        code.text = "i64(" + place + ")";
        code.wide = true;
        break;
    case ElementType::I8:
    case ElementType::I4: code.text = "int(" + place + ")"; break;
    default: code.text = "to_f32(" + place + ")"; break;
    }
    return code;
}

}  // namespace napkin::lowering
