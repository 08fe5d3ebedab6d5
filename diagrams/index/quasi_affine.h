// From integer expressions and conditions to isl's piecewise quasi-affine functions and sets.
#pragma once

#include <utility>
#include <vector>

#include "diagrams/index/domain.h"
#include "diagrams/index/isl.h"
#include "diagrams/integer_range.h"

namespace napkin::index {

/// Translates over parameters: one for each axis, run-time size and atom that it meets.
class Translator {
public:
    Translator(Context& context, const std::vector<Axis>& axes, Elements elements);

    /// The value of an integer expression.
    [[nodiscard]] Piecewise value(const Expression& expression);
    /// Where a condition holds, or where it does not: two sets that make up everything.
    [[nodiscard]] Set condition(const Expression& expression, bool holds = true);
    [[nodiscard]] Piecewise size(AxisId axis);
    [[nodiscard]] Piecewise constant(std::int64_t value) const;
    [[nodiscard]] Set everything() const;
    /// What is known of all parameters met so far.
    [[nodiscard]] const Set& ranges() const { return ranges_; }
    /// What the parameters stand for, which are called p0, p1 and so on.
    [[nodiscard]] const std::vector<Expression>& parameters() const { return parameters_; }
    /// Whether the sets say all there is: what it met was affine in indices and numbers.
    [[nodiscard]] bool is_exact() const;

private:
    [[nodiscard]] bool is_whole(const Expression& expression) const;
    [[nodiscard]] bool is_whole_call(const Apply& call) const;
    Piecewise literal(const Number& number, const Expression& whole);
    Piecewise call_value(const Apply& call, const Expression& whole);
    Piecewise product(const Piecewise& a, const Piecewise& b, const Expression& whole);
    Piecewise quotient(const Piecewise& a, const Piecewise& b, const Expression& whole);
    Piecewise remainder(const Piecewise& a, const Piecewise& b, const Expression& whole);
    Piecewise choice(const Apply& call);
    Set comparison(const Apply& call, Function function);
    Set truth(const Expression& atom, bool holds);
    /// Null where the formula is not quasi-affine.
    Piecewise size_form(const Formula& formula);
    Piecewise size_call(FormulaOp op, Piecewise a, Piecewise b) const;
    Piecewise size_symbol(AxisId axis);
    /// The parameter that stands for an expression, and whether it is new.
    std::pair<Piecewise, bool> parameter(const Expression& expression);
    Piecewise element(const Read& element, const Expression& whole);
    Piecewise bits(const Apply& call, const Expression& whole);
    [[nodiscard]] Interval interval_of(const Piecewise& value) const;
    void bound(const Piecewise& value, const Bounds& bounds);
    void assume(Set known);

    isl_ctx* context_;
    const std::vector<Axis>& axes_;
    Elements elements_;
    std::vector<Expression> parameters_;
    Set ranges_;
    bool complete_ = true;  ///< nothing that is known is missing in the ranges
    std::size_t steps_ = 0;
};

}  // namespace napkin::index
