// Exponents relative to their maxima: the weights of a chunk, and the repair of what was summed
// before a maximum grew.
#include <algorithm>
#include <utility>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/write/builder.h"
#include "diagrams/contains.h"
#include "diagrams/infinity.h"

namespace napkin::separation {

/// An array of the body with this value, which differs for another form of equal exponents alone.
std::optional<ArrayId> Builder::written_already(const Expression& value) const {
    for (const Statement& each : body_)
        if (const Map* map = std::get_if<Map>(&each.body);
            map != nullptr && map->value == value && !array(each.targets.front()).rounds)
            return each.targets.front();
    return std::nullopt;
}

ArrayId Builder::repair(PolynomialId gauge) {
    const auto found = repairs_.find(gauge);
    if (found != repairs_.end()) return found->second;
    Expression value = apply(Function::Exp, {fall(gauge)});
    const std::optional<ArrayId> same = written_already(value);
    const ArrayId made =
        same ? *same : helper("_repair", algebra_.class_of(gauge).axes, std::move(value));
    repairs_.emplace(gauge, made);
    return made;
}

/// A gauge as multiples of maxima: `3 * m + n` is 3 times one and the other.
std::vector<Builder::MultipleOf> Builder::maxima_in(PolynomialId gauge) {
    std::vector<MultipleOf> multiples;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[gauge]).terms) {
        const auto maximum =
            std::find_if(mono.powers.begin(), mono.powers.end(), [&](const auto& factor) {
                return algebra_.class_of(factor.first).folded && factor.second == 1;
            });
        if (maximum == mono.powers.end()) return {};
        Monomial factor = mono;
        std::erase(factor.powers, *maximum);
        if (algebra_.class_of(factor).folded) return {};
        multiples.push_back({maximum->first, algebra_.monomial(factor, coefficient)});
    }
    return multiples;
}

/// factor * (value - reference), where the difference may be exactly 0.
Expression Builder::multiple_of_difference(PolynomialId factor, Expression value,
                                           Expression reference, Where where) {
    Expression difference = apply(
        Function::Subtract, {std::move(value), apply(Function::Guard, {std::move(reference)})});
    const double* constant = algebra_.as_constant(factor);
    if (constant != nullptr && *constant == 1) return difference;
    return apply(Function::Multiply, {expression(factor, where), std::move(difference)});
}

/// By how much the exponent of a state falls when the gauge grows.
Expression Builder::fall(PolynomialId gauge) {
    std::optional<Expression> sum;
    for (const auto& [maximum, factor] : maxima_in(gauge)) {
        const PolynomialId m = algebra_.atom(maximum);
        Expression part = multiple_of_difference(factor, expression(m, Where::Before),
                                                 expression(m, Where::After), Where::After);
        sum = sum ? apply(Function::Add, {std::move(*sum), std::move(part)}) : std::move(part);
    }
    if (sum) return std::move(*sum);
    return apply(Function::Subtract, {expression(gauge, Where::Before),
                                      apply(Function::Guard, {expression(gauge, Where::After)})});
}

/// The exponent relative to the gauge: every maximum is subtracted from the very values that it is
/// the maximum of, before anything else is added or multiplied.
Expression Builder::relative(PolynomialId varying, PolynomialId gauge) {
    PolynomialId rest = varying;
    PolynomialId others = gauge;
    std::optional<Expression> whole;
    const auto contains_all = [&](PolynomialId values) {
        const Polynomial have = algebra_[rest];
        const Polynomial want = algebra_[values];
        return !want.terms.empty() &&
               std::all_of(want.terms.begin(), want.terms.end(),
                           [&](const auto& term) { return contains(have.terms, term); });
    };
    for (const auto& [maximum, factor] : maxima_in(gauge)) {
        const PolynomialId m = algebra_.atom(maximum);
        for (const std::uint32_t fold : folds_in(algebra_, m)) {
            const PolynomialId values = algebra_.multiply(plan_.form(fold), factor);
            if (!contains_all(values)) continue;
            rest = algebra_.subtract(rest, values);
            others = algebra_.subtract(others, algebra_.multiply(m, factor));
            Expression value = multiple_of_difference(factor, own_expression(fold),
                                                      expression(m, Where::After), Where::Chunk);
            whole = whole ? apply(Function::Add, {std::move(*whole), std::move(value)})
                          : std::move(value);
            break;
        }
    }
    std::vector<TermId> visible;
    PolynomialId plain = kZero;
    for (const auto& [mono, coefficient] : Polynomial(algebra_[rest]).terms) {
        if (coefficient > 0 && algebra_.is_mask(mono))
            visible.push_back(algebra_[mono.powers[0].first].parts[0]);
        else
            plain = algebra_.add(plain, algebra_.monomial(mono, coefficient));
    }
    std::set<std::uint32_t> states;
    for (const std::uint32_t fold : folds_in(algebra_, gauge))
        states.insert(plan_.gauge_state(fold));
    judgements_.add(same_operand(quoted(state_arrays_.at(*states.begin())), whole.has_value()));
    if (!whole) whole = expression(std::exchange(plain, kZero), Where::Chunk);
    if (others != kZero)
        whole =
            apply(Function::Subtract,
                  {std::move(*whole), apply(Function::Guard, {expression(others, Where::After)})});
    if (plain != kZero)  // after the difference, which may be exactly 0
        whole = apply(Function::Add, {std::move(*whole), expression(plain, Where::Chunk)});
    return guarded(std::move(*whole), visible, -kInfinity, Where::Chunk);
}

ArrayId Builder::weight(PolynomialId varying, PolynomialId gauge) {
    const Key key{varying, gauge};
    const auto found = weights_.find(key);
    if (found != weights_.end()) return found->second;
    Expression value = apply(Function::Exp, {relative(varying, gauge)});
    if (const std::optional<ArrayId> same = written_already(value))
        return weights_.emplace(key, *same).first->second;
    std::set<AxisId> axes = algebra_.class_of(varying).axes;
    const std::set<AxisId>& of_gauge = algebra_.class_of(gauge).axes;
    axes.insert(of_gauge.begin(), of_gauge.end());
    const std::string exponent = text_of(std::get<Apply>(value.node).arguments.front());
    judgements_.add(about(Hazard::Overflow, "the exponent `" + exponent + "` is at most 0"));
    const ArrayId made = helper("_weight", axes, std::move(value));
    weights_.emplace(key, made);
    return made;
}

}  // namespace napkin::separation
