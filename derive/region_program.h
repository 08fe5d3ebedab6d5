// Tile programs: the relabelled diagram expanded into explicit loops, loads, operations and saves.
//
// Every statement runs under a *range* for each axis: whole at first, a group inside Parallel, a
// chunk inside Stream. A Compute has the meaning of its core statement with each axis restricted to
// its current range; a Load copies the part of an array that the index expressions of its readers
// can touch under the current ranges, clipped to the array. Indices stay global: a tile remembers
// where it starts. So the interpreter, the counters and the code generators read the same few
// statements.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "derive/accumulator.h"
#include "diagrams/diagram.h"
#include "diagrams/relabelling.h"

namespace napkin {

using VariableId = Id<struct VariableTag>;  ///< into RegionProgram::variables

/// A tile of an array at a level.
struct Variable {
    std::string name;  ///< from the array's, unique: `K_tile`, `m`
    ArrayId array;     ///< into RegionProgram::arrays
    Level level = Level::Block;
    bool tensor_core = false;
    ElementType type = ElementType::F32;
    /// Written in one phase and read in a later one (states, resident inputs, staged outputs):
    /// every processor of its level keeps its own.
    bool persists = false;
    /// The most it holds along each dimension, whatever the edge: `min(g_q, q)` with symbols for
    /// group sizes.
    std::vector<Formula> capacity;
    std::vector<std::int64_t> capacity_extent;  ///< the same in numbers
    Span span;
    bool operator==(const Variable&) const = default;
};

struct TileStatement;

/// Groups of an axis, each on its own processor; the range of `axis` becomes one group.
struct Parallel {
    AxisId axis;
    std::int64_t size = 1;
    Level level = Level::Block;
    std::vector<TileStatement> body;
    bool operator==(const Parallel&) const = default;
};
/// Chunks of an axis in order; the range of `axis` becomes one chunk. A chunk in which a
/// condition of `visible` holds nowhere is neither visited nor counted.
struct Loop {
    AxisId axis;
    std::int64_t size = 1;
    Level level = Level::Block;
    /// Masks (boolean expressions over axes and sizes): a chunk is visited if every one may hold
    /// somewhere in the tile.
    std::vector<Expression> visible;
    std::vector<TileStatement> body;
    /// Masks that read integer arrays in device memory: a chunk in which one holds nowhere adds
    /// nothing, and a kernel that sees so at run time may leave it out. Visits and counts do not.
    std::vector<Expression> data_masks;
    bool operator==(const Loop&) const = default;
};
/// Whether a mask tells chunks of the loop apart.
[[nodiscard]] bool varies_along(const Loop& loop);
/// Copies the footprint of `target` from the same array at an outer level (device memory when
/// `source` is empty).
struct Load {
    VariableId target;
    std::optional<VariableId> source;
    ArrayId array;  ///< the device array it comes from in the end
    /// For each dimension of the array, the index expressions of its readers; the footprint is the
    /// hull of their ranges.
    std::vector<std::vector<Expression>> index;
    /// A data-dependent read (`E[label[n], d]`): the target has the axes of its array and element
    /// `axes` is array[gather]; one value is counted an element.
    std::vector<Expression> gather;
    /// Whether masks may have made elements infinite in the kernel before.
    bool infinite = false;
    bool operator==(const Load&) const = default;
};
/// Computes its targets from variables of the same level; a target may be a state that the
/// statement also reads.
struct Compute {
    Statement statement;  ///< reads and targets are ArrayIds of RegionProgram::arrays
    std::vector<VariableId> targets;
    std::vector<VariableId> reads;  ///< the variables that its Read nodes mean, one an array read
    Level level = Level::Block;
    bool tensor_core = false;
    std::string via;  ///< the rule it came from: `stream`, `fuse`, or empty
    bool operator==(const Compute&) const = default;
};
/// Copies a tile outward, to the same array at an outer level or to device memory.
struct Save {
    VariableId source;
    std::optional<VariableId> target;
    ArrayId array;
    bool operator==(const Save&) const = default;
};

struct TileStatement {
    std::variant<Parallel, Loop, Load, Compute, Save> node;
    Span span;
    bool operator==(const TileStatement&) const = default;
};

/// One region: one kernel.
struct RegionProgram {
    std::string name;
    /// The diagram's arrays (same ids), then those of the accumulator and of views of arrays read
    /// in several ways.
    std::vector<Array> arrays;
    /// The diagram's axes (same ids).
    std::vector<Axis> axes;
    std::vector<Monoid> monoids;
    std::vector<Variable> variables;
    std::vector<TileStatement> body;
    /// Arrays that the region saves to device memory, with the types they have there.
    std::map<ArrayId, ElementType> stored;
    std::optional<Accumulator> accumulator;
    bool operator==(const RegionProgram&) const = default;
};

/// All regions in order, with intermediates between them in device memory.
struct TileProgram {
    std::string name;
    std::vector<RegionProgram> regions;
    bool operator==(const TileProgram&) const = default;
};

/// The variable of an array at a level; throws InternalError when there is none.
[[nodiscard]] VariableId variable_of(const RegionProgram& region, ArrayId array, Level level);

/// A view of the program as a diagram table, so that `print(diagram, expression)` works for its
/// expressions.
[[nodiscard]] Diagram scope_of(const RegionProgram& region);

}  // namespace napkin
