// The derivation of a report at other sizes.
#pragma once

#include <map>
#include <vector>

#include "cli/derivation_steps.h"
#include "cli/picture.h"

namespace napkin::cli {

/// Sizes other than they are: of axes, and of commands by their number.
struct Position {
    Settings axes;
    std::map<std::size_t, std::int64_t> commands;
};
/// Both moved; the first's sizes where both say one.
[[nodiscard]] Position together(Position first, const Position& second);

struct Variant {
    Diagram plain;
    State state;
    Cost cost;
};

class Variants {
public:
    Variants(Context& context, const Loaded& loaded, const DerivedStep& last,
             const Machine& machine)
        : context_(context), loaded_(loaded), last_(last), cost_(machine) {}

    /// The derivation there, with the kernels that it has; the diagnostic where it is refused.
    [[nodiscard]] Result<Variant> at(const Position& position);
    /// Whether the formulas of the last step give what this variant costs.
    [[nodiscard]] bool agrees(const Variant& variant) const;
    /// Which regions another program is made of, of as many as there are.
    [[nodiscard]] std::vector<bool> touched(const Variant& variant) const;

private:
    Context& context_;
    const Loaded& loaded_;
    const DerivedStep& last_;
    CostOfSteps cost_;
};

}  // namespace napkin::cli
