// Which outcomes of tests of integers the trials of a proof have met. Reals are taken as every
// value at once; an integer is one, so that a branch that `mode == 7` leads to is compared only
// where the points have a 7.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/evaluate.h"
#include "diagrams/evaluate/input_uses.h"
#include "diagrams/evaluate/number_test.h"

namespace napkin::proof {

class MetOutcomes {
public:
    /// The diagram has to live as long.
    explicit MetOutcomes(const Diagram& plain);

    /// What a trial drew.
    void note(const Tensors& inputs);
    /// Whether all outcomes were met that inputs are drawn for.
    [[nodiscard]] bool all() const;

private:
    /// Within a branch, of that condition.
    void look(const Expression& expression, const std::optional<Expression>& within);
    [[nodiscard]] std::optional<Expression> testable(const Expression& condition,
                                                     const std::optional<Expression>& within) const;
    [[nodiscard]] std::optional<NumberTest> test_of(const Expression& condition) const;
    void add(const Expression& condition);

    struct Outcomes {
        bool holds = false;
        bool fails = false;
        void add(bool outcome) { (outcome ? holds : fails) = true; }
    };
    struct Test {
        NumberTest test;
        Outcomes possible;
        Outcomes met;
    };
    const Diagram& plain_;
    std::map<ArrayId, InputUse> uses_;
    std::vector<Test> tests_;
    std::vector<std::pair<ArrayId, Outcomes>> flags_;  ///< inputs that are bool
};

}  // namespace napkin::proof
