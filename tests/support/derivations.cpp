#include "tests/support/derivations.h"

#include <array>

#include "tests/derive/programs.h"
#include "tests/support/examples.h"

namespace napkin::test {
namespace {

/// Small, mostly prime sizes for the axes that a file sizes itself; what is 8 or less stays.
Sizes small_sizes(const Diagram& diagram) {
    constexpr std::array<std::int64_t, 7> kSmall = {13, 11, 17, 10, 19, 12, 9};
    Sizes sizes;
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < diagram.axes.size(); ++i) {
        const Axis& axis = diagram.axes[i];
        if (!has_own_size(diagram, AxisId{i})) continue;
        if (axis.woven)
            sizes[axis.name] = 2;
        else if (axis.extent > 8)
            sizes[axis.name] = kSmall[next++ % kSmall.size()];
    }
    return sizes;
}

}  // namespace

std::vector<ExampleDerivation> example_derivations() {
    std::vector<ExampleDerivation> derivations;
    for (const Example& example : all_examples())
        derivations.push_back({example.name,
                               load(example.diagram, small_sizes(load(example.diagram))),
                               commands(example.derivation)});
    return derivations;
}

}  // namespace napkin::test
