// The kernel's skeleton: shared memory, warps, and the statements in order.
#include <fmt/format.h>

#include <set>

#include "codegen/fold_constants.h"
#include "codegen/tensor/tensor_lowering.h"
#include "diagrams/overloaded.h"
#include "schedule/statements.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::Run;
using kernel::variable;

}  // namespace

TensorLowering::TensorLowering(const State& state, const RegionProgram& region,
                               const EmitOptions& options, schedule::Plan plan,
                               schedule::Program schedule)
    : RegionFrame(state, region, options),
      plan_(std::move(plan)),
      schedule_(std::move(schedule)),
      leaves_(schedule::leaves_of(region)) {}

LoweredRegion TensorLowering::run() {
    program_.threads = plan_.threads();
    program_.include = schedule_.rings.empty() ? "tensor.cuh" : "hopper_tensor.cuh";
    program_.shared_bytes = schedule_.shared_bytes;
    name_tiles();
    name_buffers();
    order_ = plan_.order;
    Body body;
    if (!schedule_.persistent) static_cast<void>(lower_grid(body));
    program_.few_blocks = has_few_blocks();
    if (plan_.rows_in_pairs > 0 || plan_.bytes_in_shared > 0) program_.resident = plan_.resident;
    declare_warps(body);
    if (schedule_.rings.empty())
        lower(schedule_.body, body);
    else
        lower_agents(body);
    program_.body = std::move(body);
    limit_whole_axes();
    LoweredRegion result = finish();
    for (const auto& [leaf, product] : plan_.products) {
        const BoxId box = std::get<Compute>(leaves_[leaf.index()]->node).statement.box;
        if (is_narrow(product))
            result.narrow.insert(box);
        else if (rounds_operand(product))
            result.operands[box] = product.type;
    }
    return result;
}

/// A tile that is as long as the axis now may be shorter than a larger one: registers and shared
/// memory limit it. A group of one index is as long as any.
void TensorLowering::limit_whole_axes() {
    std::set<AxisId> single;
    for (const GridAxis& axis : grid_)
        if (axis.size == 1) single.insert(axis.axis);
    for (const auto& [id, tile] : plan_.tiles) {
        if (tile.home == Home::Device) continue;
        const Variable& variable = region_.variables[id.index()];
        const std::vector<AxisId>& axes = region_.arrays[variable.array.index()].axes;
        const auto limit = [&](AxisId axis, std::int64_t held) {
            const std::int64_t extent = region_.axes[axis.index()].extent;
            if (run_time_[axis.index()] && !single.contains(axis) && held >= extent)
                held_.insert(axis);
        };
        for (std::size_t d = 0; d < axes.size(); ++d) {
            limit(axes[d], variable.capacity_extent[d]);
            for (const schedule::TilePart& part : tile_parts(axes[d]))
                limit(part.axis, part.extent);
        }
    }
}

/// Whether the tensor core's operands are less precise than what was computed.
bool TensorLowering::rounds_operand(const schedule::Product& product) const {
    if (is_in_parts(product.type)) return true;
    const auto rounds = [&](const schedule::Operand& side) {
        const Read* read = std::get_if<Read>(&side.value.node);
        if (read == nullptr) return true;
        const Array& array = region_.arrays[read->array.index()];
        for (const auto& [variable, load] : loads_)
            if (region_.variables[variable.index()].array == read->array)
                return !converts_exactly(device_type(load->array), product.type);
        return !array.rounds || !converts_exactly(array.type, product.type);
    };
    return rounds(product.left) || rounds(product.right);
}

/// Device arrays keep their names; registers get others where these are taken.
void TensorLowering::name_tiles() {
    for (const TileStatement* leaf : leaves_)
        if (const Load* load = std::get_if<Load>(&leaf->node)) {
            static_cast<void>(buffer_name(load->array, false));
            loads_[load->target] = load;
        }
    for (const TileStatement* leaf : leaves_)
        if (const Save* save = std::get_if<Save>(&leaf->node))
            static_cast<void>(buffer_name(save->array, true));
    for (const auto& [variable, buffer] : schedule_.buffer_of) {
        if (schedule_[buffer].place != schedule::Buffer::Place::Registers &&
            plan_.tiles.at(variable).home != Home::Fragment)
            continue;
        const std::string plain = Names::identifier(region_.variables[variable.index()].name);
        names_of_[variable] = names_.fresh(names_.are_free({plain}) ? plain : plain + "_part");
    }
}

/// Tiles in shared memory, in the order of the schedule's buffers.
void TensorLowering::name_buffers() {
    std::vector<kernel::Tile> tiles(schedule_.buffers.size());
    const auto matrix = [&](schedule::BufferId buffer, ElementType type, std::int64_t rows,
                            std::int64_t columns) {
        kernel::Tile& tile = tiles[buffer.index()];
        tile.type = type;
        tile.matrix = kernel::Tile::Matrix{rows, columns};
        tile.elements = rows * columns;
        tile.shape = fmt::format("{} x {}", rows, columns);
    };
    const auto vector = [&](schedule::BufferId buffer, std::int64_t elements, std::string shape) {
        tiles[buffer.index()].elements = elements;
        tiles[buffer.index()].shape = std::move(shape);
    };
    for (const auto& [variable, buffer] : schedule_.buffer_of) {
        const schedule::Tile& tile = plan_.tiles.at(variable);
        if (tile.home == Home::Matrix) {
            matrix(buffer, tile.type, tile.rows, map_elements(tile.type, tile.columns));
            tiles[buffer.index()].matrix->turned = tile.turned;
        }
        if (tile.home == Home::Fragment &&
            schedule_[buffer].place == schedule::Buffer::Place::Shared) {
            tiles[buffer.index()].type = tile.type;
            vector(buffer, schedule_[buffer].bytes / kernel::element_bytes(tile.type),
                   "every thread's own");
        }
        if (tile.home != Home::Shared) continue;
        const std::int64_t elements = schedule::vector_extent(plan_, *tile.column);
        vector(buffer, elements,
               fmt::format("{} of {}", elements, region_.axes[tile.column->index()].name));
        tiles[buffer.index()].type = tile.type;
    }
    if (schedule_.scratch)
        vector(*schedule_.scratch, schedule::scratch_values(plan_),
               schedule::scratch_values(plan_) == plan_.threads() / 32 ? "a value of every warp"
               : plan_.sharers() > 1                                   ? "columns of every warp"
                                                                       : "values of every warp");
    for (const auto& [loop, buffer] : schedule_.marks) {
        vector(buffer, schedule_[buffer].bytes, "a mark of every chunk");
        tiles[buffer.index()].type = ElementType::I8;
    }
    if (schedule_.next_tile) {
        vector(*schedule_.next_tile, 1, "the tile after this one");
        tiles[schedule_.next_tile->index()].type = ElementType::I32;
    }
    for (const auto& [loop, kept] : schedule_.kept_ends) {
        if (!kept.buffer) continue;
        vector(*kept.buffer, schedule_[*kept.buffer].bytes / 4,
               "least and greatest of every chunk");
        tiles[kept.buffer->index()].type = ElementType::I32;
    }
    for (const schedule::Op& op : schedule_.ops) {
        if (op.kind == schedule::Op::Kind::Store && !op.writes.empty()) {
            const Save& save = std::get<Save>(leaves_[op.leaf.index()]->node);
            const ElementType type = device_type(save.array);
            matrix(op.writes.front(), type, plan_.rows_of_warp,
                   schedule::kSliceBytes / kernel::element_bytes(type));
            tiles[op.writes.front().index()].stages = plan_.warps_down * plan_.warps_across;
        }
        if (op.kind == schedule::Op::Kind::Part)
            vector(op.writes.front(), schedule_[op.writes.front()].bytes / 4,
                   "a value of every row, from each that shares it");
        if (op.kind != schedule::Op::Kind::Publish) continue;
        const TileStatement& leaf = *leaves_[op.leaf.index()];
        if (const Save* save = std::get_if<Save>(&leaf.node)) {
            const schedule::Tile& tile = plan_.tiles.at(save->source);
            matrix(op.writes.front(), device_type(save->array),
                   plan_.rows_of_warp * plan_.warps_down, columns_of(*tile.column).padded);
        } else if (op.side != schedule::Op::Side::None) {
            const schedule::Product& product = plan_.products.at(op.leaf);
            const bool left = op.side == schedule::Op::Side::Left;
            const schedule::Panel& panel = *(left ? product.left : product.right).panel;
            matrix(op.writes.front(), product.type, schedule::panel_extent(plan_, panel.rows),
                   schedule::panel_extent(plan_, panel.columns));
        }
    }
    for (std::size_t b = 0; b < tiles.size(); ++b) {
        const schedule::Buffer& buffer = schedule_.buffers[b];
        if (buffer.place != schedule::Buffer::Place::Shared) continue;
        if (is_ring({static_cast<std::uint32_t>(b)}) || is_list({static_cast<std::uint32_t>(b)}))
            continue;
        kernel::Tile& tile = tiles[b];
        if (tile.matrix) tile.matrix->panels = in_panels({static_cast<std::uint32_t>(b)});
        tile.stage_bytes = buffer.bytes / tile.stages;
        const std::string name = Names::identifier(buffer.name);
        const bool plain = buffer.guarded || name.ends_with("_staging");
        tile.name = names_.fresh(plain ? name : name + "_tile");
        if (tile.stages > 1) tile.shape += ", of every warp";
        tile.stages *= buffer.stages;
        tile.elements *= tile.stages;
        if (buffer.stages > 1) tile.shape += fmt::format(", {} stages", buffer.stages);
        tile.offset = buffer.offset;
        buffer_names_[{static_cast<std::uint32_t>(b)}] = tile.name;
        program_.tiles.push_back(std::move(tile));
    }
    if (schedule_.scratch) scratch_ = buffer_names_.at(*schedule_.scratch);
}

kernel::Expression TensorLowering::shared_buffer(schedule::BufferId buffer) const {
    const kernel::Expression tile = variable(buffer_names_.at(buffer));
    if (schedule_[buffer].stages == 1) return tile;
    return kernel::element(tile, {slot_now_.at(buffer)});
}

void TensorLowering::declare_warps(Body& body) {
    body.push_back({kernel::Alias{"Rows", rows_type()}});
    if (!plan_.row) return;
    const auto name_part = [&](AxisId axis) {
        warp_parts_[axis] = names_.fresh("warp_" + region_.axes[axis.index()].name);
    };
    name_part(*plan_.row);
    for (const AxisId axis : plan_.split) name_part(axis);
    const kernel::Expression warp = call("warp_index");
    const bool one_warp = plan_.warps_down == 1 && plan_.warps_across == 1;
    const bool groups = in_groups() && plan_.warps_across > 1;
    const kernel::Expression down =
        groups ? group_row() + warp % schedule::kWarpsOfGroup * plan_.rows_of_warp
               : folded(warp / plan_.warps_across) * plan_.rows_of_warp;
    body.push_back(kernel::define("int", warp_parts_.at(*plan_.row),
                                  one_warp ? kernel::Expression(0) : down,
                                  "first row of this warp"));
    for (const AxisId axis : plan_.split) {
        const std::int64_t columns = columns_of(axis).padded / plan_.warps_across;
        const kernel::Expression across =
            groups ? call({"group_across", {plan_.warps_across}}, {}) : warp % plan_.warps_across;
        body.push_back(
            kernel::define("int", warp_parts_.at(axis), across * columns, "and its first column"));
    }
}

void TensorLowering::lower(const schedule::Body& items, Body& body) {
    for (std::size_t at = 0; at < items.size(); ++at) {
        if (const std::vector<LeafId> leaves = made_at_once(items, at); leaves.size() > 1) {
            lower_at_once(leaves, body);
            at += leaves.size() - 1;
            continue;
        }
        std::visit(
            overloaded{
                [&](schedule::OpId op) { lower(op, body); },
                [&](const schedule::Sync& sync) { lower(sync, body); },
                [&](const schedule::Await& await) { lower(await, body); },
                [&](const schedule::Release& release) { lower(release, body); },
                [&](const schedule::Finish& finish) { lower(finish, body); },
                [&](const schedule::TakeTurn&) { body.push_back({Run{call("take_turn")}}); },
                [&](const schedule::PassTurn&) {
                    body.push_back({Run{call({"pass_turn", {warp_groups()}})}});
                },
                [&](const schedule::Commit&) { body.push_back({Run{call("commit_copies")}}); },
                [&](const schedule::ChunkLoop& loop) {
                    leads(loop) ? lower_turns(loop, body) : lower_loop(loop, body);
                }},
            items[at].node);
    }
}

void TensorLowering::lower(const schedule::Sync& sync, Body& body) const {
    if (sync.pending) body.push_back({Run{call({"wait_copies", {*sync.pending}})}});
    if (!sync.barrier) return;
    if (schedule_.rings.empty()) return body.push_back({kernel::Barrier{}});
    body.push_back({Run{call("fence_async")}});
    body.push_back({Run{call("named_barrier", {kComputeBarrier, variable("kThreads")})}});
}

void TensorLowering::lower(schedule::OpId id, Body& body) {
    using Kind = schedule::Op::Kind;
    const schedule::Op& op = schedule_[id];
    const TileStatement& leaf = *leaves_[op.leaf.index()];
    temporaries_ = 0;
    use_rings(op);
    if (const Load* load = std::get_if<Load>(&leaf.node)) return lower_load(*load, leaf.span, body);
    if (const Save* save = std::get_if<Save>(&leaf.node))
        return lower_save(op, *save, leaf.span, body);
    const Compute& compute = std::get<Compute>(leaf.node);
    switch (op.kind) {
    case Kind::Fetch: return fetch_first(op.leaf, body);
    case Kind::Multiply: {
        const std::size_t from = body.size();
        lower_product(op, compute, leaf.span, body);
        return note_factor(compute, from, body);
    }
    case Kind::Accumulate: return lower_accumulate(op, compute, body);
    case Kind::Publish: return lower_publish(op, compute, leaf.span, body);
    case Kind::Pack: return lower_pack(op, compute, body);
    case Kind::Prepare: {
        declare(compute.targets.front(), body);
        Body brought;
        bring_state(op.leaf, compute, place(compute.targets.front()), brought);
        return append(body, where_moved(op.leaf, std::move(brought)));
    }
    case Kind::Part: return lower_part(op, compute, leaf.span, body);
    case Kind::Combine: return lower_combine(op.leaf, compute, body);
    case Kind::Elements:
        if (const std::optional<LeafId> paired = paired_product(op))
            return lower_pair_reads(op, *paired, leaf.span, body);
        if (op.side == schedule::Op::Side::Left)
            return lower_left_values(op, compute, leaf.span, body);
        if (const schedule::StaleGauge* gauge = stale_with(op.leaf)) {
            if (op.leaf == gauge->take) return lower_stale(*gauge, body);
            if (op.leaf != gauge->keep) return;  // stands with the first of them
            Body kept;
            lower_elements(op.leaf, compute, leaf.span, kept);
            return append(body, where_moved(op.leaf, std::move(kept)));
        }
        return lower_elements(op.leaf, compute, leaf.span, body);
    default: return lower_elements(op.leaf, compute, leaf.span, body);
    }
}

kernel::Statement TensorLowering::factor_comment(double factor) {
    return {kernel::Comment{fmt::format("kept without its factor {:.6g}", factor), false}};
}

/// Says after what is computed, in the code from there on, that it is kept without a factor.
void TensorLowering::note_factor(const Compute& compute, std::size_t from, Body& body) const {
    const auto known = scales_.find(compute.statement.targets.front());
    if (known == scales_.end()) return;
    const auto is_comment = [](const kernel::Statement& statement) {
        return std::holds_alternative<kernel::Comment>(statement.node);
    };
    const std::string text = text_of(compute.statement);
    auto place = std::find_if(body.begin() + static_cast<std::ptrdiff_t>(from), body.end(),
                              [&](const kernel::Statement& statement) {
                                  return is_comment(statement) &&
                                         std::get<kernel::Comment>(statement.node).text == text;
                              });
    if (place == body.end()) return;
    place = std::find_if_not(place, body.end(), is_comment);
    body.insert(place, factor_comment(known->second));
}

void TensorLowering::add_comments(const std::string& what, Span span, const std::string& via,
                                  Body& body) const {
    bool first = true;
    for (std::string& line : comments(what, span, via)) {
        body.push_back({kernel::Comment{std::move(line), first}});
        first = false;
    }
}

}  // namespace napkin::lowering
