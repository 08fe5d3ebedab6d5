#include "perfmodel/token_order.h"

#include <algorithm>

namespace napkin {

using index::Tiling;

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
