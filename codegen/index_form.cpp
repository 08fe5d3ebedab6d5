#include "codegen/index_form.h"

#include <fmt/format.h>

#include <algorithm>

namespace napkin {
namespace {

void add_term(IndexForm& form, const std::string& text, std::int64_t coefficient) {
    const auto found = std::find_if(form.terms.begin(), form.terms.end(),
                                    [&](const auto& term) { return term.first == text; });
    if (found == form.terms.end()) {
        if (coefficient != 0) form.terms.emplace_back(text, coefficient);
        return;
    }
    found->second += coefficient;
    if (found->second == 0) form.terms.erase(found);
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
    const std::int64_t quotient = a / b;
    return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

IndexForm call(const char* function, const IndexForm& a, const IndexForm& b) {
    return index_atom(fmt::format("{}({}, {})", function, print(a), print(b)));
}

}  // namespace

IndexForm index_atom(std::string text) {
    IndexForm form;
    form.terms.emplace_back(std::move(text), 1);
    return form;
}

IndexForm operator+(const IndexForm& a, const IndexForm& b) {
    IndexForm sum = a;
    sum.constant += b.constant;
    for (const auto& [text, coefficient] : b.terms) add_term(sum, text, coefficient);
    return sum;
}

IndexForm operator-(const IndexForm& a, const IndexForm& b) {
    return a + b * std::int64_t{-1};
}

IndexForm operator*(const IndexForm& a, std::int64_t factor) {
    if (factor == 0) return 0;
    IndexForm product = a;
    product.constant *= factor;
    for (auto& term : product.terms) term.second *= factor;
    return product;
}

IndexForm operator*(const IndexForm& a, const IndexForm& b) {
    if (b.is_constant()) return a * b.constant;
    if (a.is_constant()) return b * a.constant;
    return index_atom(fmt::format("({} * {})", print_factor(a), print_factor(b)));
}

IndexForm floor_divide(const IndexForm& a, const IndexForm& divisor) {
    if (divisor.is_constant(1)) return a;
    if (a.is_constant() && divisor.is_constant() && divisor.constant != 0)
        return floor_quotient(a.constant, divisor.constant);
    return call("floor_divide", a, divisor);
}

IndexForm ceil_divide(const IndexForm& a, std::int64_t divisor) {
    if (divisor == 1) return a;
    if (a.is_constant()) return floor_quotient(a.constant + divisor - 1, divisor);
    return index_atom(fmt::format("({} / {})", print_factor(a + (divisor - 1)), divisor));
}

IndexForm modulo(const IndexForm& a, const IndexForm& divisor) {
    if (divisor.is_constant(1)) return 0;
    if (a.is_constant() && divisor.is_constant() && divisor.constant != 0)
        return a.constant - divisor.constant * floor_quotient(a.constant, divisor.constant);
    return call("modulo", a, divisor);
}

IndexForm minimum(const IndexForm& a, const IndexForm& b) {
    const IndexForm difference = a - b;
    if (difference.is_constant()) return difference.constant <= 0 ? a : b;
    return call("minimum", a, b);
}

IndexForm maximum(const IndexForm& a, const IndexForm& b) {
    const IndexForm difference = a - b;
    if (difference.is_constant()) return difference.constant >= 0 ? a : b;
    return call("maximum", a, b);
}

std::string print(const IndexForm& a) {
    std::string text;
    const auto append = [&](bool negative, const std::string& part) {
        if (text.empty())
            text = (negative ? "-" : "") + part;
        else
            text += (negative ? " - " : " + ") + part;
    };
    // A sum starts with something that is added, where there is one.
    const bool constant_first = a.constant > 0 && !a.terms.empty() &&
                                std::all_of(a.terms.begin(), a.terms.end(),
                                            [](const auto& term) { return term.second < 0; });
    if (constant_first) append(false, fmt::format("{}", a.constant));
    for (const bool negative : {false, true})
        for (const auto& [name, coefficient] : a.terms) {
            if ((coefficient < 0) != negative) continue;
            const std::int64_t size = negative ? -coefficient : coefficient;
            append(negative, size == 1 ? name : fmt::format("{} * {}", name, size));
        }
    if (!constant_first && (a.constant != 0 || text.empty()))
        append(a.constant < 0, fmt::format("{}", a.constant < 0 ? -a.constant : a.constant));
    return text;
}

std::string print_factor(const IndexForm& a) {
    const bool simple = (a.is_constant() && a.constant >= 0) ||
                        (a.constant == 0 && a.terms.size() == 1 && a.terms.front().second == 1);
    return simple ? print(a) : "(" + print(a) + ")";
}

}  // namespace napkin
