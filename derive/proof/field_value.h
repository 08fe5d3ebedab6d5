// One value of rung 2: an element of Z_p x Z_q, with what its exponential and its logarithm need.
//
// p carries the value through sums, products and quotients. q carries the same value to where it
// is exponentiated, since exponents live in Z_q. The value of an exponential has no q. A value may
// have a logarithm of an element of Z_p added to it, the formal pair a + log b: log-sum-exp is
// m + log l, a gauge m is 0 + log of a random square, and exp(a + log b) = 4^a b.
#pragma once

#include <cstdint>

#include "derive/proof/exponent_terms.h"
#include "derive/proof/residue.h"

namespace napkin::proof {

/// The degree of a fraction in the random values, above and below its line.
struct Degree {
    float above = 0;
    float below = 0;
    [[nodiscard]] float most() const { return above > below ? above : below; }
};

/// What a value has besides its logarithm: the `a` of a + log b.
struct RingPart {
    InP p;
    InQ q;        ///< without has_q, of the summand `known` alone
    FormId form;  ///< of q
    Degree degree;
    bool has_q = true;
    InP known = InP();  ///< without has_q: the summand of p that has a value in Z_q
    /// Depends on an exponential: when it is written, q becomes a random function of p.
    bool exponential = false;
};

struct FieldValue {
    enum class Kind : std::uint8_t {
        Poison,  ///< never written, or undefined
        MinusInfinity,
        PlusInfinity,
        Finite,
    };
    Kind kind = Kind::Poison;
    bool constant = false;  ///< depends on no input: `real` is its value, up to rounding
    bool whole = false;     ///< a constant, and an integer that a double holds: `real` is exact
    /// Something that only half of all values have, a root, was taken of one that lacks it: that it
    /// differs from another value shows nothing.
    bool rootless = false;
    /// A convention for rows on which nothing is visible was used, for all summands of a sum.
    bool empty = false;
    /// A logarithm is a summand of it, though none may be left of its factor: an exponent as it is.
    bool logarithmic = false;
    bool positive = false;  ///< a product or sum of exponentials, which are above zero
    RingPart ring;
    InP factor = InP(1);          ///< the `b` of a + log b
    std::uint32_t logarithm = 0;  ///< where its logarithm is known in part: into a side table
    /// What log b is where it has to be a value: a sum of multiples of unknown logarithms, into a
    /// side table; the first entry stands for the unknown logarithm of b itself.
    std::uint32_t image = 0;
    double real = 0;  ///< at the drawn point; decides comparisons where they are cells'

    [[nodiscard]] bool finite() const { return kind == Kind::Finite; }
    [[nodiscard]] bool infinite() const {
        return kind == Kind::MinusInfinity || kind == Kind::PlusInfinity;
    }
    [[nodiscard]] bool has_logarithm() const { return factor != InP(1); }
    [[nodiscard]] bool is_whole(double value) const { return whole && real == value; }
};

}  // namespace napkin::proof
