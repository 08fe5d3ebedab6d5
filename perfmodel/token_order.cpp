#include "perfmodel/token_order.h"

#include <algorithm>

#include "diagrams/contains.h"

namespace napkin {

using index::Tiling;

namespace {

/// Those of an array that belong to a side, as they lie in memory.
std::vector<AxisId> part_in_memory(const Array& array, const std::vector<AxisId>& side) {
    std::vector<AxisId> part;
    for (const std::uint32_t position : array.layout)
        if (contains(side, array.axes[position])) part.push_back(array.axes[position]);
    return part;
}

/// How well an array tells the order of a side: callers see inputs and outputs, and one without
/// the other side holds the tokens themselves.
int rank_of(const Array& array, const std::vector<AxisId>& across) {
    const int role = array.role == ArrayRole::Input ? 0 : array.role == ArrayRole::Output ? 2 : 4;
    return role + (part_in_memory(array, across).empty() ? 0 : 1);
}

}  // namespace

TokenAxes axes_of_tokens(const Diagram& diagram, const std::vector<AxisId>& side,
                         const std::vector<AxisId>& across) {
    TokenAxes tokens{side, std::nullopt, {}};
    if (side.size() < 2) return tokens;
    std::vector<ArrayId> complete;
    for (std::uint32_t k = 0; k < diagram.arrays.size(); ++k)
        if (part_in_memory(diagram.arrays[k], side).size() == side.size())
            complete.push_back(ArrayId{k});
    if (complete.empty()) return tokens;
    tokens.array = *std::min_element(complete.begin(), complete.end(), [&](ArrayId a, ArrayId b) {
        return rank_of(diagram[a], across) < rank_of(diagram[b], across);
    });
    tokens.axes = part_in_memory(diagram[*tokens.array], side);
    for (const ArrayId other : complete)
        if (diagram[other].role != ArrayRole::Intermediate &&
            part_in_memory(diagram[other], side) != tokens.axes)
            tokens.otherwise.push_back(other);
    return tokens;
}

bool are_consecutive(const Diagram& diagram, const std::vector<Tiling>& tilings) {
    const auto last = std::find_if(tilings.rbegin(), tilings.rend(), [&](const Tiling& tiling) {
        return tiling.size < diagram[tiling.axis].extent;
    });
    return last == tilings.rend() ||
           std::all_of(std::next(last), tilings.rend(),
                       [](const Tiling& tiling) { return tiling.size == 1; });
}

std::vector<std::int64_t> token_order(const Diagram& diagram, const std::vector<Tiling>& tilings) {
    std::vector<std::int64_t> order{0};
    // From tiles to what is in them, each token by its flat index.
    for (const bool inside : {false, true}) {
        std::int64_t stride = 1;
        for (const Tiling& tiling : tilings) stride *= diagram[tiling.axis].extent;
        for (const Tiling& tiling : tilings) {
            const std::int64_t extent = diagram[tiling.axis].extent;
            stride /= extent;
            std::vector<std::int64_t> finer;
            for (const std::int64_t token : order) {
                const std::int64_t at = token / stride % extent;
                const std::int64_t end = inside ? std::min(at + tiling.size, extent) : extent;
                for (std::int64_t index = at; index < end; index += inside ? 1 : tiling.size)
                    finer.push_back(token + (index - at) * stride);
            }
            order = std::move(finer);
        }
    }
    return order;
}

std::vector<std::int64_t> tile_edges(const Diagram& diagram, const std::vector<Tiling>& tilings) {
    std::vector<std::int64_t> lengths{1};
    for (const Tiling& tiling : tilings) {
        const std::int64_t extent = diagram[tiling.axis].extent;
        std::vector<std::int64_t> finer;
        for (const std::int64_t length : lengths)
            for (std::int64_t at = 0; at < extent; at += tiling.size)
                finer.push_back(length * std::min(tiling.size, extent - at));
        lengths = std::move(finer);
    }
    std::vector<std::int64_t> edges{0};
    for (const std::int64_t length : lengths) edges.push_back(edges.back() + length);
    return edges;
}

}  // namespace napkin
