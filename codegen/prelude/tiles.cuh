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

}  // namespace nk
