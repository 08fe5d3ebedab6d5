// What the form of an expression says about its sign, and whether it may be infinite.
#pragma once

#include <map>
#include <optional>

#include "derive/accumulator.h"
#include "diagrams/diagram.h"

namespace napkin::rules {

/// Whether the value is a sum of exponentials, or a product of such sums and positive numbers:
/// positive, but for sums of nothing, which are 0.
[[nodiscard]] bool is_sum_of_exponentials(const Diagram& diagram, const Expression& expression);

/// What becomes infinite of finite inputs: a mask, a maximum of nothing, a logarithm of or a number
/// by a sum of nothing. c * (a + b) is not c * a + c * b there, since 0 * inf is 0 and -inf
/// absorbs.
class Infinities {
public:
    explicit Infinities(const Diagram& diagram) : diagram_(diagram) {}

    [[nodiscard]] bool may_be_infinite(const Expression& expression) {
        return of(expression).infinite;
    }
    /// The refusal to move the factor into or out of a sum, where it may be infinite.
    [[nodiscard]] std::optional<NotApplicable> refusal(const Expression& factor);

private:
    struct Reach {
        bool infinite = false;
        bool vanishes = false;  ///< it may be 0 of nothing
    };
    const Diagram& diagram_;
    std::map<ArrayId, Reach> known_;

    [[nodiscard]] Reach of(const Expression& expression);
    [[nodiscard]] Reach of(const Apply& call);
    [[nodiscard]] Reach of_array(ArrayId array);
};

}  // namespace napkin::rules
