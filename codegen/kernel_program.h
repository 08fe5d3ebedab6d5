// Kernel programs: what one thread of a block does, as statements of C++ with threads, shared
// memory and barriers explicit. The second, separate tree beside tile programs.
//
// Expressions are texts of the kernel language; statements are a closed variant. A Phase is one
// operation of the tile program carried out by all threads of a block, with the tiles that it reads
// and writes, so that passes can place tiles in shared memory (codegen/place_tiles.cpp) and put
// barriers between phases (codegen/insert_barriers.cpp) whatever lowering made them. Targets with
// asynchronous copies and tensor cores add statements here and passes beside these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "codegen/emit.h"
#include "diagrams/id.h"
#include "diagrams/source.h"

namespace napkin::kernel {

using TileId = Id<struct KernelTileTag>;  ///< into Program::tiles

/// An array in shared memory.
struct Tile {
    std::string name;
    ElementType type = ElementType::F32;
    std::int64_t elements = 0;  ///< padding included
    std::string shape;          ///< for its comment: `(q: 128, d: 64), rows of 65`
    std::int64_t offset = 0;    ///< bytes; place_tiles decides
    /// Of a swizzled matrix (prelude/matrix.cuh), which `stages` copies stand behind each other.
    struct Matrix {
        std::int64_t rows = 0;
        std::int64_t columns = 0;
        std::int64_t stages = 1;
        bool operator==(const Matrix&) const = default;
    };
    std::optional<Matrix> matrix;
    bool operator==(const Tile&) const = default;
};

struct Statement;
using Body = std::vector<Statement>;

/// `const int x = ...;` or, without a value, a variable or array that is assigned later.
struct Declare {
    std::string type;
    std::string name;
    std::string value;
    bool constant = true;
    std::string remark;
    bool operator==(const Declare&) const = default;
};
/// `target op value;` with `=`, `+=` and the like.
struct Assign {
    std::string target;
    std::string operation = "=";
    std::string value;
    bool operator==(const Assign&) const = default;
};
/// A call for its effect.
struct Call {
    std::string text;
    bool operator==(const Call&) const = default;
};
/// A counted loop over an int.
struct For {
    std::string name;
    std::string begin = "0";
    std::string end;
    std::string step = "1";
    bool unroll = false;
    std::string remark;
    Body body;
    bool operator==(const For&) const = default;
};
struct If {
    std::string condition;
    Body then;
    Body otherwise;
    bool operator==(const If&) const = default;
};
/// Text around a body: a call that takes a function, `replace_nan(acc, [&](int i, int j) {`.
struct Enclose {
    std::string open;
    Body body;
    std::string close;
    bool operator==(const Enclose&) const = default;
};
/// Goes on with the next chunk of the innermost loop unless `condition`, a name, holds.
struct SkipUnless {
    std::string condition;
    bool operator==(const SkipUnless&) const = default;
};
/// Ends the block's work when `condition` holds; the same for all threads.
struct LeaveIf {
    std::string condition;
    bool operator==(const LeaveIf&) const = default;
};
enum class Scope { Block, Warp };
struct Barrier {
    Scope scope = Scope::Block;
    bool operator==(const Barrier&) const = default;
};
struct Comment {
    std::string text;
    bool apart = false;  ///< after an empty line
    bool operator==(const Comment&) const = default;
};
/// One operation by all threads.
struct Phase {
    std::vector<std::string> comments;  ///< what it computes and where that came from
    std::vector<TileId> reads;
    std::vector<TileId> writes;
    /// Pairs of a written and a read tile, of one layout, in which every thread reads only elements
    /// that it then writes itself: the two may share memory.
    std::vector<std::pair<TileId, TileId>> in_place;
    Body body;
    bool operator==(const Phase&) const = default;
};

struct Statement {
    std::variant<Declare, Assign, Call, For, If, Enclose, SkipUnless, LeaveIf, Barrier, Comment,
                 Phase>
        node;
    bool operator==(const Statement&) const = default;
};

struct Program {
    std::string name;
    std::vector<std::string> header;  ///< comment lines
    std::string include = "napkin.cuh";
    std::vector<KernelParameter> parameters;
    /// `constexpr int` constants: name, value, remark.
    struct Constant {
        std::string name;
        std::int64_t value = 0;
        std::string remark;
        bool operator==(const Constant&) const = default;
    };
    std::vector<Constant> constants;
    std::vector<std::string> preconditions;  ///< conditions of static_asserts
    std::vector<Tile> tiles;
    std::int64_t shared_bytes = 0;
    int threads = 256;
    Body body;
    bool operator==(const Program&) const = default;
};

/// The name of a type's elements in kernels: `float`, `bf16`, `u8`.
[[nodiscard]] std::string element_name(ElementType type);
/// Bytes of an element in shared memory (4-bit integers take one).
[[nodiscard]] std::int64_t element_bytes(ElementType type);

/// Gives every tile its place: tiles that are never held at once may share memory.
void place_tiles(Program& program);
/// Puts barriers between phases that touch the same memory.
void insert_barriers(Program& program);
/// CUDA C++.
[[nodiscard]] std::string print(const Program& program);

}  // namespace napkin::kernel
