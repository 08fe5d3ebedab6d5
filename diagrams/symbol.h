// What formulas count with: sizes of axes, groups and chunks, numbers of tiles. A symbol is a
// value; its name is made where it is printed, by the diagram's SymbolNames.
#pragma once

#include <compare>
#include <cstdint>

#include "diagrams/element_type.h"
#include "diagrams/id.h"
#include "diagrams/level.h"

namespace napkin {

enum class SymbolKind : std::uint8_t {
    Axis,        ///< the size of an axis, `q`
    Group,       ///< the size of a group of it, `g_q`
    Stream,      ///< the size of a chunk of it, `s_q`
    GroupIndex,  ///< the number of a group, `i_q`
    ChunkIndex,  ///< the number of a chunk, `j_q`
    Memory,      ///< what a processor of the level holds, `M`
    Part,        ///< what is no polynomial, numbered while normal forms are compared
    Bits,        ///< what one value of the element type `number` takes in memory, `bits(bf16)`
};

struct Symbol {
    SymbolKind kind = SymbolKind::Axis;
    Level level = Level::Block;  ///< of a group, a stream or the memory
    AxisId axis;
    std::uint32_t number = 0;  ///< of a part or a type; of an index renamed away from others
    // clang-tidy 14 takes the zero that <=> is compared with for a pointer.
    auto operator<=>(const Symbol&) const = default;  // NOLINT(modernize-use-nullptr)
};

[[nodiscard]] constexpr Symbol axis_size(AxisId axis) {
    return {SymbolKind::Axis, Level::Block, axis};
}
[[nodiscard]] constexpr Symbol group_size(AxisId axis, Level level) {
    return {SymbolKind::Group, level, axis};
}
[[nodiscard]] constexpr Symbol stream_size(AxisId axis, Level level) {
    return {SymbolKind::Stream, level, axis};
}
[[nodiscard]] constexpr Symbol bits_in(ElementType type) {
    return {SymbolKind::Bits, Level::Block, {}, static_cast<std::uint32_t>(type)};
}
/// The size of a group or a chunk.
[[nodiscard]] constexpr bool is_tile_size(Symbol symbol) {
    return symbol.kind == SymbolKind::Group || symbol.kind == SymbolKind::Stream;
}

}  // namespace napkin
