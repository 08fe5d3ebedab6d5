#include "schedule/arrange.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "schedule/share_columns.h"
#include "schedule/statements.h"

namespace napkin::schedule {
namespace {

constexpr const char* kSmaller = "choose smaller groups or chunks, or use `--target simt`";

/// Floats of fragments that a thread may hold beside everything else.
constexpr std::int64_t kFragmentRegisters = 200;
/// Registers of a processor, and those of a thread that it needs besides.
constexpr std::int64_t kRegisters = 65536;
constexpr std::int64_t kBesideFragments = 40;
/// Of as many, operands made of results would spill: rather more warps where they cost the same.
constexpr std::int64_t kCrowded = 160;

std::int64_t extent_of(const Plan& plan, AxisId axis) {
    return padded(plan.extents.at(axis), kTile);
}

/// Whether a product goes along the axis in shared memory, on both sides.
bool multiplies_matrices(const Plan& plan, LeafId leaf, AxisId axis) {
    const auto product = plan.products.find(leaf);
    if (product == plan.products.end() || product->second.depth != axis) return false;
    const auto in_matrix = [&](const Operand& side) {
        return side.panel || (side.direct && plan.tiles.at(*side.direct).home == Home::Matrix);
    };
    return in_matrix(product->second.left) && in_matrix(product->second.right);
}

/// Whether something needs whole rows along an axis of fragments, which it folds.
bool folded(const RegionProgram& region, const Plan& plan, AxisId axis) {
    bool found = false;
    LeafId leaf;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        if (const Compute* compute = std::get_if<Compute>(&statement.node)) {
            const std::vector<AxisId> over = folded_axes(compute->statement);
            found = found || (std::find(over.begin(), over.end(), axis) != over.end() &&
                              !multiplies_matrices(plan, leaf, axis));
        }
        ++leaf.value;
    });
    return found;
}

/// Whether something that runs along other columns is saved.
bool is_saved_along_another(const RegionProgram& region, const Plan& plan, AxisId axis) {
    bool found = false;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        const Save* save = std::get_if<Save>(&statement.node);
        if (save == nullptr) return;
        const Tile& tile = plan.tiles.at(save->source);
        found = found || (tile.home == Home::Fragment && tile.column != axis);
    });
    return found;
}

/// The column axis that several warps may share: the widest along which results of products run,
/// if nothing needs a whole row of it. Where other results run along other axes, every warp
/// computes all of these, which it may not save.
std::optional<AxisId> shareable(const RegionProgram& region, const Plan& plan) {
    std::optional<AxisId> widest;
    for (const auto& [compute, product] : plan.products)
        if (!widest || extent_of(plan, product.column) > extent_of(plan, *widest))
            widest = product.column;
    if (!widest || folded(region, plan, *widest)) return std::nullopt;
    const bool others =
        std::any_of(plan.products.begin(), plan.products.end(),
                    [&](const auto& each) { return each.second.column != *widest; });
    if (others && is_saved_along_another(region, plan, *widest)) return std::nullopt;
    return widest;
}

/// Columns of results and of other fragments that a warp holds at the same time, at most, where so
/// many warps share those along some axes.
std::int64_t columns_held(const Plan& plan, const std::set<AxisId>& split = {},
                          std::int64_t across = 1) {
    const auto of_warp = [&](AxisId axis) {
        return extent_of(plan, axis) / (split.contains(axis) ? across : 1);
    };
    std::int64_t columns = 0;
    std::set<AxisId> counted;
    for (const auto& [compute, product] : plan.products)
        columns += of_warp(product.column) * (is_narrow(product) ? 2 : 1);
    for (const auto& [variable, tile] : plan.tiles)
        if (tile.home == Home::Fragment && tile.column) counted.insert(*tile.column);
    for (const auto& [compute, product] : plan.products) counted.erase(product.column);
    for (const AxisId axis : counted) columns += of_warp(axis);
    return columns;
}

/// How many warps stand along the rows and along the columns of products.
struct WarpShape {
    std::int64_t down = 1;
    std::int64_t across = 1;
    [[nodiscard]] std::int64_t warps() const { return down * across; }
};

/// What speaks against a shape, and the choices that may have led to it, nearest first.
struct Objection {
    std::string reason;
    std::vector<const char*> choices;
};

bool is_chosen(const RegionSchedule& wanted, const std::string& field) {
    const std::vector<Setting> settings = settings_of(wanted);
    return std::any_of(settings.begin(), settings.end(),
                       [&](const Setting& setting) { return setting.name.field == field; });
}

Refusal refused(const Objection& objection, const RegionSchedule& wanted, std::string help) {
    for (const std::vector<const char*>& choices :
         {objection.choices, {"warps", "warps_down", "warps_across"}})
        for (const char* choice : choices)
            if (is_chosen(wanted, choice))
                return {objection.reason, std::move(help), SettingName{choice, ""}};
    return {objection.reason, std::move(help), std::nullopt};
}

/// Warps are twice as many or half as many, as they are shared out.
constexpr std::array<std::int64_t, 6> kCounts = {1, 2, 4, 8, 16, 32};

/// Warp groups come in any number.
constexpr std::int64_t kWarpsOfGroup = 4;

bool is_count(const Limits& limits, std::int64_t number, bool across) {
    const std::int64_t unit = across ? 1 : kWarpsOfGroup;
    if (limits.warp_groups && number > 0 && number <= kCounts.back() && number % unit == 0)
        return true;
    return std::find(kCounts.begin(), kCounts.end(), number) != kCounts.end();
}

/// Choices that contradict each other, or are no numbers of warps.
std::optional<Refusal> why_no_shape(const Limits& limits, const RegionSchedule& wanted) {
    for (const auto& [field, number] : {std::pair("warps", wanted.warps),
                                        {"warps_down", wanted.warps_down},
                                        {"warps_across", wanted.warps_across}})
        if (number && !is_count(limits, *number, field == std::string_view("warps_across")))
            return Refusal{fmt::format("{} is no power of two up to {}{}", *number, kCounts.back(),
                                       limits.warp_groups ? " and no number of warp groups" : ""),
                           "", SettingName{field, ""}};
    const std::int64_t product = wanted.warps_down.value_or(1) * wanted.warps_across.value_or(1);
    const bool both = wanted.warps_down && wanted.warps_across;
    if (product > kCounts.back())
        return Refusal{fmt::format("a block has at most {} warps, not {}", kCounts.back(), product),
                       "", SettingName{"warps_across", ""}};
    if (wanted.warps && (both ? product != *wanted.warps : product > *wanted.warps))
        return Refusal{fmt::format("they are `warps_down` times `warps_across`, {}{}",
                                   both ? "" : "at least ", product),
                       "leave one of the three out", SettingName{"warps", ""}};
    if (wanted.warps && limits.threads > 0 && *wanted.warps * 32 != limits.threads)
        return Refusal{fmt::format("`--threads` asks for {}", limits.threads / 32),
                       "leave one of the two out", SettingName{"warps", ""}};
    return std::nullopt;
}

/// Whether a shape is as it was asked for.
bool as_wanted(const WarpShape& shape, const RegionSchedule& wanted) {
    return shape.down == wanted.warps_down.value_or(shape.down) &&
           shape.across == wanted.warps_across.value_or(shape.across) &&
           shape.warps() == wanted.warps.value_or(shape.warps());
}

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

}  // namespace

std::int64_t registers_at_launch(std::int64_t groups, std::int64_t resident) {
    constexpr std::int64_t kThreads = 128;
    constexpr std::int64_t kUnit = 8;
    return kRegisters / (kThreads * (groups + 1) * resident) / kUnit * kUnit;
}

std::int64_t registers_of_group(std::int64_t groups, std::int64_t resident) {
    constexpr std::int64_t kMost = 240;
    constexpr std::int64_t kUnit = 8;
    // What the block is launched with, shared anew.
    const std::int64_t launched = registers_at_launch(groups, resident);
    const std::int64_t each = (launched * (groups + 1) - kCopyRegisters) / groups;
    return std::min(kMost, each / kUnit * kUnit);
}

namespace {

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

/// Why warp groups do not carry out a region's products.
std::optional<std::string> why_no_groups(const RegionProgram& region, const Plan& plan) {
    if (!plan.has_products()) return "it has no product";
    for (const auto& [leaf, product] : plan.products)
        if (product.type == ElementType::TF32)
            return fmt::format("it multiplies {}, and warp groups types of 8 and 16 bits",
                               name_of(product.type));
    if (plan.across_warps) return "a fold combines what several warps hold";
    if (marks_inside_loop(region.body, false))
        return "data decides which chunks of a loop inside another are visited";
    return std::nullopt;
}

/// Products of two numbers that a tile takes, about.
double work_of_tile(const Plan& plan) {
    double of_chunk = 0;
    for (const auto& [compute, product] : plan.products)
        of_chunk += static_cast<double>(plan.extents.at(*plan.row)) *
                    static_cast<double>(plan.extents.at(product.column)) *
                    static_cast<double>(plan.extents.at(product.depth));
    return of_chunk * plan.order.chunks;
}

/// Whether blocks that take one tile after another are faster than as many blocks as there are
/// tiles. These must be many, and blocks end at the same time only where tiles are alike, or in an
/// order that evens them out. What is gained is the begin of a tile under the end of the one
/// before; of long tiles that is less than what the hardware gains by giving the next tile to
/// whoever is first (measured on an H200: of some 90 microseconds).
bool gains_from_tiles(const Plan& plan) {
    constexpr std::int64_t kBlocks = 132;  // that run at the same time
    constexpr double kLong = 160e6;
    const TileOrder& order = plan.order;
    return order.tiles > kBlocks && work_of_tile(plan) < kLong && (!order.uneven || order.graded);
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
                if (!refusal) refusal = why_not(made);
                if (!refusal) {
                    plan_ = std::move(made);
                    share_columns(region_, plan_);
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
    static constexpr const char* kOtherTiles =
        "choose other groups or chunks, or use `--target sm_80`";
    static constexpr const char* kFewerResident = "leave it out, and a block has one for itself";

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
                                     wanted_, "leave it out, and the planner chooses");
        constexpr std::int64_t kMostThreads = 2048;
        if (made.resident * (down_ * across + 1) * kWarpsOfGroup * 32 > kMostThreads)
            return schedule::refused({fmt::format("a multiprocessor runs {} threads at once, and a "
                                                  "block has {}",
                                                  kMostThreads, (down_ * across + 1) * 128),
                                      {"resident"}},
                                     wanted_, kFewerResident);
        const std::int64_t held = columns_held(made, made.split, across);
        const auto why_too_many = [&](std::int64_t resident) -> std::optional<std::string> {
            const std::int64_t registers = registers_of_group(down_ * across, resident);
            if (held / 2 <= registers - kOthers) return std::nullopt;
            return fmt::format("{} columns take {} registers of a thread, which has {}", held,
                               held / 2, registers);
        };
        if (std::optional<std::string> why = why_too_many(1))
            return refused(across, *std::move(why));
        if (std::optional<std::string> why = why_too_many(made.resident))
            return schedule::refused({*std::move(why), {"resident"}}, wanted_, kFewerResident);
        for (const auto& [leaf, product] : made.products) {
            const std::int64_t columns = schedule::columns_of(made, product.column).of_warp;
            if (columns > kMostColumns)
                return refused(across, fmt::format("warp groups multiply {} columns at once, and "
                                                   "a group would have {}",
                                                   kMostColumns, columns));
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

std::optional<Refusal> arrange_groups(const RegionProgram& region, const Limits& limits,
                                      const RegionSchedule& wanted, Plan& plan) {
    if (const std::optional<std::string> why = why_no_groups(region, plan))
        return Refusal{*why, "use `--target sm_80`", std::nullopt};
    plan.resident = wanted.resident.value_or(1);
    if (std::optional<Refusal> refusal = GroupArrangement(region, limits, wanted, plan).run())
        return refusal;
    bool marked = false;
    for_statements(region.body, [&](const TileStatement&, const Loop* loop) {
        marked = marked || (loop != nullptr && !loop->data_masks.empty());
    });
    if (marked && wanted.persistent.value_or(false))
        return Refusal{"data decides which chunks a tile visits, which a block finds out once",
                       "leave it out, and the planner chooses", SettingName{"persistent", ""}};
    plan.persistent = wanted.persistent.value_or(!marked && gains_from_tiles(plan));
    return std::nullopt;
}

/// Rows are shared by as many threads as hold them in few registers: lanes of a warp, then warps.
std::optional<Refusal> arrange_rows(const Limits& limits, const RegionSchedule& wanted,
                                    Plan& plan) {
    constexpr std::int64_t kWarp = 32;
    constexpr std::int64_t kMostThreads = 1024;
    constexpr std::int64_t kValuesOfThread = 64;
    std::int64_t columns = 1;
    for (const auto& [variable, tile] : plan.tiles)
        if (tile.home == Home::Fragment && tile.column)
            columns = std::max(columns, plan.extents.at(*tile.column));
    const std::int64_t rows = plan.row ? plan.extents.at(*plan.row) : 1;
    const std::int64_t most = wanted.warps         ? *wanted.warps * kWarp
                              : limits.threads > 0 ? limits.threads
                                                   : kMostThreads;
    plan.lanes_per_row = 1;
    while (plan.lanes_per_row < kWarp && plan.lanes_per_row * plan.vector < columns)
        plan.lanes_per_row *= 2;
    const auto more_lanes = [&] {
        if (wanted.warps_across) return plan.lanes_per_row < *wanted.warps_across * kWarp;
        return plan.lanes_per_row * 2 <= most &&
               ceil_quotient(columns, plan.lanes_per_row) > kValuesOfThread;
    };
    while (plan.lanes_per_row >= kWarp && more_lanes()) plan.lanes_per_row *= 2;
    plan.warps_across = std::max<std::int64_t>(plan.lanes_per_row / kWarp, 1);
    plan.across_warps = plan.across_warps || plan.warps_across > 1;
    const std::int64_t rows_at_once = std::max<std::int64_t>(kWarp / plan.lanes_per_row, 1);
    const std::int64_t warps = limits.threads > 0 ? limits.threads / kWarp : 8;
    const auto more_warps = [&] {
        if (wanted.warps_down) return plan.warps_down < *wanted.warps_down;
        if (wanted.warps) return plan.warps_down * plan.warps_across < *wanted.warps;
        return plan.warps_down * plan.warps_across < warps;
    };
    plan.warps_down = 1;
    while (more_warps() && plan.warps_down * rows_at_once < rows) plan.warps_down *= 2;
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
    const std::int64_t held =
        plan.rows_of_warp / rows_at_once * ceil_quotient(columns, plan.lanes_per_row);
    constexpr std::int64_t kOthers = 24;  // registers beside the elements
    if (held > std::min(kFragmentRegisters, kRegisters / plan.threads() - kOthers))
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
