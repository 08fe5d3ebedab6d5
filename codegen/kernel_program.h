// Kernel programs: what one thread of a block does, as a tree (codegen/kernel_tree.h) with threads,
// shared memory and barriers explicit. The second, separate tree beside tile programs.
//
// Passes place tiles in shared memory (codegen/place_tiles.cpp) and put barriers between phases
// (codegen/insert_barriers.cpp) whatever lowering made them. Targets with asynchronous copies and
// tensor cores add statements to the tree and passes beside these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/kernel_tree.h"
#include "diagrams/source.h"

namespace napkin::kernel {

/// An array in shared memory.
struct Tile {
    std::string name;
    ElementType type = ElementType::F32;
    std::int64_t elements = 0;     ///< padding and all stages included
    std::int64_t stages = 1;       ///< copies that stand behind each other
    std::string shape;             ///< for its comment: `(q: 128, d: 64), rows of 65`
    std::int64_t offset = 0;       ///< bytes; place_tiles decides
    std::int64_t stage_bytes = 0;  ///< from one stage to the next
    /// Of a swizzled matrix (prelude/matrix.cuh).
    struct Matrix {
        std::int64_t rows = 0;
        std::int64_t columns = 0;
        bool panels = false;  ///< as prelude/panels.cuh has them
        bool turned = false;  ///< read down its columns
        bool operator==(const Matrix&) const = default;
    };
    std::optional<Matrix> matrix;
    bool operator==(const Tile&) const = default;
};

struct Program {
    std::string name;
    std::vector<std::string> header;  ///< comment lines
    std::string include = "napkin.cuh";
    std::vector<KernelParameter> parameters;
    std::vector<Tile> tiles;
    std::int64_t shared_bytes = 0;
    int threads = 256;      ///< that compute: kThreads
    int other_threads = 0;  ///< behind them
    /// Whether there are fewer blocks than processors, so that each may take all registers of one.
    bool few_blocks = false;
    std::int64_t resident = 1;  ///< blocks that a multiprocessor runs at once, where that is chosen
    Body body;
    bool operator==(const Program&) const = default;
};

/// The name of a type's elements in kernels: `float`, `bf16`, `u8`.
[[nodiscard]] std::string element_name(ElementType type);
/// Bytes of an element in shared memory (4-bit integers take one).
[[nodiscard]] std::int64_t element_bytes(ElementType type);

/// The tiles that a phase reads and writes.
struct TileAccesses {
    std::vector<TileId> reads;
    std::vector<TileId> writes;
};
[[nodiscard]] TileAccesses accesses_of(const Phase& phase, const std::vector<Tile>& tiles);

/// Gives every tile its place: tiles that are never held at once may share memory.
void place_tiles(Program& program);
/// Puts barriers between phases that touch the same memory.
void insert_barriers(Program& program);
/// CUDA C++.
[[nodiscard]] std::string print(const Program& program);

}  // namespace napkin::kernel
