// An accumulator for people, in parts.
#pragma once

#include <string>
#include <vector>

#include "derive/accumulator.h"

namespace napkin {

struct AccumulatorText {
    struct Section {
        std::string
            heading;  ///< `initial inside body repair tail states provided unsafe`, in order
        std::vector<std::string> lines;
        bool operator==(const Section&) const = default;
    };
    std::vector<std::string> axes;  ///< that are streamed
    std::vector<Section> sections;  ///< those that have lines
    bool operator==(const AccumulatorText&) const = default;
};
/// What `explain` prints.
[[nodiscard]] AccumulatorText text_of(const Diagram& diagram, const Accumulator& accumulator);
/// The accumulator in formulas, one line each: initial state, what a chunk streams inside, body,
/// repair, tail.
[[nodiscard]] std::string explain(const Diagram& diagram, const Accumulator& accumulator);

}  // namespace napkin
