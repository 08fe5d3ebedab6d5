// Which elements of a large result are compared.
#include <algorithm>
#include <set>

#include "diagrams/compare.h"
#include "diagrams/random.h"

namespace napkin {
namespace {

/// Elements taken of each sampled row: the reference shares most of its work within a row.
constexpr std::int64_t kColumns = 16;

/// Indices of one axis where mistakes live: both ends and both sides of the edges of the first,
/// second, middle and last tiles.
std::vector<std::int64_t> corners(std::int64_t extent, std::optional<std::int64_t> tile) {
    std::set<std::int64_t> found = {0, extent - 1};
    if (tile && *tile > 0) {
        const std::int64_t tiles = (extent + *tile - 1) / *tile;
        for (const std::int64_t edge : {std::int64_t{1}, std::int64_t{2}, tiles / 2, tiles - 1}) {
            found.insert(edge * *tile - 1);
            found.insert(edge * *tile);
        }
    }
    std::vector<std::int64_t> inside;
    for (const std::int64_t at : found)
        if (at >= 0 && at < extent) inside.push_back(at);
    return inside;
}

struct Dimension {
    std::int64_t extent = 1;
    std::vector<std::int64_t> corners;
};

/// A corner every second time, else anything.
std::int64_t draw(const Dimension& dimension, Random& random) {
    if (random.below(2) == 0) return random.below(dimension.extent);
    const auto count = static_cast<std::int64_t>(dimension.corners.size());
    return dimension.corners[static_cast<std::size_t>(random.below(count))];
}

/// Every corner of one axis with every corner of the others at their first and last, so that no
/// edge depends on chance.
void add_edges(const std::vector<Dimension>& dimensions, std::set<std::int64_t>& offsets) {
    for (const bool last : {false, true})
        for (std::size_t moved = 0; moved < dimensions.size(); ++moved)
            for (const std::int64_t corner : dimensions[moved].corners) {
                std::int64_t offset = 0;
                for (std::size_t at = 0; at < dimensions.size(); ++at) {
                    const std::int64_t end = last ? dimensions[at].extent - 1 : 0;
                    offset = offset * dimensions[at].extent + (at == moved ? corner : end);
                }
                offsets.insert(offset);
            }
}

}  // namespace

std::vector<std::int64_t> sample_offsets(const Diagram& diagram, ArrayId array, std::int64_t count,
                                         const std::map<AxisId, std::int64_t>& tiles,
                                         std::uint64_t seed) {
    std::vector<Dimension> dimensions;
    std::int64_t total = 1;
    for (const AxisId axis : diagram[array].axes) {
        const auto tile = tiles.find(axis);
        const std::int64_t extent = diagram[axis].extent;
        dimensions.push_back(
            {extent,
             corners(extent, tile == tiles.end() ? std::nullopt : std::optional(tile->second))});
        total *= extent;
    }
    std::set<std::int64_t> offsets;
    if (total <= count) {
        std::vector<std::int64_t> all(static_cast<std::size_t>(total));
        for (std::size_t at = 0; at < all.size(); ++at) all[at] = static_cast<std::int64_t>(at);
        return all;
    }
    add_edges(dimensions, offsets);
    Random random(seed);
    // Misses are bounded, for a count close to the total.
    for (std::int64_t tries = 0; tries < 2 * count; tries += kColumns) {
        std::int64_t row = 0;
        for (std::size_t at = 0; at + 1 < dimensions.size(); ++at)
            row = row * dimensions[at].extent + draw(dimensions[at], random);
        for (std::int64_t column = 0; column < kColumns; ++column) {
            if (static_cast<std::int64_t>(offsets.size()) >= count)
                return {offsets.begin(), offsets.end()};
            offsets.insert(row * dimensions.back().extent + draw(dimensions.back(), random));
        }
    }
    return {offsets.begin(), offsets.end()};
}

}  // namespace napkin
