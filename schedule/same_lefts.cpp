#include "schedule/same_lefts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "schedule/statements.h"
#include "schedule/tile_axes.h"

namespace napkin::schedule {
namespace {

bool makes_left(const Op& op) {
    return op.kind == Op::Kind::Pack ||
           (op.kind == Op::Kind::Elements && op.side == Op::Side::Left);
}

/// Of everything else in a body.
void collect_written(const Program& program, const Body& body, std::set<BufferId>& written) {
    for (const Item& item : body) {
        if (const OpId* id = std::get_if<OpId>(&item.node)) {
            const Op& op = program[*id];
            if (!makes_left(op)) written.insert(op.writes.begin(), op.writes.end());
        } else if (const ChunkLoop* nested = std::get_if<ChunkLoop>(&item.node)) {
            collect_written(program, nested->body, written);
        }
    }
}

bool is_loaded_in(const std::vector<TileStatement>& body, VariableId variable) {
    bool found = false;
    for_statements(body, [&](const TileStatement& statement, const Loop*) {
        const Load* load = std::get_if<Load>(&statement.node);
        found = found || (load != nullptr && load->target == variable);
    });
    return found;
}

/// Whether a product's left operand may differ from chunk to chunk, whatever computes what it
/// reads.
bool varies(const RegionProgram& region, const Plan& plan, const Loop& loop, const Product& product,
            const Compute& compute) {
    const AxisId along = tile_axis_of(plan.tile_axes, loop.axis);
    // Along the depth, what stands past the last chunk's end is zero.
    bool found = product.depth == along;
    walk(product.left.value, [&](const Expression& part) {
        const AxisIndex* axis = std::get_if<AxisIndex>(&part.node);
        found = found || (axis != nullptr && (axis->axis == loop.axis || axis->axis == along));
        const Read* read = std::get_if<Read>(&part.node);
        if (read == nullptr) return;
        for (const VariableId variable : compute.reads)
            if (region.variables[variable.index()].array == read->array)
                found = found || is_loaded_in(loop.body, variable);
    });
    return found;
}

}  // namespace

Body take_same_lefts(const RegionProgram& region, const Plan& plan, const Program& program,
                     const Loop& loop, Body& inside) {
    const std::vector<const TileStatement*> leaves = leaves_of(region);
    std::set<BufferId> written;
    collect_written(program, inside, written);
    const auto is_same = [&](const Item& item) {
        const OpId* id = std::get_if<OpId>(&item.node);
        if (id == nullptr) return false;
        const Op& op = program[*id];
        if (!makes_left(op) || op.held) return false;
        const Compute& compute = std::get<Compute>(leaves[op.leaf.index()]->node);
        return !varies(region, plan, loop, plan.products.at(op.leaf), compute) &&
               std::none_of(op.reads.begin(), op.reads.end(),
                            [&](BufferId buffer) { return written.contains(buffer); });
    };
    const auto taken = std::stable_partition(inside.begin(), inside.end(),
                                             [&](const Item& item) { return !is_same(item); });
    Body before(std::make_move_iterator(taken), std::make_move_iterator(inside.end()));
    inside.erase(taken, inside.end());
    return before;
}

}  // namespace napkin::schedule
