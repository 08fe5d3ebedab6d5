// What a region costs at many sizes of its tiles: search asks for hundreds of thousands a second.
//
// A count is a product of factors (tile_count.h), and what a variable holds one of capacities; each
// depends on the sizes of few axes. It is worked out once for each of those sizes, by the code that
// counts elsewhere, and is a number in a table from then on: a candidate takes some tens of
// multiplications. The numbers are those of `quick_cost_of` at these sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "derive/tile_program.h"
#include "perfmodel/work.h"

namespace napkin {

namespace prepared {
struct Tables;
}

/// Sizes of a group or a chunk that are tried.
struct SizeList {
    Symbol symbol;
    std::vector<std::int64_t> sizes;
};
/// A place in each list.
using Picks = std::span<const std::size_t>;

/// What masks leave of loops: counted at each size, which may take a sum over all tiles; or the
/// share that they leave of some thirty tiles an axis, whatever the size.
enum class MaskCounts { Exact, Mean };

class PreparedCost {
public:
    /// Of a region that has these groups and streams, whatever their sizes; others keep theirs.
    PreparedCost(const RegionProgram& region, std::vector<SizeList> lists,
                 MaskCounts masks = MaskCounts::Exact);
    ~PreparedCost();
    PreparedCost(PreparedCost&&) noexcept;

    /// A at block level, in bits; infinite where a number of it does not fit in 64 bits.
    [[nodiscard]] double held_bits(Picks picks);
    /// What a good schedule would make of it (`general_work`); it moves infinitely much where some
    /// count does not fit in 64 bits.
    [[nodiscard]] KernelWork work(Picks picks);

private:
    std::unique_ptr<prepared::Tables> tables_;
};

}  // namespace napkin
