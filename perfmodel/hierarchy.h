// The levels of a machine together: what the best of a derivation's kind transfers into each of
// them, and what clusters change (the multi-level model of "FlashAttention on a Napkin").
//
// With a memory M a kind transfers H(M) at the least, a sum of alpha M^-beta (perfmodel/bound.h),
// and each level may have groups of its own:
//
//   * all levels cost the sum of H(M) / bandwidth. That is no time, since their transfers overlap;
//   * inputs are streamed through a cache and outputs stay in the blocks, so that the M of a cache
//   is
//     what all blocks hold together, while each input comes to all of them at once;
//   * of N blocks in a cluster one reads what another has from its neighbour: H(N M) comes from
//     outside, and H(M) - H(N M) crosses between them. Instead of the bandwidth outside, B, that
//     saves (1 / B - 1 / B_cluster) (H(M) - H(N M)), which is negative where the outside is faster;
//   * where every value has the same width, a term of M^-beta goes as width^(1 + beta) in bytes:
//   half
//     as wide, twice as many are held, and each moves half as much.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "perfmodel/bound.h"

namespace napkin {

/// What comes into one level from the next one outside.
struct LevelTransfers {
    Level from = Level::Device;
    Level into = Level::Block;
    Bytes held;               ///< M
    std::int64_t blocks = 1;  ///< that hold it together
    Bytes transferred;        ///< H(M)
    BytesPerSecond rate;
    [[nodiscard]] Seconds cost() const { return transferred / rate; }
};

struct ClusterTransfers {
    std::int64_t blocks = 1;
    Bytes outside;  ///< H(N M)
    Bytes between;  ///< H(M) - H(N M)
    BytesPerSecond rate;
    /// By the level that a cluster reads from, where it is that one.
    std::map<Level, Seconds> saved;
};

/// A term of the closed form, and how many times fewer bytes it is in values half as wide.
struct HalvedTerm {
    std::string term;  ///< `4qx·d^2/M`
    double fewer = 1;
};

struct Hierarchy {
    std::vector<LevelTransfers> levels;  ///< from far to near
    Seconds cost;
    std::vector<ClusterTransfers> clusters;
    std::vector<HalvedTerm> halved;  ///< none where a group is its whole axis
};
/// Of one region whose kind has a closed form, else the reason why none is known. Levels of which
/// the machine does not say what they hold, or how fast they are read, are left out.
[[nodiscard]] std::variant<Hierarchy, NotApplicable> hierarchy_of(const RegionCost& cost,
                                                                  const Machine& machine);

}  // namespace napkin
