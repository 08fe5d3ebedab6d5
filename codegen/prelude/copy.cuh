// Copies between device and shared memory.
#pragma once

#include "scalar.cuh"
#include "target.cuh"

namespace nk {

/// Copies kCount elements, 16 bytes, whose place in device memory is a multiple of 16 bytes; the
/// place in the tile is a multiple of 4.
template <int kCount, class T>
NK_DEVICE void copy_vector(Shared<T> tile, int at, Global<const T> array, i64 from) {
    static_assert(kCount * sizeof(T) == 16);
#ifdef NAPKIN_EMULATED
    if (!array.aligned(from, 16) || !tile.aligned(at, 4))
        emulator::context->fail(emulator::context, "misaligned vector copy");
    for (int i = 0; i < kCount; ++i) tile[at + i] = array[from + i];
#else
    const uint4 values = *reinterpret_cast<const uint4*>(array + from);
    u32* words = reinterpret_cast<u32*>(tile + at);
    words[0] = values.x;
    words[1] = values.y;
    words[2] = values.z;
    words[3] = values.w;
#endif
}

}  // namespace nk
