#include "derive/rules/terms.h"

#include <algorithm>

#include "derive/rewriting/products.h"
#include "derive/rewriting/unify.h"
#include "diagrams/facts.h"
#include "diagrams/integer_range.h"
#include "diagrams/literal.h"
#include "diagrams/value_kind.h"

namespace napkin::rules {

namespace {

/// Terms that a product is multiplied out into, at most.
constexpr std::size_t kMostTerms = 64;

/// The terms of a sum as it is written: no product in it is multiplied out.
std::vector<Term> summands(const Expression& expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    const bool minus = call != nullptr && call->function == Function::Subtract;
    if (call == nullptr || (!minus && call->function != Function::Add)) return {{1, expression}};
    std::vector<Term> terms = summands(call->arguments[0]);
    for (Term& term : summands(call->arguments[1])) {
        if (minus) term.sign = -term.sign;
        terms.push_back(std::move(term));
    }
    return terms;
}

/// Adds a product to a sum of products, to that of the same factors where a literal means both.
void add(std::vector<Product>& sum, Product product) {
    for (auto same = sum.begin(); same != sum.end(); ++same) {
        Product scaled = *same;
        scaled.coefficient = product.coefficient;
        const std::optional<double> both =
            same_factors(scaled, product) ? sum_of_literals(same->coefficient, product.coefficient)
                                          : std::nullopt;
        if (!both) continue;
        same->coefficient = *both;
        if (*both == 0) sum.erase(same);
        return;
    }
    sum.push_back(std::move(product));
}

/// The range of an integer at every size that a kernel takes, of inputs of any values.
std::optional<Interval> possible_range(const Diagram& diagram, const Expression& value) {
    const auto longest = [&](AxisId axis) {
        const std::int64_t extent = diagram[axis].extent;
        return diagram[axis].dynamic ? std::max(extent, kMostAtRunTime) : extent;
    };
    return value_range(value, [&](const Expression& part) -> std::optional<Interval> {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
            return Interval{0, longest(index->axis) - 1};
        if (const SizeOf* size = std::get_if<SizeOf>(&part.node))
            return Interval{1, longest(size->axis)};
        const Read* element = std::get_if<Read>(&part.node);
        if (element == nullptr || is_floating(diagram[element->array].type)) return std::nullopt;
        return range_of(diagram[element->array].type);
    });
}

}  // namespace

Expression total(const std::vector<Term>& terms) {
    Expression sum = terms.front().value;
    if (terms.front().sign < 0) sum = napkin::apply(Function::Negate, {std::move(sum)});
    for (std::size_t i = 1; i < terms.size(); ++i)
        sum = napkin::apply(terms[i].sign < 0 ? Function::Subtract : Function::Add,
                            {std::move(sum), terms[i].value});
    return sum;
}

const Expression* product_of_sums(const std::vector<Term>& terms) {
    for (const Term& term : terms)
        if (term.product) return &*term.product;
    return nullptr;
}

void Expansion::keep(const Expression& value, const std::string& why) {
    if (!kept_) kept_ = NotApplicable{"`" + print(diagram_, value) + "` " + why, ""};
}

bool Expansion::is_finite(const Expression& value) {
    std::optional<NotApplicable> refusal = why_infinite(diagram_, value);
    if (refusal && !kept_) kept_ = std::move(refusal);
    return !refusal;
}

bool Expansion::is_never_zero(const Expression& divisor) {
    const bool never = DiagramFacts(diagram_).of(divisor).never_zero();
    if (!never) keep(divisor, "may be 0, and a sum by it is then not the sum of quotients");
    return never;
}

/// One that may be infinite stays a term.
std::vector<Term> Expansion::opened(const Expression& expression) {
    std::vector<Term> terms = terms_of(expression);
    return terms.size() < 2 || is_finite(expression) ? terms : std::vector<Term>{{1, expression}};
}

std::vector<Term> Expansion::terms_of(const Expression& expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return {{1, expression}};
    const std::vector<Expression>& args = call->arguments;
    switch (call->function) {
    case Function::Add:
    case Function::Subtract: {
        const bool minus = call->function == Function::Subtract;
        std::vector<Term> terms = terms_of(args[0]);
        for (Term& term : minus ? opened(args[1]) : terms_of(args[1])) {
            if (minus) term.sign = -term.sign;
            terms.push_back(std::move(term));
        }
        return terms;
    }
    case Function::Negate: {
        std::vector<Term> terms = opened(args[0]);
        for (Term& term : terms) term.sign = -term.sign;
        return terms;
    }
    case Function::Multiply: return products_of(expression, args[0], args[1]);
    case Function::Power: {
        const std::vector<Term> terms = opened(args[0]);
        if (terms.size() < 2) return {{1, expression}};
        if (is_literal(args[1], 2)) return multiplied(expression, terms, terms);
        keep(expression, "is no square, and no other power of a sum is multiplied out");
        return {{1, expression}};
    }
    case Function::Divide: {
        if (!DiagramFacts(diagram_).of(args[1]).never_zero()) return {{1, expression}};
        std::vector<Term> terms = opened(args[0]);
        for (Term& term : terms)
            term.value = napkin::apply(Function::Divide, {std::move(term.value), args[1]});
        return terms;
    }
    default: return {{1, expression}};
    }
}

std::vector<Term> Expansion::products_of(const Expression& product, const Expression& left,
                                         const Expression& right) {
    const std::vector<Term> a = opened(left);
    const std::vector<Term> b = opened(right);
    if (a.size() < 2 && b.size() < 2) return {{1, product}};
    if ((a.size() > 1 && !is_finite(right)) || (b.size() > 1 && !is_finite(left)))
        return {{1, product}};
    if (a.size() > 1 && b.size() > 1) return multiplied(product, a, b);
    std::vector<Term> terms;
    for (const Term& x : a)
        for (const Term& y : b)
            terms.push_back({x.sign * y.sign, napkin::apply(Function::Multiply, {x.value, y.value}),
                             x.product ? x.product : y.product});
    return terms;
}

/// Every term with every term, those of the same factors as one.
std::vector<Term> Expansion::multiplied(const Expression& whole, const std::vector<Term>& left,
                                        const std::vector<Term>& right) {
    if (left.size() * right.size() > kMostTerms) {
        keep(whole, "has more than " + std::to_string(kMostTerms) + " terms");
        return {{1, whole}};
    }
    std::vector<Product> products;
    for (const Term& a : left)
        for (const Term& b : right) {
            Product product = product_of(a.value) * product_of(b.value);
            product.coefficient *= a.sign * b.sign;
            add(products, std::move(product));
        }
    std::vector<Term> terms;
    for (Product& product : products) {
        const double sign = product.coefficient < 0 ? -1 : 1;
        product.coefficient *= sign;
        terms.push_back({sign, expression_of(product), whole});
    }
    if (terms.empty()) terms.push_back({1, number(0), whole});
    return terms;
}

std::vector<Term> Expansion::with_map_opened(const Term& whole) {
    const Product product = product_of(whole.value);
    for (std::size_t at = 0; at < product.factors.size(); ++at) {
        const Factor& factor = product.factors[at];
        const Read* element = std::get_if<Read>(&factor.base.node);
        if (element == nullptr || (factor.power != 1 && factor.power != 2)) continue;
        const std::optional<Expression> inside = opened_map(diagram_, *element);
        std::vector<Term> terms = inside ? summands(*inside) : std::vector<Term>{};
        Product rest = product;
        rest.factors.erase(rest.factors.begin() + static_cast<std::ptrdiff_t>(at));
        if (terms.size() < 2 || !is_finite(expression_of(rest)) || !is_finite(*inside)) continue;
        if (factor.power == 2)
            terms =
                multiplied(napkin::apply(Function::Power, {factor.base, integer(2)}), terms, terms);
        for (Term& term : terms) {
            term.sign *= whole.sign;
            term.value = expression_of(product_of(term.value) * rest);
        }
        return terms;
    }
    return {whole};
}

std::optional<NotApplicable> why_inexact(const Diagram& diagram, const std::vector<Term>& terms,
                                         const std::vector<AxisId>& over) {
    for (const Term& term : terms) {
        if (kind_of(diagram, term.value) != ValueKind::Integer) continue;
        Expression summed = term.value;
        for (AxisId axis : over)
            summed = napkin::apply(Function::Multiply, {std::move(summed), size_of(axis)});
        const std::optional<Interval> range = possible_range(diagram, summed);
        if (range && range->within(kExactIntegers)) continue;
        const std::string printed = print(diagram, term.value);
        return NotApplicable{"`" + printed + "`" + (over.empty() ? "" : ", summed,") +
                                 " may be more than 2^53, beyond which integers are not exact",
                             ""};
    }
    return std::nullopt;
}

}  // namespace napkin::rules
