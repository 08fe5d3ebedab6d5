#include "schedule/arrange.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/arrange_groups.h"
#include "schedule/warp_shape.h"

namespace napkin::schedule {
namespace {

constexpr const char* kSmaller = "choose smaller groups or chunks";

/// Floats of fragments that a thread may hold beside everything else.
constexpr std::int64_t kFragmentRegisters = 200;
/// Registers of a thread that it needs besides.
constexpr std::int64_t kBesideFragments = 40;
/// Of as many, operands made of results would spill: rather more warps where they cost the same.
constexpr std::int64_t kCrowded = 160;

/// The rows and columns of a region's products, as warps may share them.
class ProductArrangement {
public:
    ProductArrangement(const RegionProgram& region, const Limits& limits,
                       const RegionSchedule& wanted, Plan& plan)
        : limits_(limits),
          wanted_(wanted),
          plan_(plan),
          rows_(plan.extents.at(*plan.row)),
          held_(columns_held(plan)) {
        const std::optional<AxisId> shared = shareable(region, plan);
        if (!shared) return;
        columns_ = extent_of(plan, *shared);
        const bool alone =
            std::all_of(plan.products.begin(), plan.products.end(),
                        [&](const auto& each) { return each.second.column == *shared; });
        (alone ? split_ : instead_) = shared;
    }

    std::optional<Refusal> run() {
        std::optional<Objection> first = find();
        // What is computed again by every warp costs more than what one of them holds.
        if (best_ == 0 && instead_) {
            split_ = instead_;
            first = find();
        }
        if (best_ == 0) return refusal(first);
        if (plan_.warps_across > 1) plan_.split = {*split_};
        return std::nullopt;
    }

private:
    static constexpr std::int64_t kMostWarps = 16;
    static constexpr std::int64_t kMostAcross = 8;

    [[nodiscard]] bool repeats() const { return split_ && instead_; }
    /// The best shape; what speaks against the first one where there is none.
    std::optional<Objection> find() {
        std::optional<Objection> first;
        for (const std::int64_t down : kCounts)
            for (const std::int64_t across : kCounts) {
                const WarpShape shape{down, across};
                if (!as_wanted(shape, wanted_)) continue;
                if (limits_.threads > 0 && shape.warps() * 32 != limits_.threads) continue;
                std::optional<Objection> objection = objection_to(shape);
                if (!objection)
                    consider(shape);
                else if (!first)
                    first = std::move(objection);
            }
        return first;
    }

    [[nodiscard]] std::int64_t padded_rows(const WarpShape& shape) const {
        return padded(rows_, shape.down * kTile);
    }
    /// Of a warp.
    [[nodiscard]] std::int64_t columns_of(const WarpShape& shape) const {
        const std::int64_t whole = repeats() ? held_ - columns_ : 0;
        return whole + (held_ - whole) / shape.across;
    }
    [[nodiscard]] std::int64_t registers_of(const WarpShape& shape) const {
        return columns_of(shape) * (padded_rows(shape) / shape.down) / 32;
    }

    [[nodiscard]] std::optional<Objection> objection_to(const WarpShape& shape) const {
        if (shape.across > 1 && !split_)
            return Objection{
                "warps share columns only where every product's result runs along one axis, "
                "or registers do not hold them, and nothing needs a whole row of it",
                {"warps_across", "warps"}};
        if (shape.across > 1 && columns_ % (shape.across * kTile) != 0)
            return Objection{fmt::format("{} columns are not {} times a multiple of {}", columns_,
                                         shape.across, kTile),
                             {"warps_across", "warps"}};
        if (shape.warps() > kMostWarps)
            return Objection{fmt::format("products are shared by at most {} warps", kMostWarps),
                             {"warps", "warps_down", "warps_across"}};
        if (shape.across > kMostAcross)
            return Objection{fmt::format("at most {} warps share columns", kMostAcross),
                             {"warps_across", "warps"}};
        const std::int64_t rows = padded_rows(shape);
        if (shape.down > 1 && rows - rows_ >= rows / 2)
            return Objection{
                fmt::format("{} rows leave half of {} warps without work", rows_, shape.down),
                {"warps_down", "warps"}};
        const std::int64_t most =
            std::min(kFragmentRegisters, kRegisters / (32 * shape.warps()) - kBesideFragments);
        if (registers_of(shape) > most)
            return Objection{fmt::format("a thread would hold {} values of results, at most {}",
                                         registers_of(shape), most),
                             {"warps_across", "warps_down", "warps"}};
        return std::nullopt;
    }

    void consider(const WarpShape& shape) {
        const std::int64_t of_warp = padded_rows(shape) / shape.down;
        // Shared memory read for every step of depth, and a taste for 4 to 8 warps.
        const std::int64_t across_columns = columns_ / shape.across;
        const double reads = split_ ? static_cast<double>(of_warp + across_columns) /
                                          static_cast<double>(of_warp * across_columns)
                                    : 1.0 / static_cast<double>(of_warp);
        const std::int64_t warps = shape.warps();
        const double few = warps < 4 ? 4.0 / static_cast<double>(warps) : warps > 8 ? 1.2 : 1.0;
        const double waste = static_cast<double>(padded_rows(shape)) / static_cast<double>(rows_);
        // Where every warp computes other results too, by how long the four tensor cores take.
        const double turns = static_cast<double>(columns_of(shape) * of_warp) *
                             std::max(1.0, static_cast<double>(warps) / 4);
        const double cost = repeats() ? turns : reads * few * waste;
        const bool relieves =
            crowded_ && cost == best_ && warps > plan_.warps_down * plan_.warps_across;
        if (best_ != 0 && cost >= best_ && !relieves) return;
        best_ = cost;
        crowded_ = registers_of(shape) > kCrowded;
        plan_.warps_down = shape.down;
        plan_.warps_across = shape.across;
        plan_.rows_of_warp = of_warp;
    }

    [[nodiscard]] Refusal refusal(const std::optional<Objection>& first) const {
        const bool chosen = wanted_.warps || wanted_.warps_down || wanted_.warps_across;
        const std::string none = fmt::format(
            "{} rows of {} columns in registers fit no number of warps{}", rows_, held_,
            limits_.threads > 0 ? fmt::format(" with {} threads", limits_.threads) : "");
        if (!chosen) return {none, kSmaller, std::nullopt};
        return refused(first.value_or(Objection{none, {"warps", "warps_down", "warps_across"}}),
                       wanted_, "leave it out, and the planner chooses");
    }

    const Limits& limits_;
    const RegionSchedule& wanted_;
    Plan& plan_;
    std::int64_t rows_ = 0;
    std::optional<AxisId> split_;
    /// What can be shared if all else fails: every warp computes what runs along other axes.
    std::optional<AxisId> instead_;
    std::int64_t columns_ = 0;
    std::int64_t held_ = 0;
    double best_ = 0;
    bool crowded_ = false;
};

/// Rows in shared memory, of each array so many elements of a thread.
std::optional<Refusal> share_rows(const Limits& limits, const RegionSchedule& wanted,
                                  std::int64_t held, Plan& plan) {
    constexpr std::int64_t kThreadsOfProcessor = 2048;
    constexpr std::int64_t kReserved = 1024;  // bytes of every block, by the hardware
    // A vector of every array that is read, as it comes.
    const auto read_in_vectors =
        std::count_if(plan.tiles.begin(), plan.tiles.end(),
                      [](const auto& each) { return each.second.home == Home::Device; });
    plan.registers_of_rows = 40 + 8 * static_cast<std::int64_t>(read_in_vectors);
    const std::int64_t bytes =
        plan.bytes_in_shared * held * plan.threads() + 4 * scratch_values(plan);
    if (bytes > limits.shared_memory)
        return refused({fmt::format("{} bytes of rows do not fit shared memory", bytes),
                        {"warps", "warps_across", "warps_down"}},
                       wanted, kSmaller);
    const std::int64_t by_registers = kRegisters / (plan.threads() * plan.registers_of_rows);
    plan.resident =
        std::min({(limits.shared_memory + kReserved) / (bytes + kReserved),
                  kThreadsOfProcessor / plan.threads(), std::max<std::int64_t>(by_registers, 1)});
    return std::nullopt;
}

/// Rows are shared by as many threads as hold them in few registers: lanes of a warp, then warps.
std::optional<Refusal> arrange_rows(const Limits& limits, const RegionSchedule& wanted,
                                    Plan& plan) {
    constexpr std::int64_t kWarp = 32;
    constexpr std::int64_t kMostThreads = 1024;
    const std::int64_t values_of_thread = plan.bytes_in_shared > 0 ? 104 : 64;
    std::int64_t columns = 1;
    for (const auto& [variable, tile] : plan.tiles)
        if (tile.home == Home::Fragment && tile.column)
            columns = std::max(columns, room_along(plan, *tile.column));
    const std::int64_t rows = plan.row ? plan.extents.at(*plan.row) : 1;
    // Without rows, threads share what each column is folded from.
    std::int64_t shared = rows;
    if (!plan.row)
        for (const auto& [leaf, serial] : plan.serial)
            for (const AxisId axis : serial.axes)
                if (!serial.over) shared = std::max(shared, plan.extents.at(axis));
    const std::int64_t most = wanted.warps         ? *wanted.warps * kWarp
                              : limits.threads > 0 ? limits.threads
                                                   : kMostThreads;
    plan.lanes_per_row = 1;
    while (plan.lanes_per_row < kWarp && plan.lanes_per_row * plan.vector < columns)
        plan.lanes_per_row *= 2;
    const auto more_lanes = [&] {
        if (wanted.warps_across) return plan.lanes_per_row < *wanted.warps_across * kWarp;
        return plan.lanes_per_row * 2 <= most &&
               ceil_quotient(columns, plan.lanes_per_row) > values_of_thread;
    };
    while (plan.lanes_per_row >= kWarp && more_lanes()) plan.lanes_per_row *= 2;
    plan.warps_across = std::max<std::int64_t>(plan.lanes_per_row / kWarp, 1);
    plan.across_warps = plan.across_warps || plan.warps_across > 1;
    const std::int64_t rows_at_once = std::max<std::int64_t>(kWarp / plan.lanes_per_row, 1);
    // In shared memory a thread has one row: what several have in common would be held for all.
    const std::int64_t most_warps = plan.bytes_in_shared > 0 ? kMostThreads / kWarp : 8;
    const std::int64_t warps = limits.threads > 0 ? limits.threads / kWarp : most_warps;
    const auto more_warps = [&] {
        if (wanted.warps_down) return plan.warps_down < *wanted.warps_down;
        if (wanted.warps) return plan.warps_down * plan.warps_across < *wanted.warps;
        return plan.warps_down * plan.warps_across < warps;
    };
    plan.warps_down = 1;
    while (more_warps() && plan.warps_down * rows_at_once < shared) plan.warps_down *= 2;
    plan.across_warps = plan.across_warps || (!plan.row && plan.warps_down > 1);
    const WarpShape shape{plan.warps_down, plan.warps_across};
    if (!as_wanted(shape, wanted))
        return refused(
            {fmt::format("{} rows of {} columns are shared by {} warps down and {} across", rows,
                         columns, shape.down, shape.across),
             shape.across != wanted.warps_across.value_or(shape.across)
                 ? std::vector{"warps_across"}
                 : std::vector{"warps_down", "warps"}},
            wanted, "leave it out, and the planner chooses");
    plan.rows_of_warp = padded(ceil_quotient(rows, plan.warps_down), rows_at_once);
    std::int64_t held = plan.rows_of_warp / rows_at_once *
                        padded(ceil_quotient(columns, plan.lanes_per_row), plan.vector);
    if (plan.bytes_in_shared > 0) return share_rows(limits, wanted, held, plan);
    if (plan.rows_in_pairs > 0) held = ceil_quotient(held * plan.rows_in_pairs, 2);
    const std::int64_t others = plan.rows_in_pairs > 0 ? 30 : 24;  // registers beside the elements
    plan.registers_of_rows = held + others;
    if (held > kFragmentRegisters || plan.threads() * plan.registers_of_rows > kRegisters)
        return refused({fmt::format("{} rows of {} values do not fit the registers of {} threads",
                                    rows, columns, plan.threads()),
                        {"warps", "warps_across", "warps_down"}},
                       wanted, kSmaller);
    return std::nullopt;
}

}  // namespace

std::optional<Refusal> arrange(const RegionProgram& region, const Limits& limits,
                               const RegionSchedule& wanted, Plan& plan) {
    if (std::optional<Refusal> refusal = why_no_shape(limits, wanted)) return refusal;
    if (limits.warp_groups) return arrange_groups(region, limits, wanted, plan);
    if (plan.has_products()) return ProductArrangement(region, limits, wanted, plan).run();
    return arrange_rows(limits, wanted, plan);
}

}  // namespace napkin::schedule
