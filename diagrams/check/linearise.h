// From integer expressions and conditions to linear inequalities, by cases.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "diagrams/check/linear.h"
#include "diagrams/diagram.h"

namespace napkin::checking {

/// One case of an expression: its value, and what holds in this case.
struct Case {
    Linear value;
    System facts;
};

/// The least and the greatest of two pairs of bounds.
[[nodiscard]] Bounds hull_of(const Bounds& a, const Bounds& b);

/// Translates expressions of one diagram. Axes, run-time sizes, and whatever is not linear become
/// variables; equal expressions become the same variable.
class Lineariser {
public:
    explicit Lineariser(const Diagram& diagram) : diagram_(diagram) {}
    Lineariser(const Diagram& diagram, std::map<ArrayId, Bounds>& known)
        : diagram_(diagram), shared_bounds_(&known) {}

    /// The cases of an integer expression, of which at least one holds.
    [[nodiscard]] std::vector<Case> cases(const Expression& expression);
    /// The cases in which a condition is true (or false). What is not understood is left out, so a
    /// case may hold more often than the condition does.
    [[nodiscard]] std::vector<System> conditions(const Expression& condition, bool holds = true);
    /// The size of an axis: a number, or linear in run-time sizes.
    [[nodiscard]] Linear size(AxisId axis);
    /// What is known of all variables met so far.
    [[nodiscard]] const System& ranges() const { return ranges_; }
    /// A new variable without bounds.
    int fresh() { return next_++; }

private:
    std::vector<Case> call_cases(const Apply& call, const Expression& whole);
    std::vector<Case> sum_cases(const Apply& call, std::int64_t factor);
    std::vector<Case> magnitude_cases(const Apply& call);
    std::vector<Case> product_cases(const Apply& call, const Expression& whole);
    std::vector<Case> extreme_cases(const Apply& call, bool greatest);
    std::vector<Case> quotient_cases(const Apply& call, const Expression& whole, bool remainder);
    std::vector<Case> choice_cases(const Apply& call);
    std::vector<Case> atom(const Expression& expression, std::optional<Bounds> bounds);
    std::vector<System> comparison(const Apply& call, Function function);
    std::vector<Case> unknown() { return {{variable_form(fresh()), {}}}; }
    Bounds map_bounds(const Map& map);
    std::map<ArrayId, Bounds>& known_bounds() {
        return shared_bounds_ != nullptr ? *shared_bounds_ : own_bounds_;
    }
    std::optional<Linear> size_form(const Formula& formula);
    Bounds read_bounds(const Read& element);
    int variable_of(const Expression& expression, const Bounds& bounds);
    int size_variable(AxisId axis);
    void bound(int variable, const Bounds& bounds);

    const Diagram& diagram_;
    std::vector<std::pair<Expression, int>> variables_;
    System ranges_;
    int next_ = 0;
    std::size_t steps_ = 0;
    std::map<ArrayId, Bounds> own_bounds_;
    std::map<ArrayId, Bounds>* shared_bounds_ = nullptr;
};

}  // namespace napkin::checking
