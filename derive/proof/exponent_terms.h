// What exponents are made of: sums of terms with whole factors, hash-consed by value.
//
// In exp(S - T) the exponent is no variable of its own: exp(S) exp(-T) is the same thing. So each
// value of Z_q that may end up in an exponent keeps its form: which products of inputs and
// constants it is a sum of. A term is known by its value in Z_q, equal products being equal there.
// Each term is then replaced by an atom, an independent uniform element of Z_q, and 4 to the power
// of an atom is an independent uniform square: a variable like any input, which is what the bound
// needs.
//
// Forms are kept as a graph and spelled out only for what is exponentiated. A product of two sums
// is spelled out as long as it is short; else it is one term, and what only multiplying out would
// show is not seen.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "derive/proof/residue.h"
#include "diagrams/id.h"

namespace napkin::proof {

/// A form; the default is zero.
using FormId = Id<struct FormTag>;

class ExponentTerms {
public:
    explicit ExponentTerms(std::uint64_t key);

    /// One term of its own.
    FormId term(InQ value);
    FormId sum(FormId a, FormId b);
    FormId negated(FormId a);
    /// The form times a whole number.
    FormId multiple(FormId a, std::int64_t factor);
    FormId product(FormId a, FormId b);

    /// The form with an atom for every term, and its degree: factors above and below the line of
    /// 4 to this power, counted.
    struct Atoms {
        InQ value;
        float above = 0;
        float below = 0;
    };
    [[nodiscard]] Atoms atoms(FormId form);

private:
    enum class Kind : std::uint8_t { Zero, Term, Sum, Multiple, Product };
    struct Node {
        Kind kind = Kind::Zero;
        std::uint32_t a = 0;
        std::uint32_t b = 0;
        std::int64_t factor = 1;  ///< of Multiple; 1 or -1 for the sign of a Term
        InQ value = InQ();        ///< of Term: the smaller of itself and its negative
    };
    /// Terms with their factors.
    using Form = std::vector<std::pair<InQ, std::int64_t>>;

    FormId add(Node node);
    void collect(std::uint32_t node, std::int64_t factor, Form& out);
    [[nodiscard]] Form form_of(std::uint32_t node);
    [[nodiscard]] const Form& product_form(std::uint32_t node);

    RandomFunction atom_;
    std::vector<Node> nodes_;
    std::unordered_map<std::uint32_t, Form> products_;  ///< spelled out, by node
    std::size_t spelled_ = 0;                           ///< terms so far
};

}  // namespace napkin::proof
