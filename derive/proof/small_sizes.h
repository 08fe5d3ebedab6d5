// Which small sizes a proof tries, the most telling first.
//
// Every axis is a few elements long, and sizes that were in order stay in order. Where an index or
// a size is divided, as in `scale[k // 128]` or `axis page = x // 16`, the axis gets two of these
// groups and a ragged one; where the diagram does not allow that, a multiple of the group. Where
// other numbers of the diagram tie sizes, as in `Q[x, d + 64]`, axes become smaller one by one as
// long as the diagram is well formed.
//
// A mask may hide everything where axes are short (`x >= q + 90`): then they are tried longer.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin::proof {

class SmallSizes {
public:
    /// `original` as the derivation has it; `fixed` are sizes to keep. Axes in conditions are
    /// `scale` times as long as others would be.
    SmallSizes(const Diagram& original, const Sizes& fixed, std::int64_t scale);

    /// Sizes to try in turn, with the most places that statements should visit together there.
    struct Candidate {
        Sizes sizes;
        double most_places = 0;
    };
    [[nodiscard]] std::vector<Candidate> candidates() const;
    /// Sizes that become smaller one by one, from the original ones, while `holds`.
    [[nodiscard]] std::vector<Candidate> shrunk(
        const std::function<bool(const Sizes&)>& holds) const;
    /// Whether the axis' size goes by groups of the diagram's own.
    [[nodiscard]] bool is_grouped(const std::string& axis) const;

private:
    enum class Groups { None, TwoAndRagged, Two, One };
    [[nodiscard]] Sizes from_ladder(std::size_t ladder) const;
    [[nodiscard]] Sizes in_groups(Sizes sizes, Groups groups) const;

    const Diagram& original_;
    const Sizes& fixed_;
    std::int64_t scale_;
    std::set<std::string> compared_;                       ///< axes in conditions
    std::vector<std::pair<std::string, Formula>> groups_;  ///< axes with what divides them
};

}  // namespace napkin::proof
