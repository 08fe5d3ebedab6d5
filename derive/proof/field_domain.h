// The arithmetic of rung 2: exact, in Z_p x Z_q, at random points.
//
// Sums, products and quotients are those of the fields. exp is a power of 4 (residue.h,
// exponent_terms.h). log makes the formal pair a + log b; where such a pair is used otherwise than
// by adding whole multiples of it, comparing or exponentiating it, each logarithm that was added
// becomes a random function of its argument. tanh is rational in exp. Roots, erf and rounding are
// random functions of their arguments, so that congruence is all that is known of them. Masks are
// evaluated, and -inf absorbs.
//
// What chooses (maxima, comparisons of data, selections, monoids of the user's) is taken in one of
// three ways:
//  * Gauges: a maximum is drawn at random, anew for every chunk. What comes out equal is equal for
//    any maximum; the textbook's, a stale one, one of other elements. Comparisons of data are
//    random.
//  * FreeMonoids: the state of a maximum or of a user's monoid is the sum of random images of its
//    elements. What comes out equal holds in every commutative monoid, where every element counts
//    once. Where the user says that order matters, each image is added to a random multiple of the
//    state, which keeps the order.
//  * Cells: choices are those of ordinary numbers at a drawn point. What comes out equal holds in
//    the cell of points that choose alike, and nothing is said of the others.
#pragma once

#include <array>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "derive/interpret/domain.h"
#include "derive/proof/field_value.h"

namespace napkin::proof {

enum class Choices { Gauges, FreeMonoids, Cells };

/// What an exponent that depends on exponentials is made of.
enum class Nested : std::uint8_t {
    Written,   ///< elements that depend on one, each an unknown of its own once it is written
    Factored,  ///< the sums and products that elements are written as: what streams a sum of
               ///< `E * B` with E outside
    Whole,     ///< the exponent is one unknown, which equal exponents share
};

/// How much is assumed.
struct FieldSettings {
    Choices choices = Choices::Gauges;
    /// Exponents are sums of atoms and roots are unknown functions: false acceptance has a bound.
    /// Otherwise exponents are their values in Z_q, and roots are those among squares, where they
    /// are multiplicative: more identities come out, with no bound.
    bool strict = true;
    Nested nested = Nested::Written;
    bool operator==(const FieldSettings&) const = default;
};

/// What the programs to be computed have in them; what they lack is not kept track of.
struct FieldNeeds {
    bool exponentials = true;
    bool logarithms = true;     ///< and powers that are not whole
    std::vector<bool> ordered;  ///< by monoid: not commutative
};

/// Thrown where an index depends on what these settings leave unknown.
class Undecided : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a computation met.
struct FieldUses {
    bool choices = false;   ///< a maximum, a selection, a user's monoid
    bool compares = false;  ///< data were compared, with an outcome that was used as a condition
    bool exponentials = false;
    bool roots = false;
    bool flattened = false;  ///< a logarithm was used of which congruence alone is known
    bool nested = false;     ///< likewise an exponent that depends on an exponential
    bool elements = false;   ///< an element that depends on an exponential was written
    /// The chance that two arguments of one random function are equal by accident, times q.
    double collisions = 0;
};

class FieldDomain {
public:
    using Value = FieldValue;
    static constexpr bool kTracksIndices = false;

    FieldDomain(std::uint64_t seed, FieldSettings settings, FieldNeeds needs = {});

    /// A random element; `real` decides choices where they are cells'.
    [[nodiscard]] FieldValue variable(std::uint64_t name, std::uint64_t offset, double real);
    [[nodiscard]] FieldValue number(double value) const;
    [[nodiscard]] static FieldValue poison() { return {}; }
    template <class Branch>
    [[nodiscard]] FieldValue choose(const FieldValue& condition, const Branch& branch) const {
        return branch(condition.real != 0);
    }
    [[nodiscard]] static std::int64_t index(const FieldValue& value);
    [[nodiscard]] FieldValue apply(Function function, std::span<const FieldValue> arguments);
    [[nodiscard]] FieldValue read(const FieldValue& element, std::span<const FieldValue>) const {
        return element;
    }
    [[nodiscard]] FieldValue round(ElementType type, const FieldValue& value);
    [[nodiscard]] FieldValue written(const Array& array, ElementType tile, const FieldValue& value);
    [[nodiscard]] static FieldValue saved(ElementType, const FieldValue& value) { return value; }

    template <class Rule>
    void absorb(MonoidId monoid, std::span<const FieldValue> identity,
                std::vector<FieldValue>& state, std::span<const FieldValue> element,
                const Rule& rule) {
        if (absorb_known(monoid, identity, state, element)) return;
        std::vector<FieldValue> next;
        for (std::size_t i = 0; i < state.size(); ++i) next.push_back(rule(i));
        state = std::move(next);
    }
    void finish(MonoidId monoid, std::vector<FieldValue>& state);
    [[nodiscard]] std::vector<std::pair<FieldValue, FieldValue>> select(
        Candidates<FieldValue> elements, std::int64_t ranks);

    /// Whether two values are the same; of formal pairs, whether their exponentials are.
    [[nodiscard]] bool equal(const FieldValue& a, const FieldValue& b);
    /// A word that equal values share.
    [[nodiscard]] std::uint64_t key(const FieldValue& value);
    [[nodiscard]] FieldUses uses() const;

private:
    /// Which random function; each has a space of its own.
    enum Tag : std::uint64_t {
        VariableTag,
        GaugeTag,
        LogarithmTag,
        FinishedTag,
        FunctionTag,
        RootTag,
        RoundingTag,
        OrderTag,
        ImageTag,
        SelectionTag,
        PairTag,
        TagCount,
    };
    /// Arguments that a random function got.
    struct Keys {
        double count = 0;
        float degree = 0;  ///< the largest
    };
    /// Inverses; many elements in turn are divided by the same one.
    template <class Residue>
    class Inverse {
    public:
        Residue operator()(Residue value) {
            if (value != last_) {
                last_ = value;
                inverse_ = value.inverse();
            }
            return inverse_;
        }

    private:
        Residue last_ = Residue(1);
        Residue inverse_ = Residue(1);
    };
    /// The part of a value's logarithm that is known: value = power * rest, power = 4^part.
    struct Logarithm {
        FieldValue part;
        InP power;
        std::uint32_t image = 0;  ///< what the logarithm of the rest is as a value
    };

    // field_domain.cpp: ring operations
    [[nodiscard]] FieldValue finite_call(Function function, std::span<const FieldValue> arguments);
    [[nodiscard]] FieldValue limit(Function function, std::span<const FieldValue> arguments);
    [[nodiscard]] FieldValue constant(double value) const;
    [[nodiscard]] FormId form_of(const FieldValue& value);
    [[nodiscard]] RingPart known_part(const FieldValue& value);
    void scale_known(RingPart& result, const FieldValue& value, const FieldValue& factor);
    [[nodiscard]] FieldValue add(const FieldValue& a, const FieldValue& b);
    [[nodiscard]] FieldValue multiply(const FieldValue& a, const FieldValue& b);
    [[nodiscard]] FieldValue multiple(const FieldValue& a, double factor);
    [[nodiscard]] FieldValue divide(const FieldValue& a, const FieldValue& b);

    // field_functions.cpp: exponentials, logarithms, roots, unknown functions
    [[nodiscard]] FieldValue flat(const FieldValue& value);
    [[nodiscard]] FieldValue image_of(const FieldValue& pair);
    [[nodiscard]] static bool is_power(const FieldValue& value);
    [[nodiscard]] FieldValue scaled(const FieldValue& pair, const FieldValue& factor);
    [[nodiscard]] std::uint32_t keep_image(FieldValue image);
    [[nodiscard]] FieldValue exponential(const FieldValue& a);
    [[nodiscard]] FieldValue as_exponent(FieldValue value);
    static void forget_parts(RingPart& ring);
    [[nodiscard]] InP power_of(RingPart exponent, FormId form, Degree& degree);
    void finish_element(RingPart& ring);
    [[nodiscard]] FieldValue recognised(const FieldValue& value);
    [[nodiscard]] FieldValue logarithm(const FieldValue& a);
    [[nodiscard]] FieldValue hyperbolic_tangent(const FieldValue& a);
    [[nodiscard]] FieldValue power(const FieldValue& a, const FieldValue& exponent);
    [[nodiscard]] FieldValue whole_power(const FieldValue& a, std::int64_t exponent);
    [[nodiscard]] FieldValue root(const FieldValue& a, double exponent);
    [[nodiscard]] FieldValue root_of_constant(const FieldValue& a, double exponent);
    [[nodiscard]] FieldValue root_of_rest(InP rest, double exponent, const Degree& degree);
    [[nodiscard]] FieldValue unknown(const RandomFunction& image);
    [[nodiscard]] RandomFunction image(Tag tag, std::uint64_t which, const FieldValue& argument);
    void note_key(Tag tag, const Degree& degree);
    [[nodiscard]] std::uint32_t keep(Logarithm logarithm);
    void join_logarithms(const FieldValue& a, const FieldValue& b, bool inverse, FieldValue& out);

    // field_choices.cpp: comparisons, folds, selections
    [[nodiscard]] FieldValue compare(Function function, const FieldValue& a, const FieldValue& b);
    [[nodiscard]] int order(const FieldValue& a, const FieldValue& b);
    [[nodiscard]] FieldValue larger(const FieldValue& a, const FieldValue& b, bool smaller);
    [[nodiscard]] FieldValue absolute(const FieldValue& a);
    [[nodiscard]] bool decides(const FieldValue& a, const FieldValue& b) const;
    [[nodiscard]] FieldValue to_integer(Function function, std::span<const FieldValue> arguments);
    bool absorb_known(MonoidId monoid, std::span<const FieldValue> identity,
                      std::vector<FieldValue>& state, std::span<const FieldValue> element);
    void absorb_extreme(MonoidId monoid, FieldValue& state, const FieldValue& element);
    void absorb_images(MonoidId monoid, std::span<const FieldValue> identity,
                       std::vector<FieldValue>& state, std::span<const FieldValue> element);
    [[nodiscard]] FieldValue gauge(double real);

    FieldSettings settings_;
    FieldNeeds needs_;
    bool exponents_;  ///< forms of exponents are kept
    /// A constant that has no root here cannot have one both whose square it is and that is the
    /// product of its factors' roots: at every second point without a bound, the first.
    bool squares_roots_;
    RandomFunction random_;
    ExponentTerms terms_;
    std::vector<Logarithm> known_logarithms_;
    std::map<std::pair<InP, double>, FieldValue> constant_roots_;  ///< by value and power
    /// Positive constants that were divided, by the quotient.
    std::map<InP, std::pair<FieldValue, FieldValue>> constant_quotients_;
    mutable std::unordered_map<double, FieldValue> constants_;  ///< literals met so far
    std::vector<FieldValue> images_;  ///< of sums and multiples of logarithms
    std::uint64_t gauges_ = 0;
    Inverse<InP> inverse_in_p_;
    Inverse<InP> inverse_factor_;
    Inverse<InQ> inverse_in_q_;
    FieldUses uses_;
    std::array<Keys, TagCount> keys_{};
};

}  // namespace napkin::proof
