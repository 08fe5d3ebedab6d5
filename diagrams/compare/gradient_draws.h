// How what a gradient is judged by is drawn: what shows only in large, small or rare inputs, where
// an integer is what it is compared with, or at other parameters than the defaults.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagrams/evaluate.h"

namespace napkin {

struct Draw {
    double scale = 1;                           ///< of normal inputs
    std::optional<double> near = std::nullopt;  ///< what half of them are about, whatever the sign
    /// What half of the elements of these integer inputs are, or the single one.
    std::int64_t number = 0;
    std::set<std::string> numbered = {};
    std::map<std::string, double> parameters = {};  ///< in place of defaults
    std::uint64_t trials = 3;
    /// Of a size that any gradient has to bear.
    [[nodiscard]] bool is_ordinary() const { return scale == 1 && !near && parameters.empty(); }
    /// Where a gradient has to show that it is one.
    [[nodiscard]] bool is_plain() const { return is_ordinary() && numbered.empty(); }
    /// Parameters and integers with what they are.
    [[nodiscard]] std::map<std::string, double> chosen() const;
    /// How far elements are spread.
    [[nodiscard]] double width() const;
};

/// The plain one first.
[[nodiscard]] std::vector<Draw> draws_for(const Diagram& forward, const Diagram& backward);
/// The diagram with the draw's parameters for defaults.
[[nodiscard]] Diagram with_parameters(Diagram diagram, const Draw& draw);
[[nodiscard]] Tensors drawn(const Diagram& diagram, const Draw& draw, std::uint64_t seed);

[[nodiscard]] double elements_of(const Diagram& diagram);

}  // namespace napkin
