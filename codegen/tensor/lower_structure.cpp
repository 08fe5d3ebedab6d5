// The kernel's skeleton: shared memory, warps, and the statements in order.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/fold_constants.h"
#include "codegen/tensor/block_order.h"
#include "codegen/tensor/matrix_layout.h"
#include "codegen/tensor/tensor_lowering.h"
#include "diagrams/overloaded.h"
#include "schedule/statements.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::Run;

constexpr std::int64_t kAlignment = 128;

std::int64_t aligned(std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Of what nothing reads, a loop may be left with nothing in it.
bool does_something(const std::vector<TileStatement>& statements) {
    bool found = false;
    tensor::for_statements(statements, [&](const TileStatement&, const Loop*) { found = true; });
    return found;
}

}  // namespace

TensorLowering::TensorLowering(const State& state, const RegionProgram& region,
                               const EmitOptions& options, tensor::Plan plan)
    : RegionFrame(state, region, options), plan_(std::move(plan)) {}

LoweredRegion TensorLowering::run() {
    program_.threads = plan_.threads();
    program_.include = "tensor.cuh";
    name_tiles();
    place_matrices();
    order_ = tensor::order_of(region_, plan_);
    Body body;
    const std::vector<TileStatement>& inner = lower_grid(body);
    declare_warps(body);
    const std::size_t end = count_before_end(inner);
    for (std::size_t i = 0; i < inner.size(); ++i) {
        ending_ = i >= end;
        lower(inner[i], body);
    }
    // Of a loop that may visit nothing.
    if (copies_pending_) body.push_back({Run{call({"wait_copies", {0}})}});
    program_.body = std::move(body);
    limit_whole_axes();
    LoweredRegion result = finish();
    for (const auto& [compute, product] : plan_.products)
        if (rounds_operand(product)) result.operands[compute->statement.box] = product.type;
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
        for (std::size_t d = 0; d < axes.size(); ++d) {
            const std::int64_t extent = region_.axes[axes[d].index()].extent;
            if (run_time_[axes[d].index()] && !single.contains(axes[d]) &&
                variable.capacity_extent[d] >= extent)
                held_.insert(axes[d]);
        }
    }
}

/// Whether the tensor core's operands are less precise than what was computed.
bool TensorLowering::rounds_operand(const tensor::Product& product) const {
    const auto rounds = [&](const tensor::Operand& side) {
        const Read* read = std::get_if<Read>(&side.value.node);
        if (read == nullptr) return true;
        const Array& array = region_.arrays[read->array.index()];
        for (const auto& [variable, load] : loads_)
            if (region_.variables[variable.index()].array == read->array)
                return !tensor::converts_exactly(device_type(load->array), product.type);
        return !array.rounds || !tensor::converts_exactly(array.type, product.type);
    };
    return rounds(product.left) || rounds(product.right);
}

/// Device arrays keep their names; tiles get others where these are taken.
void TensorLowering::name_tiles() {
    tensor::for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        if (const Load* load = std::get_if<Load>(&statement.node)) {
            static_cast<void>(buffer_name(load->array, false));
            loads_[load->target] = load;
        }
    });
    tensor::for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        if (const Save* save = std::get_if<Save>(&statement.node))
            static_cast<void>(buffer_name(save->array, true));
    });
    for (const auto& [variable, tile] : plan_.tiles) {
        if (tile.home == Home::Device) continue;
        const std::string plain = Names::identifier(region_.variables[variable.index()].name);
        const bool shared = tile.home == Home::Matrix || tile.home == Home::Shared;
        const std::string wanted = shared                     ? plain + "_tile"
                                   : names_.are_free({plain}) ? plain
                                                              : plain + "_part";
        const std::string name = names_.fresh(wanted);
        if (!shared) {
            names_of_[variable] = name;
            continue;
        }
        shared_[variable].name = name;
        shared_[variable].tile = kernel::TileId{static_cast<std::uint32_t>(program_.tiles.size())};
        kernel::Tile entry;
        entry.name = name;
        entry.type = tile.type;
        if (tile.home == Home::Matrix) {
            entry.matrix = kernel::Tile::Matrix{tile.rows, tile.columns, 1};
            entry.shape = fmt::format("{} x {}", tile.rows, tile.columns);
        } else {
            entry.elements = columns_of(*tile.column).padded;
            entry.shape =
                fmt::format("{} of {}", entry.elements, region_.axes[tile.column->index()].name);
        }
        program_.tiles.push_back(std::move(entry));
    }
}

/// A mark for each chunk that data may leave out.
void TensorLowering::place_marks() {
    constexpr std::int64_t kMostMarks = 4096;
    const auto place = [&](const Loop& loop) {
        if (loop.data_masks.empty() || marks_.contains({loop.axis, loop.level})) return;
        kernel::Tile entry;
        entry.name =
            names_.fresh(Names::identifier(region_.axes[loop.axis.index()].name) + "_marks");
        entry.type = ElementType::I8;
        entry.elements =
            std::min((limits_[loop.axis.index()] + loop.size - 1) / loop.size, kMostMarks);
        entry.shape = "a mark of every chunk";
        marks_[{loop.axis, loop.level}] = {entry.name, entry.elements};
        program_.tiles.push_back(std::move(entry));
    };
    tensor::for_statements(region_.body, [&](const TileStatement&, const Loop* loop) {
        if (loop != nullptr) place(*loop);
    });
}

/// As many stages as fit, up to what hides a copy's latency; what is saved through shared memory
/// takes the place of everything else.
void TensorLowering::place_matrices() {
    std::vector<bool> streamed(program_.tiles.size(), false);
    for (const auto& [variable, tile] : plan_.tiles)
        if (tile.streamed) streamed[shared_.at(variable).tile.index()] = true;
    for (const auto& [compute, product] : plan_.products) {
        if (product.right.direct || computed_right_.contains(right_of(*compute, product))) continue;
        const ArrayId target = compute->statement.targets.front();
        const auto unit = [&](AxisId axis) { return (plan_.extents.at(axis) + 15) / 16 * 16; };
        kernel::Tile entry;
        entry.name =
            names_.fresh(Names::identifier(region_.arrays[target.index()].name) + "_right_tile");
        entry.type = product.type;
        entry.matrix = kernel::Tile::Matrix{unit(product.depth), unit(product.column), 1};
        entry.shape = fmt::format("{} x {}", entry.matrix->rows, entry.matrix->columns);
        computed_right_[right_of(*compute, product)] = entry.name;
        program_.tiles.push_back(std::move(entry));
        streamed.push_back(false);
    }
    if (plan_.across_warps) {
        kernel::Tile entry;
        entry.name = scratch_ = names_.fresh("scratch");
        entry.elements = plan_.threads() / 32;
        entry.shape = "a value of every warp";
        program_.tiles.push_back(std::move(entry));
        streamed.push_back(false);
    }
    place_marks();
    streamed.resize(program_.tiles.size(), false);
    std::int64_t fixed = 0;
    std::int64_t ring = 0;
    for (std::size_t i = 0; i < program_.tiles.size(); ++i) {
        kernel::Tile& tile = program_.tiles[i];
        const std::int64_t element = kernel::element_bytes(tile.type);
        if (tile.matrix) tile.elements = tile.matrix->rows * tile.matrix->columns;
        (streamed[i] ? ring : fixed) += aligned(tile.elements * element);
    }
    const bool chained =
        std::any_of(plan_.products.begin(), plan_.products.end(), [&](const auto& entry) {
            const auto& left = entry.second.left.direct;
            return left && plan_.tiles.at(*left).home == Home::Fragment;
        });
    stages_ = chained ? 2 : 4;
    // Two blocks of few warps hide each other's latencies.
    constexpr int kFewThreads = 128;
    constexpr std::int64_t kReserved = 1024;  // of every block, by the hardware
    const std::int64_t half = options_.shared_memory / 2 - kReserved;
    while (stages_ > 2 && program_.threads <= kFewThreads && fixed + ring * stages_ > half)
        --stages_;
    while (stages_ > 1 && fixed + ring * stages_ > options_.shared_memory) --stages_;
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < program_.tiles.size(); ++i) {
        kernel::Tile& tile = program_.tiles[i];
        const std::int64_t bytes = aligned(tile.elements * kernel::element_bytes(tile.type));
        tile.offset = offset;
        if (streamed[i]) {
            tile.matrix->stages = stages_;
            tile.elements *= stages_;
            if (stages_ > 1) tile.shape += fmt::format(", {} stages", stages_);
            offset += bytes * stages_;
        } else {
            offset += bytes;
        }
    }
    program_.shared_bytes = offset;
}

void TensorLowering::declare_warps(Body& body) {
    body.push_back({kernel::Alias{"Rows", rows_type()}});
    if (!plan_.row) return;
    for (const std::optional<AxisId>& axis : {plan_.row, plan_.split})
        if (axis) warp_parts_[*axis] = names_.fresh("warp_" + region_.axes[axis->index()].name);
    const kernel::Expression warp = call("warp_index");
    const bool one_warp = plan_.warps_down == 1 && plan_.warps_across == 1;
    body.push_back(
        kernel::define("int", warp_parts_.at(*plan_.row),
                       one_warp ? 0 : folded(warp / plan_.warps_across) * plan_.rows_of_warp,
                       "first row of this warp"));
    if (plan_.split) {
        const std::int64_t columns = columns_of(*plan_.split).padded / plan_.warps_across;
        body.push_back(kernel::define("int", warp_parts_.at(*plan_.split),
                                      warp % plan_.warps_across * columns, "and its first column"));
    }
}

void TensorLowering::lower(const std::vector<TileStatement>& statements, Body& body) {
    for (const TileStatement& statement : statements) lower(statement, body);
}

void TensorLowering::lower(const TileStatement& statement, Body& body) {
    std::visit(
        overloaded{[&](const Parallel& parallel) { lower(parallel.body, body); },
                   [&](const Loop& loop) {
                       if (does_something(loop.body)) lower_loop(loop, body);
                   },
                   [&](const Load& load) { lower_load(load, statement.span, body); },
                   [&](const Compute& compute) { lower_compute(compute, statement.span, body); },
                   [&](const Save& save) { lower_save(save, statement.span, body); }},
        statement.node);
}

/// How many statements come before those that use nothing in shared memory any more.
std::size_t TensorLowering::count_before_end(const std::vector<TileStatement>& statements) const {
    const auto in_registers = [&](VariableId variable) {
        const Home home = plan_.tiles.at(variable).home;
        return home != Home::Matrix && home != Home::Shared;
    };
    const auto harmless = [&](const TileStatement& statement) {
        if (std::holds_alternative<Save>(statement.node)) return true;
        // A fold may combine what warps hold through shared memory.
        const Compute* compute = std::get_if<Compute>(&statement.node);
        return compute != nullptr && std::holds_alternative<Map>(compute->statement.body) &&
               std::all_of(compute->reads.begin(), compute->reads.end(), in_registers) &&
               std::all_of(compute->targets.begin(), compute->targets.end(), in_registers);
    };
    std::size_t count = statements.size();
    while (count > 0 && harmless(statements[count - 1])) --count;
    return count;
}

void TensorLowering::wait_for_copies(Body& body) {
    if (!copies_pending_) return;
    body.push_back({Run{call({"wait_copies", {0}})}});
    body.push_back({kernel::Barrier{}});
    copies_pending_ = false;
}

}  // namespace napkin::lowering
