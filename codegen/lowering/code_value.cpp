#include "codegen/lowering/code_value.h"

#include <cmath>

#include "diagrams/result.h"

namespace napkin::lowering {

using kernel::call;

Code real_code(kernel::Expression value, bool finite) {
    Code code;
    code.value = std::move(value);
    code.finite = finite;
    return code;
}

Code index_code(IndexForm form) {
    Code code;
    code.value = expression_of(form);
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
    return index_atom(code.value, code.range, code.wide);
}

Code integer_code(kernel::Expression value, const Interval& range, bool wide) {
    return index_code(index_atom(std::move(value), range, wide));
}

bool harmless_factor(const Code& code) {
    return code.factor || (code.constant && *code.constant != 0 && std::isfinite(*code.constant));
}

Code infix(kernel::Operator operation, const Code& a, const Code& b, Sort sort) {
    Code code;
    code.value = binary(operation, a.value, b.value);
    code.sort = sort;
    code.finite = a.finite && b.finite && sort != Sort::Real;
    code.wide = a.wide || b.wide;
    return code;
}

Sort sort_of(ElementType type) {
    if (type == ElementType::Bool) return Sort::Boolean;
    return is_floating(type) ? Sort::Real : Sort::Integer;
}

kernel::Type type_of(Sort sort) {
    switch (sort) {
    case Sort::Boolean: return "bool";
    case Sort::Integer: return "i64";
    case Sort::Real: return "float";
    }
    throw InternalError("unknown sort");
}

kernel::Type type_of(const Code& code) {
    return code.sort == Sort::Integer && !code.wide ? "int" : type_of(code.sort);
}

Code real_constant(double value) {
    Code code = real_code(kernel::real(value), std::isfinite(value));
    code.constant = value;
    return code;
}

/// What a cast to int is of. `(float(int(x[i])) - y)` would begin with the type of a function.
const kernel::Expression& without_cast(const kernel::Expression& value) {
    const kernel::Call* made = std::get_if<kernel::Call>(&value.node);
    return made != nullptr && made->parts.front() == kernel::Expression(kernel::Entity("int"))
               ? made->parts.back()
               : value;
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
    case Sort::Real: result.value = call("float", {without_cast(code.value)}); break;
    case Sort::Integer:
        if (code.sort == Sort::Real)
            return integer_code(call({"convert", {kernel::Type("i64")}}, {code.value}), kAny64,
                                true);
        return integer_code(call("int", {code.value}), range_of(ElementType::Bool));
    case Sort::Boolean: result.value = binary(kernel::Operator::NotEqual, code.value, 0); break;
    }
    return result;
}

namespace {

/// `convert<bf16>`, `round_to<bf16>`.
kernel::Entity to_element(const char* function, ElementType type) {
    return {function, {kernel::Type(kernel::element_name(type))}};
}

/// Numbers of 4 bits have no type of their own.
kernel::Expression converted_to(ElementType type, const kernel::Expression& value) {
    if (type == ElementType::I4) return call("convert_i4", {value});
    return call(to_element("convert", type), {value});
}

}  // namespace

kernel::Expression stored(const Code& value, ElementType type) {
    if (is_floating(type)) {
        const Code real = as_sort(value, Sort::Real);
        if (type == ElementType::TF32) return call("round_tf32", {real.value});
        if (type == ElementType::F32) return real.value;
        return converted_to(type, real.value);
    }
    const bool integer = value.sort == Sort::Integer;
    if (type == ElementType::I32 && integer && !value.wide) return value.value;
    if (type == ElementType::I64 && integer) return value.value;
    return converted_to(type, value.value);
}

Code rounded(const Code& value, ElementType type) {
    if (is_floating(type)) {
        Code real = as_sort(value, Sort::Real);
        if (type == ElementType::F32 || type == ElementType::F64) return real;
        if (type == ElementType::TF32) return real_code(call("round_tf32", {real.value}));
        return real_code(call(to_element("round_to", type), {real.value}));
    }
    if (type == ElementType::Bool) return as_sort(value, Sort::Boolean);
    const kernel::Expression converted = converted_to(type, value.value);
    const bool whole = type == ElementType::I32 || type == ElementType::I64;
    const bool inside = value.sort == Sort::Integer && value.range.within(range_of(type));
    return integer_code(whole ? converted : call("int", {converted}),
                        inside ? value.range : range_of(type), type == ElementType::I64);
}

Code loaded(const kernel::Expression& place, ElementType type) {
    switch (type) {
    case ElementType::F32:
    case ElementType::TF32: return real_code(place);
    case ElementType::Bool: {
        Code code = real_code(binary(kernel::Operator::NotEqual, place, 0), true);
        code.sort = Sort::Boolean;
        return code;
    }
    case ElementType::I64: return integer_code(call("i64", {place}), range_of(type), true);
    case ElementType::I32:
    case ElementType::I8:
    case ElementType::I4: return integer_code(call("int", {place}), range_of(type));
    default: return real_code(call("to_f32", {place}));
    }
}

}  // namespace napkin::lowering
