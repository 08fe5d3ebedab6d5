// Visiting the statements of a region's tile program.
#pragma once

#include <vector>

#include "derive/tile_program.h"
#include "diagrams/id.h"

namespace napkin::schedule {

/// A load, computation or save of a region, counted in the order of its text (leaves_of in
/// schedule/form.h).
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

}  // namespace napkin::schedule
