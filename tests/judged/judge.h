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
[[nodiscard]] std::string table(const Records& records, const Machine& machine);

/// Predicted times over measured ones, a letter a row, as SVG.
[[nodiscard]] std::string scatter(const Records& records, const Machine& machine);

/// Every row, a line each, fields between tabs: group, held out or fitted, measured, predicted and
/// error, what was measured, and blocks of each kernel that a processor holds.
[[nodiscard]] std::string row_list(const std::vector<Recorded>& rows, const Machine& machine);

/// Of every row's kernels and loops, what their pipelines take of each processor, in microseconds.
[[nodiscard]] std::string pipeline_list(const std::vector<Recorded>& rows, const Machine& machine);

/// A machine with figures that fit what is not held out: each goes up or down by a step that grows
/// while that helps, until all steps are small.
[[nodiscard]] Machine fitted(const std::vector<Recorded>& rows, Machine machine);

}  // namespace napkin::test
