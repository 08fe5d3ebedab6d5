#include "codegen/index_form.h"

#include <algorithm>

#include "codegen/expression_text.h"
#include "diagrams/checked.h"

namespace napkin {
namespace {

/// False where the coefficient would not fit.
bool add_term(IndexForm& form, const IndexAtom& atom, std::int64_t coefficient) {
    const auto found = std::find_if(form.terms.begin(), form.terms.end(),
                                    [&](const auto& term) { return term.first == atom; });
    if (found == form.terms.end()) {
        if (coefficient != 0) form.terms.emplace_back(atom, coefficient);
        return true;
    }
    if (!put(CheckedInt(found->second) + coefficient, found->second)) return false;
    if (found->second == 0) form.terms.erase(found);
    return true;
}

Interval only(std::int64_t value) {
    return {value, value};
}

/// A call of a function that has versions of 32 and of 64 bits.
IndexForm call(kernel::Entity function, const std::vector<IndexForm>& arguments,
               const Interval& range) {
    const bool wide =
        !range.within(kAny32) || std::any_of(arguments.begin(), arguments.end(), is_wide);
    std::vector<kernel::Expression> values;
    for (const IndexForm& argument : arguments) values.push_back(expression_as(argument, wide));
    return index_atom(kernel::call(std::move(function), std::move(values)), range, wide);
}

/// a * b as one term.
IndexForm product_atom(const IndexForm& a, const IndexForm& b) {
    const Interval range = range_of(a) * range_of(b);
    const bool wide = is_wide(a) || is_wide(b);
    const bool widened = !wide && !range.within(kAny32);
    return index_atom(expression_as(a, widened) * expression_of(b), range, wide || widened);
}

/// A sum as the kernel has it, from left to right.
class Sum {
public:
    void add(const IndexAtom& atom, std::int64_t coefficient) {
        const Interval product = atom.range * only(coefficient);
        const Interval next = value ? total_ + product : product;
        const std::int64_t size = coefficient < 0 ? -coefficient : coefficient;
        const bool small = product.within(kAny32) && only(size).within(kAny32);
        const bool convert = !atom.wide && !(small && (wide || next.within(kAny32)));
        const kernel::Expression term = convert ? kernel::call("i64", {atom.value}) : atom.value;
        append(coefficient < 0, term, size);
        wide = wide || atom.wide || convert;
        total_ = next;
    }
    void add(std::int64_t constant) {
        const Interval next = value ? total_ + only(constant) : only(constant);
        const std::int64_t size = constant < 0 ? -constant : constant;
        const bool convert = !only(size).within(kAny32) || (!wide && !next.within(kAny32));
        if (!value && !convert)
            value = constant;
        else
            append(constant < 0, convert ? kernel::call("i64", {size}) : kernel::Expression(size),
                   1);
        wide = wide || convert;
        total_ = next;
    }

    std::optional<kernel::Expression> value;
    bool wide = false;

private:
    void append(bool negative, kernel::Expression term, std::int64_t factor) {
        if (negative && !value) term = -std::move(term);
        if (factor != 1) term = std::move(term) * factor;
        if (!value)
            value = std::move(term);
        else
            value = negative ? *std::move(value) - std::move(term)
                             : *std::move(value) + std::move(term);
    }
    Interval total_;
};

Sum sum_of(const IndexForm& a) {
    Sum sum;
    // A sum starts with something that is added, where there is one.
    const bool constant_first = a.constant > 0 && !a.terms.empty() &&
                                std::all_of(a.terms.begin(), a.terms.end(),
                                            [](const auto& term) { return term.second < 0; });
    if (constant_first) sum.add(a.constant);
    for (const bool negative : {false, true})
        for (const auto& [atom, coefficient] : a.terms)
            if ((coefficient < 0) == negative) sum.add(atom, coefficient);
    if (!constant_first && (a.constant != 0 || a.terms.empty())) sum.add(a.constant);
    return sum;
}

}  // namespace

IndexForm index_atom(kernel::Expression value, const Interval& range, bool wide) {
    IndexForm form;
    form.terms.push_back({{std::move(value), range, wide || !range.within(kAny32)}, 1});
    return form;
}

IndexForm index_atom(std::string name, const Interval& range, bool wide) {
    return index_atom(kernel::variable(std::move(name)), range, wide);
}

Interval range_of(const IndexForm& a) {
    Interval range = only(a.constant);
    for (const auto& [atom, coefficient] : a.terms) range = range + atom.range * only(coefficient);
    return range;
}

bool is_wide(const IndexForm& a) {
    return sum_of(a).wide;
}

kernel::Type type_of(const IndexForm& a) {
    return is_wide(a) ? "i64" : "int";
}

IndexForm operator+(const IndexForm& a, const IndexForm& b) {
    IndexForm sum = a;
    bool fits = put(CheckedInt(a.constant) + b.constant, sum.constant);
    for (const auto& [atom, coefficient] : b.terms) fits = fits && add_term(sum, atom, coefficient);
    if (fits) return sum;
    return index_atom(expression_as(a, true) + expression_as(b, true), range_of(a) + range_of(b),
                      true);
}

IndexForm operator-(const IndexForm& a, const IndexForm& b) {
    return a + b * std::int64_t{-1};
}

IndexForm operator*(const IndexForm& a, std::int64_t factor) {
    if (factor == 0) return 0;
    IndexForm product = a;
    bool fits = put(CheckedInt(a.constant) * factor, product.constant);
    for (auto& term : product.terms)
        fits = fits && put(CheckedInt(term.second) * factor, term.second);
    return fits ? product : product_atom(a, factor);
}

IndexForm operator*(const IndexForm& a, const IndexForm& b) {
    if (b.is_constant()) return a * b.constant;
    if (a.is_constant()) return b * a.constant;
    return product_atom(a, b);
}

IndexForm floor_divide(const IndexForm& a, const IndexForm& divisor) {
    if (divisor.is_constant(1)) return a;
    if (a.is_constant() && divisor.is_constant() && divisor.constant != 0)
        return floor_quotient(a.constant, divisor.constant);
    return call("floor_divide", {a, divisor}, floor_quotient(range_of(a), range_of(divisor)));
}

IndexForm ceil_divide(const IndexForm& a, std::int64_t divisor) {
    if (divisor == 1) return a;
    const IndexForm above = a + (divisor - 1);
    if (a.is_constant()) return floor_quotient(above.constant, divisor);
    return index_atom(expression_of(above) / divisor,
                      floor_quotient(range_of(above), only(divisor)), is_wide(above));
}

IndexForm modulo(const IndexForm& a, const IndexForm& divisor) {
    if (divisor.is_constant(1)) return 0;
    if (a.is_constant() && divisor.is_constant() && divisor.constant != 0)
        return a.constant - divisor.constant * floor_quotient(a.constant, divisor.constant);
    return call("modulo", {a, divisor}, remainder(range_of(a), range_of(divisor)));
}

IndexForm minimum(const IndexForm& a, const IndexForm& b) {
    const IndexForm difference = a - b;
    if (difference.is_constant()) return difference.constant <= 0 ? a : b;
    return call("minimum", {a, b}, smaller(range_of(a), range_of(b)));
}

IndexForm maximum(const IndexForm& a, const IndexForm& b) {
    const IndexForm difference = a - b;
    if (difference.is_constant()) return difference.constant >= 0 ? a : b;
    return call("maximum", {a, b}, larger(range_of(a), range_of(b)));
}

IndexForm absolute(const IndexForm& a) {
    if (a.is_constant()) return a.constant < 0 ? -a.constant : a.constant;
    return call("absolute", {a}, magnitude(range_of(a)));
}

IndexForm bit_operation(Function function, const IndexForm& a, const IndexForm& b) {
    return call(name_of(function), {a, b}, bit_range(function, range_of(a), range_of(b)));
}

IndexForm power(const IndexForm& a, std::int64_t exponent) {
    return call({"integer_power", {exponent}}, {a}, power(range_of(a), exponent));
}

kernel::Expression expression_of(const IndexForm& a) {
    return *sum_of(a).value;
}

kernel::Expression expression_as(const IndexForm& a, bool wide) {
    return wide && !is_wide(a) ? kernel::call("i64", {expression_of(a)}) : expression_of(a);
}

std::string print(const IndexForm& a) {
    return kernel::print(expression_of(a));
}

}  // namespace napkin
