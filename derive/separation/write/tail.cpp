// The tail: results in terms of states.
#include <algorithm>
#include <cmath>
#include <functional>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/write/builder.h"
#include "diagrams/contains.h"

namespace napkin::separation {
namespace {

/// The magnitude of all coefficients where they have one, a whole number; else 1.
double common_magnitude(const Polynomial& sum) {
    const double first = std::abs(sum.terms.front().second);
    const bool shared = first == std::floor(first) &&
                        std::all_of(sum.terms.begin(), sum.terms.end(), [&](const auto& term) {
                            return std::abs(term.second) == first;
                        });
    return shared ? first : 1;
}

}  // namespace

PolynomialId Builder::resolved(TermId fold) {
    const Form value = tail_.of(fold);
    if (!value) throw Unresolved{};
    return *value;
}

/// Whether every fold in the term is a state as it stands, so that the user's own form is safe.
bool Builder::plain(TermId id) {
    return !mentions(algebra_, id, [&](TermId part) {
        if (algebra_[part].kind != Kind::Fold) return false;
        const PolynomialId value = resolved(part);
        return algebra_[algebra_.term_of(value)].kind != Kind::State;
    });
}

/// Whether a sum of exponentials in it is formed relative to the largest exponent.
bool Builder::is_scaled(PolynomialId form) {
    return mentions(algebra_, form, [&](TermId id) { return tail_.scaled_sums().contains(id); });
}

Expression Builder::tail_value(TermId term) {
    const Form form = tail_.of(term);
    if (!form || (plain(term) && !is_scaled(*form))) return expression(term, Where::Tail);
    tail_judge_.note(*form);
    return expression(*form, Where::Tail);
}

void Builder::renew(Statement& statement,
                    const std::function<Expression(const Expression&)>& written) {
    if (Map* map = std::get_if<Map>(&statement.body)) map->value = written(map->value);
    if (Fold* fold = std::get_if<Fold>(&statement.body)) {
        for (Expression& value : fold->values) value = written(value);
        for (Expression& value : fold->seed) value = written(value);
    }
    if (Select* select = std::get_if<Select>(&statement.body))
        select->value = written(select->value);
}

/// The statement with every value written anew over states and arrays of the tail.
Statement Builder::rewritten(const Statement& source) {
    Statement copy = source;
    renew(copy, [&](const Expression& value) { return tail_value(cascade_.lower(value)); });
    if (const Opaque* opaque = std::get_if<Opaque>(&copy.body))
        for (const Expression& element : opaque->reads)
            need_tail(std::get<Read>(element.node).array);
    return copy;
}

/// How many streamed values what the product's sums add up multiplies.
double Builder::degree_of(const Monomial& product) const {
    double degree = 0;
    for (const auto& [factor, power] : product.powers) {
        const Term& term = algebra_[factor];
        if (term.kind != Kind::State || power < 0) continue;
        double own = 0;
        for (const auto& [mono, coefficient] : algebra_[plan_.states()[term.ref].form].terms)
            for (const auto& [base, times] : mono.powers)
                if (algebra_.class_of(base).streamed) own = std::max(own, times);
        degree += own * power;
    }
    return degree;
}

/// Powers of sums over powers of a size as powers of means, taken out of the product: that of a
/// sum of many may be infinite where the mean's is not.
std::vector<Builder::Factor> Builder::means_in(Monomial& product) {
    std::vector<Factor> means;
    if (degree_of(product) < 3) return means;
    const auto size = std::find_if(product.powers.begin(), product.powers.end(), [&](auto& each) {
        return algebra_[each.first].kind == Kind::Size && each.second <= -1 &&
               each.second == std::floor(each.second);
    });
    if (size == product.powers.end()) return means;
    const Expression length = expression(size->first, Where::Tail);
    for (auto& [factor, power] : product.powers) {
        const double times = std::min(std::floor(power), -size->second);
        if (algebra_[factor].kind != Kind::State || times < 1) continue;
        Expression mean = apply(Function::Divide, {expression(factor, Where::Tail), length});
        if (times > 1) mean = apply(Function::Power, {std::move(mean), number(times)});
        means.push_back({std::move(mean), algebra_.class_of(factor)});
        power -= times;
        size->second += times;
    }
    std::erase_if(product.powers, [](const auto& each) { return each.second == 0; });
    return means;
}

/// Products with a factor that others are relative to, together with what shares their other
/// factors: g * a - b * a is (g - b) * a, a difference of values that are near each other.
PolynomialId Builder::gathered(PolynomialId polynomial) {
    const Polynomial sum = algebra_[polynomial];
    for (const auto& [mono, coefficient] : sum.terms) {
        const auto gauge = std::find_if(
            mono.powers.begin(), mono.powers.end(),
            [&](const auto& factor) { return factor.second == 1 && plan_.is_gauge(factor.first); });
        if (gauge == mono.powers.end() || !mono.guards.empty() || !mono.deferred.empty()) continue;
        Monomial shared = mono;
        std::erase(shared.powers, *gauge);
        if (shared == Monomial{}) continue;
        PolynomialId together = kZero;
        PolynomialId others = kZero;
        for (const auto& [each, factor] : sum.terms) {
            const std::optional<Monomial> rest = quotient_of(each, shared);
            PolynomialId& into = rest ? together : others;
            into = algebra_.add(into, algebra_.monomial(rest ? *rest : each, factor));
        }
        if (algebra_[together].terms.size() < 2) continue;
        const PolynomialId product =
            algebra_.multiply(algebra_.monomial(std::move(shared)), scaled_difference(together));
        return gathered(algebra_.add(product, others));
    }
    const bool gauges = std::any_of(sum.terms.begin(), sum.terms.end(),
                                    [&](const auto& term) { return is_bare_gauge(term.first); });
    return gauges && sum.terms.size() > 1 && common_magnitude(sum) != 1
               ? scaled_difference(polynomial)
               : polynomial;
}

/// 3 * (g - b): 3 * g - 3 * b rounds both products.
PolynomialId Builder::scaled_difference(PolynomialId sum) {
    Polynomial signs = algebra_[sum];
    const double scale = common_magnitude(signs);
    for (auto& [mono, coefficient] : signs.terms) coefficient /= scale;
    const PolynomialId difference = algebra_.make(std::move(signs));
    return algebra_.scale(algebra_.atom(algebra_.term_of(difference)), scale);
}

/// The value of a fold over states; a sum over other axes that was put off becomes a fold again.
Statement Builder::fold_result(ArrayId target, PolynomialId form) {
    tail_judge_.note(form);
    const Term sum = algebra_[algebra_.term_of(form)];
    if (sum.kind != Kind::Inner) return statement(target, expression(form, Where::Tail));
    Fold fold;
    fold.monoid = MonoidId{sum.ref};
    fold.over = sum.bound;
    fold.values.push_back(expression(sum.parts.front(), Where::Tail));
    return {.targets = {target},
            .body = std::move(fold),
            .box = box_of(serving_),
            .span = span_of(serving_)};
}

Statement Builder::tail_statement(ArrayId id) {
    for (const RegionStatement& each : cascade_.statements()) {
        const Statement& source = diagram_[each.statement];
        const auto at = std::find(source.targets.begin(), source.targets.end(), id);
        if (at == source.targets.end()) continue;
        const Fold* fold = std::get_if<Fold>(&source.body);
        if (each.part == Part::Tail && fold != nullptr && cascade_.is_streamed(fold->over.front()))
            return statement(id, tail_value(*cascade_.unrounded(id)));
        if (each.part != Part::Fold && each.part != Part::Pick) return rewritten(source);
        const TermId own = *cascade_.unrounded(id);  // the fold itself
        serving_ = algebra_[own].ref;
        const PolynomialId form = resolved(own);
        return fold_result(id, form);
    }
    throw InternalError("an array of the tail has no statement");
}

void Builder::need_tail(ArrayId id) {
    if (cascade_.part_of(id) == Part::Before || !tail_done_.insert(id).second) return;
    excluded_.insert(id);
    Statement written = tail_statement(id);
    excluded_.erase(id);
    for (const ArrayId target : written.targets) tail_done_.insert(target);
    result_.tail.push_back(std::move(written));
}

/// What a formula stood for that was then written without it, an inner sum put another way.
void Builder::drop_unused_tail() {
    std::vector<Statement>& tail = result_.tail;
    for (std::size_t i = tail.size(); i-- > 0;) {
        const auto later = tail.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        const auto is_used = [&](ArrayId target) {
            const bool is_own = target.index() < diagram_.arrays.size();
            return (is_own && cascade_.is_saved(target)) ||
                   std::any_of(later, tail.end(),
                               [&](const Statement& reader) { return reads(reader, target); });
        };
        const std::vector<ArrayId>& targets = tail[i].targets;
        if (std::none_of(targets.begin(), targets.end(), is_used)) tail.erase(later - 1);
    }
}

}  // namespace napkin::separation
