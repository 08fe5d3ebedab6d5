#include "codegen/run/emulated_bulk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace napkin {
namespace {

using nk::emulator::BulkCopy;
using nk::emulator::kMostDimensions;
using nk::emulator::TensorMap;

constexpr long long kUnit = 16;

/// Of the box: where its first column is in the array, and whether it is inside but for that.
struct Row {
    long long offset = 0;  ///< bytes
    bool inside = true;
};

/// The rows of a box along its first dimension, in the order of shared memory.
template <class Body>
void for_each_row(const StartedBulk& bulk, const Body& body) {
    const TensorMap& map = bulk.map;
    std::array<int, kMostDimensions> at{};
    for (;;) {
        Row row{bulk.copy.at[0] * map.strides[0], true};
        for (int d = 1; d < map.rank; ++d) {
            const long long place = static_cast<long long>(bulk.copy.at[d]) + at[d];
            row.inside = row.inside && place >= 0 && place < map.extents[d];
            row.offset += place * map.strides[d];
        }
        body(row);
        int d = 1;
        while (d < map.rank && ++at[d] == map.box[d]) at[d++] = 0;
        if (d >= map.rank) return;
    }
}

}  // namespace

StartedBulk::StartedBulk(const BulkCopy& started, int by)
    : copy(started), map(*started.map), thread(by) {
    copy.map = nullptr;
}

long long StartedBulk::bytes() const {
    long long size = map.element_bytes;
    for (int d = 0; d < map.rank; ++d) size *= map.box[d];
    return size;
}

Misuse check_map(const TensorMap& map) {
    const auto wrong = [&](const std::string& what) {
        return fmt::format("the map of `{}` {}", map.name, what);
    };
    if (map.rank < 2 || map.rank > kMostDimensions)
        return wrong(fmt::format("has {} dimensions", map.rank));
    if (reinterpret_cast<std::uintptr_t>(map.base) % 16 != 0)
        return wrong("begins at no multiple of 16 bytes");
    if (map.strides[0] != map.element_bytes) return wrong("has a first dimension with gaps");
    for (int d = 0; d < map.rank; ++d) {
        if (map.extents[d] < 1 || map.extents[d] > 1LL << 32)
            return wrong(fmt::format("has extent {}", map.extents[d]));
        if (map.box[d] < 1 || map.box[d] > 256)
            return wrong(fmt::format("has a box of {} along a dimension: 1 to 256", map.box[d]));
        if (d > 0 &&
            (map.strides[d] % 16 != 0 || map.strides[d] < 0 || map.strides[d] >= 1LL << 40))
            return wrong(
                fmt::format("has a stride of {} bytes, no multiple of 16", map.strides[d]));
    }
    const int row = map.box[0] * map.element_bytes;
    if (row % 16 != 0) return wrong(fmt::format("has rows of {} bytes in its box", row));
    if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 && map.swizzle != 128)
        return wrong(fmt::format("has a swizzle of {} bytes", map.swizzle));
    if (map.swizzle != 0 && row != map.swizzle)
        return wrong(fmt::format("has rows of {} bytes and a swizzle of {}", row, map.swizzle));
    return std::nullopt;
}

void for_each_unit(const StartedBulk& bulk, const std::function<void(const BulkUnit&)>& body) {
    const TensorMap& map = bulk.map;
    const long long size = map.element_bytes;
    long long place = bulk.copy.place;
    for_each_row(bulk, [&](const Row& row) {
        for (long long at = 0; at < map.box[0] * size; at += kUnit, place += kUnit) {
            BulkUnit unit{swizzled(place, map.swizzle), map.base + row.offset + at, 0, 0};
            const long long byte = bulk.copy.at[0] * size + at;  // of the array's row
            unit.first = std::clamp(-byte, 0LL, kUnit);
            if (row.inside) unit.last = std::clamp(map.extents[0] * size - byte, 0LL, kUnit);
            body(unit);
        }
    });
}

void carry_out(const StartedBulk& bulk, unsigned char* shared) {
    for_each_unit(bulk, [&](const BulkUnit& unit) {
        unsigned char* tile = shared + unit.place;
        if (bulk.loads()) std::memset(tile, 0, kUnit);
        if (!unit.inside()) return;
        const auto size = static_cast<std::size_t>(unit.last - unit.first);
        if (bulk.loads())
            std::memcpy(tile + unit.first, unit.array + unit.first, size);
        else
            std::memcpy(unit.array + unit.first, tile + unit.first, size);
    });
}

}  // namespace napkin
