// Rewriting of expressions before they are printed: constants are evaluated and factors moved to
// where they cost least.
#pragma once

#include <map>
#include <optional>

#include "derive/tile_program.h"

namespace napkin::schedule {

/// The value of an expression without data or indices; run-time sizes have none.
[[nodiscard]] std::optional<double> constant_value(const RegionProgram& region,
                                                   const Expression& expression);

/// expression = factor * rest.
struct Scaled {
    double factor = 1;
    Expression rest;
};

/// Arrays that are kept without a constant positive factor.
using Scales = std::map<ArrayId, double>;

class Scaler {
public:
    Scaler(const RegionProgram& region, const Scales& scales) : region_(region), scales_(scales) {}
    /// Takes out a constant positive factor, through choices whose other branch is infinite or 0.
    /// The rest is in terms of what the arrays keep.
    [[nodiscard]] Scaled split(const Expression& expression) const;
    /// The expression with the arrays' factors written out, constants that multiply and divide data
    /// as one factor, and every exp(u) as a power of two: `Exp` of the result means 2^u, and its
    /// argument has the factor log2(e) worked in. Where u is relative to a gauge, it is 0 or next
    /// to it where the gauge is reached, however large that is, fused or not.
    [[nodiscard]] Expression expand(const Expression& expression) const;

private:
    [[nodiscard]] Expression written(const Expression& expression) const;
    [[nodiscard]] std::optional<Scaled> multiplied(const Expression& expression) const;
    [[nodiscard]] Expression joined(const Expression& expression) const;
    [[nodiscard]] Expression times(const Expression& expression, double factor) const;
    [[nodiscard]] Expression exponent(const Expression& argument) const;

    const RegionProgram& region_;
    const Scales& scales_;
};

}  // namespace napkin::schedule
