// Visiting the statements of a region's tile program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "derive/tile_program.h"
#include "diagrams/id.h"

namespace napkin::schedule {

/// A load, computation or save of a region, counted in the order of its text.
using LeafId = Id<struct LeafTag>;

/// Calls visit(statement, loop) for every load, computation and save; `loop` is the innermost loop
/// around it or null.
template <class Visit>
void for_statements(const std::vector<TileStatement>& body, const Visit& visit,
                    const Loop* loop = nullptr) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            for_statements(parallel->body, visit, loop);
        else if (const Loop* inner = std::get_if<Loop>(&statement.node))
            for_statements(inner->body, visit, inner);
        else
            visit(statement, loop);
    }
}

/// Whether it keeps every prefix of what it folds.
[[nodiscard]] bool is_scan(const Statement& statement);
/// Whether what it computes depends on where elements stand along the axis that it folds.
[[nodiscard]] bool is_ordered(const Statement& statement);
/// Whether it adds up integers, or multiplies them, for a result of reals, which has them exactly
/// only where it is computed in integers: f32 holds fewer than the result may come to, at sizes
/// that may be any if `any_size`. `scope` is its region's.
[[nodiscard]] bool sums_integers(const Diagram& scope, const Statement& statement, bool any_size);
/// Whether an operand of a sum of products of integers has values that the type has not.
[[nodiscard]] bool rounds_integers(const Diagram& scope, const Statement& statement,
                                   const Expression& operand, ElementType type, bool any_size);

/// What a loop's data masks read along its axis, each once.
[[nodiscard]] std::vector<Read> reads_along_chunks(const Loop& loop);

/// Groups that a block is one of.
struct BlockGroups {
    AxisId axis;
    std::int64_t size = 1;   ///< of a group
    std::int64_t count = 1;  ///< of groups
};
/// Those of the axes that are grouped, from the outermost in; nullopt where one is grouped again.
[[nodiscard]] std::optional<std::vector<BlockGroups>> block_groups(const RegionProgram& region);

/// The region's loads, computations and saves, in the order of the text; an operation's `leaf`
/// counts them.
[[nodiscard]] std::vector<const TileStatement*> leaves_of(const RegionProgram& region);

/// The region's loops, in the order of the text; a ChunkLoop's `source` counts them.
[[nodiscard]] std::vector<const Loop*> loops_of(const RegionProgram& region);

}  // namespace napkin::schedule
