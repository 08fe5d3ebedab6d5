// How far the model's times are from measured ones.
#pragma once

#include <string>
#include <vector>

#include "perfmodel/machine.h"
#include "tests/judged/recorded.h"

namespace napkin::test {

/// Of a set of measurements: errors as parts of the measured times.
struct Errors {
    std::size_t count = 0;
    double median = 0;
    double most_of_ten = 0;  ///< nine in ten are no larger
    double inside = 0;       ///< the part that lies in the model's interval
};
[[nodiscard]] Errors errors_of(const std::vector<Recorded>& rows, const Machine& machine,
                               const std::string& group, bool held_out);

/// The table of all groups, and the worst ten, as Markdown.
[[nodiscard]] std::string table(const std::vector<Recorded>& rows, const Machine& machine);

/// A machine with figures that fit what is not held out.
[[nodiscard]] Machine fitted(const std::vector<Recorded>& rows, Machine machine, int steps);

}  // namespace napkin::test
