// What cancels where differences are multiplied out, and what they are relative to so that it does
// not.
#include <functional>

#include <fmt/ranges.h>

#include "derive/separation/judge/numeric_example.h"
#include "derive/separation/judge/refusal.h"
#include "derive/separation/write/builder.h"
#include "diagrams/contains.h"

namespace napkin::separation {
namespace {

Obligation cancellation() {
    Obligation made;
    made.hazard = Hazard::Cancellation;
    return made;
}

std::string example_text(const std::string& form, const std::string& value,
                         const NumericExample& example) {
    return form + ", float32 gives " + short_number(example.single) + " for " +
           short_number(example.exact) + " where `" + value + "` is about " +
           short_number(example.moved);
}

}  // namespace

/// What the values that a fold sums are relative to.
std::string Builder::gauges_of(std::uint32_t fold) {
    std::vector<std::string> gauges;
    const auto add = [&](TermId difference) {
        const Term gauge = algebra_[algebra_[difference].parts[1]];
        const std::string value = name_of_term(algebra_[difference].parts[0]);
        std::string text = "the running maximum of " + value;
        if (gauge.kind == Kind::Mean)
            text = plan_.means()[gauge.ref].weight ? "the running mean of " + value
                                                   : "the mean of " + value + " in the first chunk";
        if (!contains(gauges, text)) gauges.push_back(std::move(text));
    };
    const std::function<void(PolynomialId)> visit = [&](PolynomialId form) {
        for (const auto& [mono, coefficient] : Polynomial(algebra_[form]).terms)
            for (const auto& [factor, power] : mono.powers) {
                const Term term = algebra_[factor];
                if (term.kind == Kind::Relative) add(factor);
                if (term.kind == Kind::Sum) visit(PolynomialId{term.ref});
            }
    };
    visit(plan_.form(fold));
    return fmt::format("{}", fmt::join(gauges, " and "));
}

/// Differences that are formed relative to a mean or a maximum, and what they were without.
void Builder::oblige_differences() {
    for (const Invariance& each : plan_.invariances()) {
        const std::string value = term_text(cascade_, each.value);
        Obligation made = cancellation();
        made.text = name_of_term(each.difference) + " does not change when `" + value +
                    "` moves by a constant, so what it sums is formed relative to one";
        if (const auto example = moved_example(cascade_, each.difference, each.value))
            made.example = example_text("as it is written", value, *example);
        oblige(std::move(made));
    }
    for (const MultipliedOut& each : plan_.multiplied_out()) {
        const FoldOver& fold = plan_.folds()[each.fold];
        const std::string value = term_text(cascade_, each.value);
        Obligation made = cancellation();
        made.met = each.relative;
        made.text = name_of_term(fold.body) + " is multiplied out, " +
                    (each.relative ? "relative to " + gauges_of(each.fold)
                                   : "with nothing near `" + value + "` taken off");
        if (const auto example = moved_example(cascade_, fold, each.form, each.value))
            made.example = example_text(each.relative ? "without that" : "so", value, *example);
        if (!each.relative) made.safer = "put what is subtracted in a region of its own";
        oblige(std::move(made));
    }
}

/// Exponents that lose what is small beside maxima which are subtracted after the last chunk.
void Builder::oblige_exponents_apart() {
    for (const auto& [fold, exponent] : plan_.formed_apart()) {
        const std::string whole = name_of_term(algebra_.term_of(exponent));
        Obligation made = cancellation();
        made.met = false;
        made.text = "the exponent " + whole + " of " + name_of_term(plan_.folds()[fold].body) +
                    " is formed before the maxima of its terms are subtracted";
        made.example = "where those are 10^4, float32 keeps " + whole + " to 0.001";
        made.safer = "put what they are subtracted in into a region of its own";
        oblige(std::move(made));
    }
}

/// Products of differences that the tail makes of large terms.
void Builder::oblige_small_factors() {
    for (const auto& [fold, difference, several] : plan_.small_factors()) {
        const std::string small = name_of_term(difference);
        Obligation made = cancellation();
        made.met = false;
        made.text = name_of_term(plan_.folds()[fold].body) +
                    " is multiplied out, with nothing taken off the terms of " + small;
        made.example =
            several
                ? "where " + small +
                      " is 10^-4 of each of them, its square is less than float32 keeps of theirs"
                : "where " + small +
                      " is 10^-8 of each of them, float32 keeps nothing of it, and the sum is "
                      "divided by or its logarithm is taken";
        made.safer = "put what it depends on in a region of its own";
        oblige(std::move(made));
    }
}

}  // namespace napkin::separation
