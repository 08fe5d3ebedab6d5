// Simulations, each done once.
//
// A search of rotations asks for the same programs again and again: parts of a body that are alike
// change places, and what was found is rotated once more with its leads given.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/simulate.h"

namespace napkin::schedule {

class Simulations {
public:
    /// A letter that steps of the same cost share.
    [[nodiscard]] char32_t letter_of(const Step& step);
    /// As `simulate`, of a program whose spelling tells all of it.
    [[nodiscard]] std::optional<double> of(const std::vector<Step>& program,
                                           const std::u32string& spelling, const Sharing& sharing);
    [[nodiscard]] std::size_t size() const;

private:
    std::map<std::pair<Cost, bool>, char32_t> letters_;
    std::map<Sharing, std::unordered_map<std::u32string, std::optional<double>>> kept_;
};

}  // namespace napkin::schedule
