#include "derive/proof/exponent_terms.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "derive/proof/limits.h"
#include "diagrams/checked.h"

namespace napkin::proof {
namespace {

/// Products of forms are spelled out up to this many terms.
constexpr std::size_t kMostTerms = 64;

using Terms = std::vector<std::pair<InQ, std::int64_t>>;

/// Adds m * n * value, under the smaller of the value and its negative.
void push(Terms& terms, InQ value, std::int64_t m, std::int64_t n) {
    const CheckedInt both = CheckedInt(m) * n;
    if (!both) value = value * InQ::of_integer(m) * InQ::of_integer(n);
    const std::int64_t factor = both.value.value_or(1);
    const bool flip = -value < value;
    terms.emplace_back(flip ? -value : value, flip ? -factor : factor);
}

/// Sorts, adds up equal terms and drops those that vanish.
void combine(Terms& terms) {
    std::sort(terms.begin(), terms.end());
    auto end = terms.begin();
    for (const auto& [value, factor] : terms) {
        if (end != terms.begin() && std::prev(end)->first == value)
            std::prev(end)->second += factor;
        else
            *end++ = {value, factor};
        if (std::prev(end)->second == 0) --end;
    }
    terms.erase(end, terms.end());
}

InQ value_of(const Terms& terms) {
    InQ sum;
    for (const auto& [value, factor] : terms) sum = sum + value * InQ::of_integer(factor);
    return sum;
}

}  // namespace

ExponentTerms::ExponentTerms(std::uint64_t key) : atom_(key) {
    nodes_.emplace_back();
}

FormId ExponentTerms::add(Node node) {
    nodes_.push_back(node);
    return FormId{static_cast<std::uint32_t>(nodes_.size() - 1)};
}

FormId ExponentTerms::term(InQ value) {
    if (value.is_zero()) return {};
    Node node{.kind = Kind::Term, .value = value};
    if (-value < value) {
        node.value = -value;
        node.factor = -1;
    }
    return add(node);
}

FormId ExponentTerms::sum(FormId a, FormId b) {
    if (a == FormId{}) return b;
    if (b == FormId{}) return a;
    return add({.kind = Kind::Sum, .a = a.value, .b = b.value});
}

FormId ExponentTerms::negated(FormId a) {
    return multiple(a, -1);
}

FormId ExponentTerms::multiple(FormId a, std::int64_t factor) {
    if (a == FormId{} || factor == 1) return a;
    if (factor == 0) return {};
    return add({.kind = Kind::Multiple, .a = a.value, .factor = factor});
}

FormId ExponentTerms::product(FormId a, FormId b) {
    if (a == FormId{} || b == FormId{}) return {};
    const Node& left = nodes_[a.index()];
    const Node& right = nodes_[b.index()];
    if (left.kind == Kind::Term && right.kind == Kind::Term) {
        const InQ size = left.value * right.value;
        return term(left.factor == right.factor ? size : -size);
    }
    return add({.kind = Kind::Product, .a = a.value, .b = b.value});
}

void ExponentTerms::collect(std::uint32_t node, std::int64_t factor, Form& out) {
    // Sums nest as deep as a reduction is long, so their left sides are followed in a loop.
    while (true) {
        if (++spelled_ > kMostTermsSpelled)
            throw TooMuchWork("terms of exponents", kMostTermsSpelled);
        const Node& here = nodes_[node];
        switch (here.kind) {
        case Kind::Zero: return;
        case Kind::Term: return push(out, here.value, here.factor, factor);
        case Kind::Multiple: {
            const CheckedInt both = CheckedInt(factor) * here.factor;
            if (!both) return push(out, value_of(form_of(here.a)), here.factor, factor);
            factor = *both;
            node = nodes_[node].a;
            continue;
        }
        case Kind::Sum:
            collect(here.b, factor, out);
            node = nodes_[node].a;
            continue;
        case Kind::Product:
            for (const auto& [value, count] : product_form(node)) push(out, value, count, factor);
            return;
        }
    }
}

ExponentTerms::Form ExponentTerms::form_of(std::uint32_t node) {
    Form form;
    collect(node, 1, form);
    combine(form);
    return form;
}

const ExponentTerms::Form& ExponentTerms::product_form(std::uint32_t node) {
    const auto known = products_.find(node);
    if (known != products_.end()) return known->second;
    const Form left = form_of(nodes_[node].a);
    const Form right = form_of(nodes_[node].b);
    Form product;
    if (left.size() == 1 || right.size() == 1 || left.size() * right.size() <= kMostTerms) {
        for (const auto& [a, m] : left)
            for (const auto& [b, n] : right) push(product, a * b, m, n);
    } else {
        push(product, value_of(left) * value_of(right), 1, 1);
    }
    combine(product);
    return products_.emplace(node, std::move(product)).first->second;
}

ExponentTerms::Atoms ExponentTerms::atoms(FormId form) {
    Atoms atoms;
    for (const auto& [value, factor] : form_of(form.value)) {
        atoms.value = atoms.value + atom_(value.value()).in_q() * InQ::of_integer(factor);
        (factor > 0 ? atoms.above : atoms.below) += std::abs(static_cast<float>(factor));
    }
    return atoms;
}

}  // namespace napkin::proof
