#include "schedule/arrange_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "derive/product_divisor.h"
#include "schedule/fit_copies.h"
#include "schedule/operation_cost.h"
#include "schedule/program.h"
#include "schedule/share_columns.h"
#include "schedule/statements.h"
#include "schedule/warp_shape.h"

namespace napkin::schedule {

// Registers come to a thread twice. A block is launched with as many for each as its launch bounds
// leave; then those that copy give theirs up and the others take them (`setmaxnreg`). What a kernel
// needs at most is measured by the second number, but the assembler fits every instruction alone
// into the first, and refuses what does not fit: the results of a wgmma lie in registers, and a
// little beside them.

namespace {

/// Of a block whose warp groups compute, and one more that copies.
std::int64_t threads_of(std::int64_t groups) {
    return 32 * kWarpsOfGroup * (groups + 1);
}

std::int64_t registers_at_launch(std::int64_t groups, std::int64_t resident) {
    constexpr std::int64_t kUnit = 8;
    return kRegisters / (threads_of(groups) * resident) / kUnit * kUnit;
}

}  // namespace

std::int64_t registers_of_group(std::int64_t groups, std::int64_t resident,
                                std::int64_t of_copies) {
    constexpr std::int64_t kMost = 240;
    constexpr std::int64_t kUnit = 8;
    // What the block is launched with, shared anew.
    const std::int64_t launched = registers_at_launch(groups, resident);
    const std::int64_t each = (launched * (groups + 1) - of_copies) / groups;
    return std::min(kMost, each / kUnit * kUnit);
}

namespace {

std::int64_t groups_of(const Program& program) {
    return program.agents.front().warps / kWarpsOfGroup;
}

/// Whether warps of the group that copies look at the data that decides, for one tile after
/// another.
bool marks_tile_by_tile(const Program& program) {
    return program.persistent &&
           std::any_of(program.marks.begin(), program.marks.end(),
                       [&](const auto& loop) { return !program.kept_ends.contains(loop.first); });
}

}  // namespace

std::int64_t registers_of_copies(const Program& program) {
    const bool bulk = std::all_of(program.rings.begin(), program.rings.end(),
                                  [](const Ring& ring) { return ring.bulk; });
    if (bulk) return marks_tile_by_tile(program) ? kMarkRegisters : kCopyRegisters;
    return std::min(kOwnCopyRegisters, registers_at_launch(groups_of(program), program.resident));
}

std::int64_t registers_of_group(const Program& program) {
    return registers_of_group(groups_of(program), program.resident, registers_of_copies(program));
}

namespace {

/// The registers of a warp group's product beside its results. ptxas of CUDA 13.0 says
/// "insufficient registers" of one less, whatever the width and the types of both operands.
std::int64_t beside_results(const Plan& plan, const Product& product) {
    return in_matrix(plan, product.left) ? 26 : 30;
}

/// Whether data decides which chunks of a loop inside another are visited, so that marks of them
/// are not made once.
bool marks_inside_loop(const std::vector<TileStatement>& body, bool inside) {
    return std::any_of(body.begin(), body.end(), [&](const TileStatement& statement) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            return marks_inside_loop(parallel->body, inside);
        const Loop* loop = std::get_if<Loop>(&statement.node);
        if (loop == nullptr) return false;
        return (inside && !loop->data_masks.empty()) || marks_inside_loop(loop->body, true);
    });
}

/// Who finds out which chunks of loops are visited, where data decides: the agent that copies what
/// they load, or the whole block.
enum class MarkedBy { None, Copies, All };
MarkedBy marked_by(const RegionProgram& region, const Plan& plan) {
    MarkedBy marked = MarkedBy::None;
    for (const Loop* loop : loops_of(region)) {
        if (loop->data_masks.empty() || marked == MarkedBy::All) continue;
        const bool copies =
            std::any_of(loop->body.begin(), loop->body.end(), [&](const auto& each) {
                const Load* load = std::get_if<Load>(&each.node);
                if (load == nullptr) return false;
                const Home home = plan.tiles.at(load->target).home;
                return home == Home::Matrix || home == Home::Shared;
            });
        marked = copies ? MarkedBy::Copies : MarkedBy::All;
    }
    return marked;
}

std::string why_no_product(const RegionProgram& region, const Plan& plan) {
    const auto counts = [&](AxisId axis) {
        const auto extent = plan.extents.find(axis);
        return extent != plan.extents.end() && extent->second > 1;
    };
    const auto along = [&](const Expression& factor) { return axes_along(plan.tile_axes, factor); };
    std::string why = "it has no product";
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        const Compute* compute = std::get_if<Compute>(&statement.node);
        if (compute == nullptr) return;
        const Array& target = region.arrays[compute->statement.targets.front().index()];
        const auto divisor = divisor_of_product(compute->statement, target.axes, counts, along);
        if (!divisor) return;
        const std::string& name = region.arrays[arrays_read(*divisor).begin()->index()].name;
        why +=
            fmt::format(", since `{}` divides that of `{}`: divide a factor, as in `(u / {}) * v`",
                        name, target.name, name);
    });
    return why;
}

/// Why warp groups do not carry out a region's products.
std::optional<std::string> why_no_groups(const RegionProgram& region, const Plan& plan) {
    if (!plan.has_products()) return why_no_product(region, plan);
    for (const auto& [leaf, product] : plan.products)
        if (bits_of(product.type) == 32)
            return fmt::format("it multiplies {}, and warp groups types of 8 and 16 bits",
                               name_of(product.type));
    if (plan.across_warps) return "a fold combines what several warps hold";
    if (marks_inside_loop(region.body, false))
        return "data decides which chunks of a loop inside another are visited";
    return std::nullopt;
}

/// Clocks that the tensor core takes for a tile, about.
double clocks_of_tile(const Plan& plan) {
    double of_chunk = 0;
    for (const auto& [compute, product] : plan.products)
        of_chunk += 2 * static_cast<double>(plan.extents.at(*plan.row)) *
                    static_cast<double>(plan.extents.at(product.column)) *
                    static_cast<double>(plan.extents.at(product.depth)) /
                    (4 * tensor_rate(true, product));
    return of_chunk * plan.order.chunks;
}

/// Whether blocks that take one tile after another are faster than as many blocks as there are
/// tiles. These must be many, and blocks end at the same time only where tiles are alike, or in an
/// order that evens them out. What is gained is the begin of a tile under the end of the one
/// before; of long tiles that is less than what the hardware gains by giving the next tile to
/// whoever is first (measured on an H200, of 16 bits: from some 90 microseconds. Of 8 bits tiles of
/// 50 gain 2 to 4 %). Rows of several axes are saved without slices, one element after another, if
/// the next tile's copies have the room that they would go through: a padded convolution took 243
/// microseconds so, and 187 in blocks of a tile each.
bool gains_from_tiles(const Plan& plan) {
    constexpr double kLong = 78e3;
    const TileOrder& order = plan.order;
    if (find_tile_axis(plan.tile_axes, *plan.row) != nullptr) return false;
    return order.tiles > kProcessors && clocks_of_tile(plan) < kLong &&
           (!order.uneven || order.graded);
}

/// Whether blocks that take one tile after another are faster where data decides which chunks a
/// tile visits: there are many tiles, and what their marks need is known before the first.
bool gains_from_counting(const RegionProgram& region, const Limits& limits, const Plan& plan) {
    if (find_tile_axis(plan.tile_axes, *plan.row) != nullptr || plan.order.tiles <= kProcessors)
        return false;
    const std::vector<const Loop*> loops = loops_of(region);
    return std::all_of(loops.begin(), loops.end(), [&](const Loop* loop) {
        return loop->data_masks.empty() || ends_to_keep(region, *loop, limits.dynamic_sizes);
    });
}

/// Warp groups of 64 rows each, 16 of a warp. Where their registers do not hold a row, as few
/// groups as do share its columns: those along every axis, or those along the widest, of which each
/// computes the others whole.
class GroupArrangement {
public:
    GroupArrangement(const RegionProgram& region, const Limits& limits,
                     const RegionSchedule& wanted, Plan& plan)
        : region_(region),
          limits_(limits),
          wanted_(wanted),
          plan_(plan),
          rows_(plan.extents.at(*plan.row)),
          down_(ceil_quotient(rows_, kRows)),
          widest_(shareable(region, plan)) {}

    std::optional<Refusal> run() {
        if (down_ > kMostGroups)
            return Refusal{fmt::format("{} rows take {} warp groups, and a block has at most {}",
                                       rows_, down_, kMostGroups),
                           kOtherTiles, std::nullopt};
        // Rows that there are not cost as much as those that there are: whoever asks for them
        // knows of something else that takes longer.
        if (down_ * kRows - rows_ >= kRows / 2 && !wanted_.warps_down)
            return Refusal{
                fmt::format("warp groups take {} rows at once, and a block has {}", kRows, rows_),
                kOtherTiles, std::nullopt};
        if (const std::int64_t groups = down_ * wanted_.warps_across.value_or(1);
            groups > kMostGroups)
            return refused(*wanted_.warps_across,
                           fmt::format("that makes {} warp groups, and a block has at most {}",
                                       groups, kMostGroups));
        std::optional<Refusal> first;
        for (std::int64_t across = 1; down_ * across <= kMostGroups; ++across)
            for (const bool repeated : {false, true}) {
                const bool alone = across == 1;
                if (across != wanted_.warps_across.value_or(across) ||
                    repeated != wanted_.repeated.value_or(repeated) ||
                    (alone && (repeated || wanted_.repeated)))
                    continue;
                Plan made = plan_;
                made.warps_down = kWarpsOfGroup * down_;
                made.warps_across = across;
                made.rows_of_warp = kTile;
                made.repeated = repeated;
                std::optional<Refusal> refusal = split(made);
                if (!refusal) {
                    share_columns(region_, made);
                    refusal = why_not(made);
                }
                if (!refusal) {
                    plan_ = std::move(made);
                    return std::nullopt;
                }
                if (!first) first = std::move(refusal);
            }
        if (first) return first;
        return refused(1, "there is one warp group across, which repeats nothing");
    }

private:
    static constexpr std::int64_t kRows = 64;
    static constexpr std::int64_t kMostColumns = 256;  // of one instruction
    static constexpr std::int64_t kPanel = 64;         // columns in shared memory, side by side
    static constexpr std::int64_t kMostGroups = 4;
    static constexpr std::int64_t kOthers = 40;  // registers beside the elements
    static constexpr const char* kOtherTiles = "choose other groups or chunks";
    static constexpr const char* kFewerResident =
        "choose smaller groups or chunks, or leave it out, and a block has one for itself";

    /// Says which columns are shared, or why they cannot be.
    [[nodiscard]] std::optional<Refusal> split(Plan& made) const {
        const std::int64_t across = made.warps_across;
        if (across == 1) return std::nullopt;
        if (!made.repeated) {
            made.split = column_axes(plan_);
            if (std::optional<std::string> why = why_not_shared(region_, plan_, across))
                return refused(across, *std::move(why));
            return std::nullopt;
        }
        if (!widest_)
            return refused(across,
                           "columns are shared along one axis only where nothing needs a "
                           "whole row of them, and nothing along other columns is saved");
        made.split = {*widest_};
        const std::int64_t columns = extent_of(plan_, *widest_);
        if (columns % (across * kPanel) == 0) return std::nullopt;
        return refused(across, fmt::format("{} columns are not {} times a multiple of {}", columns,
                                           across, kPanel));
    }

    [[nodiscard]] std::optional<Refusal> why_not(const Plan& made) const {
        const std::int64_t across = made.warps_across;
        const WarpShape shape{made.warps_down, across};
        if (!as_wanted(shape, wanted_) ||
            (limits_.threads > 0 && limits_.threads != 32 * shape.warps()))
            return schedule::refused({fmt::format("{} rows take {} warps down", rows_, shape.down),
                                      {"warps", "warps_down", "warps_across"}},
                                     wanted_,
                                     as_wanted(shape, wanted_)
                                         ? "leave out `--threads`"
                                         : "leave it out, and the planner chooses");
        constexpr std::int64_t kMostThreads = 2048;
        const std::int64_t threads = threads_of(down_ * across);
        if (made.resident * threads > kMostThreads)
            return schedule::refused({fmt::format("a multiprocessor runs {} threads at once, and a "
                                                  "block has {}",
                                                  kMostThreads, threads),
                                      {"resident"}},
                                     wanted_, kFewerResident);
        for (const auto& [leaf, product] : made.products) {
            const std::int64_t columns = schedule::columns_of(made, product.column).of_warp;
            if (columns > kMostColumns)
                return refused(across, fmt::format("warp groups multiply {} columns at once, and "
                                                   "a group would have {}",
                                                   kMostColumns, columns));
        }
        // Whoever has too few even in a block that is alone chose too large a tile.
        if (std::optional<std::string> why = why_too_few(made, 1))
            return refused(across, *std::move(why));
        if (std::optional<std::string> why = why_too_few(made, made.resident))
            return schedule::refused({*std::move(why), {"resident"}}, wanted_, kFewerResident);
        return std::nullopt;
    }

    /// Why the registers of a multiprocessor are too few for so many blocks: for what a thread
    /// holds at the same time, or for one of its instructions.
    [[nodiscard]] std::optional<std::string> why_too_few(const Plan& made,
                                                         std::int64_t resident) const {
        const std::int64_t groups = down_ * made.warps_across;
        const std::int64_t held = columns_held(made, made.split, made.warps_across);
        const std::int64_t registers = registers_of_group(groups, resident);
        if (held / 2 > registers - kOthers)
            return fmt::format(
                "{} columns take {} registers of a thread beside {} others, and it has {}", held,
                held / 2, kOthers, registers);
        const std::int64_t launched = registers_at_launch(groups, resident);
        for (const auto& [leaf, product] : made.products) {
            const std::int64_t columns = schedule::columns_of(made, product.column).of_warp;
            const std::int64_t beside = beside_results(made, product);
            if (columns / 2 + beside <= launched) continue;
            return fmt::format(
                "a product of {} columns takes {} registers of a thread, and the {} threads of {} "
                "begin with {} each, enough for {} columns",
                columns, columns / 2 + beside, threads_of(groups) * resident,
                resident == 1 ? "a block" : fmt::format("{} blocks", resident), launched,
                (launched - beside) * 2 / kTile * kTile);
        }
        return std::nullopt;
    }

    /// With so many groups across, which may be what was asked for.
    [[nodiscard]] Refusal refused(std::int64_t across, std::string reason) const {
        if (across == 1 && !wanted_.warps_across && !wanted_.repeated)
            return {std::move(reason), kOtherTiles, {}};
        return schedule::refused({std::move(reason), {"warps_across", "repeated", "warps"}},
                                 wanted_, kOtherTiles);
    }

    const RegionProgram& region_;
    const Limits& limits_;
    const RegionSchedule& wanted_;
    Plan& plan_;
    std::int64_t rows_ = 0;
    std::int64_t down_ = 1;
    std::optional<AxisId> widest_;  ///< the column axis that groups may share alone
};

/// Rows of 32 bytes are read at a lower rate than wider ones. Where a row is all there is along its
/// axis, it takes more panels of 64 bytes than it fills: past its end bulk copies bring nothing.
/// (Heads of 80 on an H100: see bench/results/2026-11-26-h100.md.)
void widen_panels(const RegionProgram& region, const Limits& limits, Plan& plan) {
    constexpr std::int64_t kNarrow = 32;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        const Load* load = std::get_if<Load>(&statement.node);
        if (load == nullptr || is_tiled(plan.tile_axes, *load)) return;
        Tile& tile = plan.tiles.at(load->target);
        if (tile.home != Home::Matrix) return;
        const Array& array = region.arrays[region.variables[load->target.index()].array.index()];
        const AxisId along = array.axes[tile.column_dimension];
        const Axis& axis = region.axes[along.index()];
        const std::int64_t width = 2 * kNarrow * 8 / bits_of(tile.type);
        const auto held = plan.extents.find(along);
        const bool whole = held != plan.extents.end() && held->second == axis.extent;
        if (whole && !axis.dynamic && !limits.dynamic_sizes &&
            panel_bytes(tile.columns, tile.type) == kNarrow && tile.columns > width)
            tile.columns = padded(tile.columns, width);
    });
}

}  // namespace

std::optional<Refusal> arrange_groups(const RegionProgram& region, const Limits& limits,
                                      const RegionSchedule& wanted, Plan& plan) {
    if (const std::optional<std::string> why = why_no_groups(region, plan))
        return Refusal{*why, "", std::nullopt};
    plan.resident = wanted.resident.value_or(1);
    if (std::optional<Refusal> refusal = GroupArrangement(region, limits, wanted, plan).run())
        return refusal;
    widen_panels(region, limits, plan);
    const MarkedBy marked = marked_by(region, plan);
    if (marked == MarkedBy::All && wanted.persistent.value_or(false))
        return Refusal{
            "data decides which chunks a loop visits that copies nothing, which a block finds out "
            "once",
            "leave it out, and the planner chooses", SettingName{"persistent", ""}};
    const bool can_count = marked == MarkedBy::Copies && block_groups(region);
    plan.persistent = wanted.persistent.value_or(
        marked == MarkedBy::None ? gains_from_tiles(plan)
                                 : can_count && gains_from_counting(region, limits, plan));
    plan.order.counted = plan.persistent && can_count;
    return std::nullopt;
}

}  // namespace napkin::schedule
