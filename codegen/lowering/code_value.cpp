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
    code.wide = is_wide(form);
    code.range = range_of(form);
    code.index = std::move(form);
    return code;
}

IndexForm form_of(const Code& code) {
    if (code.index) return *code.index;
    return index_atom(wrapped(code, precedence::kPrimary), code.range, code.wide);
}

Code integer_code(std::string text, const Interval& range, bool wide) {
    return index_code(index_atom(std::move(text), range, wide));
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

const char* type_of(const Code& code) {
    return code.sort == Sort::Integer && !code.wide ? "int" : type_of(code.sort);
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
        if (code.sort == Sort::Real)
            return integer_code("convert<i64>(" + code.text + ")", kAny64, true);
        return integer_code("int(" + code.text + ")", range_of(ElementType::Bool));
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
    const std::string text = fmt::format("convert<{}>({})", kernel::element_name(type), value.text);
    const bool whole = type == ElementType::I32 || type == ElementType::I64;
    const bool inside = value.sort == Sort::Integer && value.range.within(range_of(type));
    return integer_code(whole ? text : "int(" + text + ")", inside ? value.range : range_of(type),
                        type == ElementType::I64);
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
    case ElementType::I64: return integer_code("i64(" + place + ")", range_of(type), true);
    case ElementType::I32:
    case ElementType::I8:
    case ElementType::I4: return integer_code("int(" + place + ")", range_of(type));
    default: code.text = "to_f32(" + place + ")"; break;
    }
    return code;
}

}  // namespace napkin::lowering
