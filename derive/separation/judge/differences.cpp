// What cancels where differences are multiplied out, and what they are relative to so that it does
// not.
#include <functional>

#include <fmt/ranges.h>

#include "derive/separation/judge/judge.h"
#include "derive/separation/judge/numeric_example.h"
#include "derive/separation/judge/refusal.h"
#include "diagrams/contains.h"

namespace napkin::separation {
namespace {

std::string example_text(const std::string& form, const std::string& value,
                         const NumericExample& example) {
    return form + ", float32 gives " + short_number(example.single) + " for " +
           short_number(example.exact) + " where `" + value + "` is about " +
           short_number(example.moved);
}

/// What the values that a fold sums are relative to.
std::string gauges_of(const Judged& of, std::uint32_t fold) {
    std::vector<std::string> gauges;
    const auto add = [&](TermId difference) {
        const Term gauge = of.algebra[of.algebra[difference].parts[1]];
        const std::string value = of.name(of.algebra[difference].parts[0]);
        std::string text = "the running maximum of " + value;
        if (gauge.kind == Kind::Mean)
            text = of.plan.means()[gauge.ref].weight
                       ? "the running mean of " + value
                       : "the mean of " + value + " in the first chunk";
        if (!contains(gauges, text)) gauges.push_back(std::move(text));
    };
    const std::function<void(PolynomialId)> visit = [&](PolynomialId form) {
        for (const auto& [mono, coefficient] : Polynomial(of.algebra[form]).terms)
            for (const auto& [factor, power] : mono.powers) {
                const Term term = of.algebra[factor];
                if (term.kind == Kind::Relative) add(factor);
                if (term.kind == Kind::Sum) visit(PolynomialId{term.ref});
            }
    };
    visit(of.plan.form(fold));
    return fmt::format("{}", fmt::join(gauges, " and "));
}

/// Differences that are formed relative to a mean or a maximum, and what they were without.
void judge_relative(const Judged& of, Judgements& all) {
    for (const Invariance& each : of.plan.invariances()) {
        const std::string value = term_text(of.cascade, each.value);
        Obligation made = about(Hazard::Cancellation);
        made.text = of.name(each.difference) + " does not change when `" + value +
                    "` moves by a constant, so what it sums is formed relative to one";
        if (const auto example = moved_example(of.cascade, each.difference, each.value))
            made.example = example_text("as it is written", value, *example);
        all.add(std::move(made));
    }
    for (const MultipliedOut& each : of.plan.multiplied_out()) {
        const FoldOver& fold = of.plan.folds()[each.fold];
        const std::string value = term_text(of.cascade, each.value);
        Obligation made = about(Hazard::Cancellation);
        made.met = each.relative;
        made.text = of.name(fold.body) + " is multiplied out, " +
                    (each.relative ? "relative to " + gauges_of(of, each.fold)
                                   : "with nothing near `" + value + "` taken off");
        if (const auto example = moved_example(of.cascade, fold, each.form, each.value))
            made.example = example_text(each.relative ? "without that" : "so", value, *example);
        if (!each.relative) made.safer = "put what is subtracted in a region of its own";
        all.add(std::move(made));
    }
}

/// Exponents that lose what is small beside maxima which are subtracted after the last chunk.
void judge_exponents_apart(const Judged& of, Judgements& all) {
    for (const auto& [fold, exponent] : of.plan.formed_apart()) {
        const std::string whole = of.name(of.algebra.term_of(exponent));
        all.add(unmet(Hazard::Cancellation,
                      "the exponent " + whole + " of " + of.name(of.plan.folds()[fold].body) +
                          " is formed before the maxima of its terms are subtracted",
                      "where those are 10^4, float32 keeps " + whole + " to 0.001",
                      "put what they are subtracted in into a region of its own"));
    }
}

/// Products of differences that the tail makes of large terms.
void judge_small_factors(const Judged& of, Judgements& all) {
    for (const auto& [fold, difference, several] : of.plan.small_factors()) {
        const std::string small = of.name(difference);
        const std::string loss =
            several ? " is 10^-4 of each of them, its square is less than float32 keeps of theirs"
                    : " is 10^-8 of each of them, float32 keeps nothing of it, and the sum is "
                      "divided by or its logarithm is taken";
        all.add(unmet(Hazard::Cancellation,
                      of.name(of.plan.folds()[fold].body) +
                          " is multiplied out, with nothing taken off the terms of " + small,
                      "where " + small + loss, "put what it depends on in a region of its own"));
    }
}

}  // namespace

void judge_differences(const Judged& of, Judgements& all) {
    judge_relative(of, all);
    judge_small_factors(of, all);
    judge_exponents_apart(of, all);
}

}  // namespace napkin::separation
