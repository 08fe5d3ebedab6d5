// Bulk copies of boxes between device and shared memory, as the emulator carries them out.
#pragma once

#include <functional>

#include "codegen/prelude/emulator/interface.h"
#include "codegen/run/emulated_barriers.h"

namespace napkin {

/// A bulk copy that was started, with a map of its own.
struct StartedBulk {
    nk::emulator::BulkCopy copy;
    nk::emulator::TensorMap map;
    int thread = 0;

    StartedBulk(const nk::emulator::BulkCopy& started, int by);
    [[nodiscard]] long long bytes() const;  ///< of the box
    [[nodiscard]] bool loads() const { return copy.barrier >= 0; }
};

/// What the driver refuses in a map.
[[nodiscard]] Misuse check_map(const nk::emulator::TensorMap& map);

/// 16 bytes of a box: where they are in shared memory and in the array, and which of them are
/// inside the array.
struct BulkUnit {
    long long place = 0;
    unsigned char* array = nullptr;
    long long first = 0;
    long long last = 0;  ///< exclusive; no more than `first` where nothing is inside
    [[nodiscard]] bool inside() const { return first < last; }
};
void for_each_unit(const StartedBulk& bulk, const std::function<void(const BulkUnit&)>& body);

/// Copies the box into shared memory, zero where it is outside the array; or from there to the
/// array.
void carry_out(const StartedBulk& bulk, unsigned char* shared);

/// Where 16-byte units of rows of `swizzle` bytes are: bits of the place are permuted.
[[nodiscard]] inline long long swizzled(long long place, int swizzle) {
    const long long turns = swizzle / 16 - 1;  // 7, 3, 1 or, without, nothing
    return swizzle == 0 ? place : place ^ ((place >> 7 & turns) << 4);
}

}  // namespace napkin
