// The tiles of a block that takes one after another.
#pragma once

#include "product.cuh"

namespace nk {

/// The tile after this one of blocks that go there and back again: the first block of one turn is
/// the last of the next.
NK_DEVICE int next_there_and_back(int tile) {
    const int blocks = static_cast<int>(gridDim.x);
    const int block = static_cast<int>(blockIdx.x);
    return tile + (tile / blocks % 2 == 0 ? 2 * (blocks - block) - 1 : 2 * block + 1);
}

/// The tile after those that all blocks have, of which each has begun with the one of its own
/// number; for the thread that `draws`. `drawn` counts the others, and is zero again when all
/// blocks have found that none is left.
NK_DEVICE int draw_tile(Global<int> drawn, int tiles, bool draws) {
    if (!draws) return 0;
    const int before = take_number(drawn);
    if (before + 1 == tiles) drawn[0] = 0;
    return before + static_cast<int>(gridDim.x);
}

}  // namespace nk
