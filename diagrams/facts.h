// What the form of a value says of it, whatever finite data the inputs hold: its sign, its bounds,
// whether it may be 0 and whether it may be infinite. The one home of these questions for the
// checker's diagrams, the rules and separation; the proof (derive/proof/value_range.h) answers them
// again without this file, so that a fault here is found there.
//
// Zeros are told apart. Data may make a value 0; and a mask, an empty sum or a literal does, which
// is 0 "of nothing": where nothing is visible. A sum of exponentials is positive, but for the
// latter. Infinities are those that masks, literals and what is 0 of nothing make; dividing by data
// that happens to be 0 is the user's.
#pragma once

#include <map>
#include <span>

#include "diagrams/diagram.h"
#include "diagrams/infinity.h"

namespace napkin {

struct Facts {
    double low = -kInfinity;  ///< bounds of all its values, infinities among them
    double high = kInfinity;
    bool zero = true;             ///< data may make it 0
    bool vanishes = false;        ///< it may be 0 of nothing
    bool minus_infinity = false;  ///< it may be so, though all data is finite
    bool plus_infinity = false;
    [[nodiscard]] bool nonnegative() const { return low >= 0; }
    /// But for 0 of nothing.
    [[nodiscard]] bool positive() const { return low >= 0 && high > 0 && !zero; }
    [[nodiscard]] bool never_zero() const { return !zero && !vanishes; }
    [[nodiscard]] bool may_be_infinite() const { return minus_infinity || plus_infinity; }
    bool operator==(const Facts&) const = default;
};

[[nodiscard]] Facts facts_of_number(double value);
[[nodiscard]] Facts facts_of_index();
[[nodiscard]] Facts facts_of_size();
/// Of what may be one or the other.
[[nodiscard]] Facts either(const Facts& a, const Facts& b);
[[nodiscard]] Facts facts_of_call(Function function, std::span<const Facts> arguments);
[[nodiscard]] Facts facts_of_power(const Facts& base, double exponent);
[[nodiscard]] Facts facts_of_rounding(ElementType type, const Facts& value);
/// Of a fold over at least one such element.
[[nodiscard]] Facts facts_of_fold(MonoidId monoid, const Facts& element);

/// What is known of the arrays of a diagram, and of expressions that read them.
class DiagramFacts {
public:
    explicit DiagramFacts(const Diagram& diagram) : diagram_(diagram) {}

    [[nodiscard]] Facts of(const Expression& expression) const;
    [[nodiscard]] Facts of(ArrayId array) const;

private:
    const Diagram& diagram_;
    mutable std::map<ArrayId, Facts> known_;

    [[nodiscard]] Facts of(const Apply& call) const;
    [[nodiscard]] Facts computed(const Statement& statement, ArrayId target) const;
    [[nodiscard]] Facts given(const Array& array) const;
};

}  // namespace napkin
