#include "search/moves.h"

#include <algorithm>
#include <set>
#include <utility>

#include "diagrams/rounding.h"

namespace napkin {
namespace {

constexpr std::int64_t kSizes[] = {16, 32, 64, 128, 256, 8, 4, 2, 1};
constexpr std::int64_t kParts[] = {4, 16};
/// More factors than this are not paired for `reassociate`.
constexpr std::size_t kMostFactors = 6;

Command command(std::string rule, std::vector<std::string> names, std::string in = "") {
    Command result;
    result.rule = std::move(rule);
    result.names = std::move(names);
    result.in = std::move(in);
    return result;
}

std::string level_text(Level level) {
    if (level == Level::Block) return "l1";
    return level == Level::Warps ? "l2" : std::string(name_of(level));
}

class MoveFinder {
public:
    MoveFinder(const State& state, const std::vector<std::size_t>& regions)
        : state_(state), diagram_(state.diagram) {
        for (const std::size_t at : regions) regions_.push_back(&state.relabelling.regions[at]);
    }

    std::vector<MoveFamily> run() {
        fusions();
        for (const Region* about : regions_) {
            const Region& region = *about;
            in_ = name_where_several(region);
            for (const AxisId axis : axes_in(region)) tilings(region, axis);
            for (Resize& each : resizes(region)) add_helpful(std::move(each.move));
            inverses(region);
            recomputations(region);
            for (const StatementId id : region.statements) rewritings(diagram_[id]);
        }
        return std::move(families_);
    }

    std::vector<MoveFamily> trades() {
        for (const Region* region : regions_) {
            in_ = name_where_several(*region);
            const std::vector<Resize> all = resizes(*region);
            for (const Resize& more : all)
                for (const Resize& less : all) {
                    const bool is_same = more.move.front() == less.move.front();
                    if (!more.grows || less.grows || is_same) continue;
                    Move both = less.move;
                    both.insert(both.end(), more.move.begin(), more.move.end());
                    add_helpful(std::move(both));
                }
        }
        return std::move(families_);
    }

private:
    [[nodiscard]] std::string name_where_several(const Region& region) const {
        return state_.relabelling.regions.size() == 1 ? "" : region_name(diagram_, region);
    }
    [[nodiscard]] std::set<AxisId> axes_in(const Region& region) const {
        std::set<AxisId> axes;
        for (const StatementId id : region.statements)
            for (const AxisId axis : axes_of(diagram_, diagram_[id])) axes.insert(axis);
        return axes;
    }
    [[nodiscard]] Command sized(const std::string& rule, AxisId axis, std::int64_t size,
                                Level level) const {
        Command result = command(rule, {diagram_[axis].name}, in_);
        result.size = size;
        if (rule != "split-stream") result.at = level_text(level);
        return result;
    }
    [[nodiscard]] Command undone(const std::string& rule, AxisId axis, Level level) const {
        Command result = command("un" + rule, {diagram_[axis].name}, in_);
        result.at = level_text(level);
        return result;
    }
    void add(MoveFamily family) {
        if (!family.variants.empty()) families_.push_back(std::move(family));
    }
    void add_helpful(Move move) { add({{std::move(move)}, true, false}); }

    /// Every reader with what computes what it loads, and all at once.
    void fusions() {
        std::set<std::pair<std::string, std::string>> pairs;
        for (const Region* reader : regions_)
            for (const ArrayId array : loads_of(diagram_, *reader))
                if (const std::optional<StatementId> source = producer(diagram_, array))
                    pairs.emplace(region_name(diagram_, region_with(*source)),
                                  region_name(diagram_, *reader));
        for (const auto& [source, reader] : pairs)
            add({{{command("fuse", {source, reader})}}, false, true});
        if (pairs.size() > 1) add({{{command("fuse", {"all"})}}, false, true});
    }

    [[nodiscard]] const Region& region_with(StatementId id) const {
        const std::vector<Region>& regions = state_.relabelling.regions;
        const auto found = std::find_if(regions.begin(), regions.end(), [&](const Region& region) {
            return std::find(region.statements.begin(), region.statements.end(), id) !=
                   region.statements.end();
        });
        invariant(found != regions.end(), "a statement in no region");
        return *found;
    }

    void tilings(const Region& region, AxisId axis) {
        const auto at = [&](const auto& items, Level level) {
            const auto found = std::find_if(items.begin(), items.end(), [&](const auto& item) {
                return item.axis == axis && item.level == level;
            });
            return found == items.end() ? std::int64_t{0} : found->size;
        };
        const std::int64_t grouped = at(region.groups, Level::Block);
        const std::int64_t streamed = at(region.streams, Level::Block);
        const std::int64_t extent = diagram_[axis].extent;
        if (grouped == 0 && streamed == 0) {
            tile("group", axis, Level::Block, extent, true);
            tile("stream", axis, Level::Block, extent, true);
        }
        if (grouped > 0 && at(region.groups, Level::Warps) == 0)
            tile("group", axis, Level::Warps, grouped, false);
        if (streamed > 0 && at(region.streams, Level::Warps) == 0)
            tile("stream", axis, Level::Warps, streamed, false);
    }

    void tile(const std::string& rule, AxisId axis, Level level, std::int64_t within,
              bool tells_why_not) {
        MoveFamily family{{}, false, tells_why_not};
        for (const std::int64_t size : kSizes)
            if (size < within) family.variants.push_back({sized(rule, axis, size, level)});
        add(std::move(family));
    }

    /// A group or a stream of another size.
    struct Resize {
        Move move;
        bool grows = false;
    };
    [[nodiscard]] std::vector<Resize> resizes(const Region& region) const {
        std::vector<Resize> all;
        for (const Group& group : region.groups) resize("group", group, all);
        for (const Stream& stream : region.streams) resize("stream", stream, all);
        return all;
    }

    /// The next powers of two.
    template <class Tiling>
    void resize(const std::string& rule, const Tiling& tiling, std::vector<Resize>& all) const {
        std::int64_t below = 1;
        while (2 * below < tiling.size) below *= 2;
        std::int64_t above = below;
        while (above <= tiling.size) above *= 2;
        for (const std::int64_t size : {below, above}) {
            if (size == tiling.size || size >= diagram_[tiling.axis].extent) continue;
            all.push_back({{undone(rule, tiling.axis, tiling.level),
                            sized(rule, tiling.axis, size, tiling.level)},
                           size > tiling.size});
        }
    }

    void inverses(const Region& region) {
        Move whole;
        for (const Stream& stream : region.streams) {
            whole.insert(whole.begin(), undone("stream", stream.axis, stream.level));
            add_helpful({undone("stream", stream.axis, stream.level)});
        }
        for (const Group& group : region.groups)
            if (!(diagram_[group.axis].woven && group.size == 1))
                add_helpful({undone("group", group.axis, group.level)});
        // A single box comes apart where nothing else fits, which is the search's to find.
        const auto box = [&](StatementId id) { return diagram_[id].box; };
        if (box(region.statements.front()) == box(region.statements.back())) return;
        whole.push_back(command("unfuse", {region_name(diagram_, region)}));
        add_helpful(std::move(whole));
    }

    void recomputations(const Region& region) {
        std::vector<std::string> names;
        for (const ArrayId array : loads_of(diagram_, region))
            if (producer(diagram_, array) && diagram_[array].named)
                names.push_back(diagram_[array].name);
        for (const std::string& name : names) add_helpful({command("recompute", {name}, in_)});
        if (names.size() > 1) add_helpful({command("recompute", names, in_)});
        for (const AxisId axis : axes_in(region)) {
            MoveFamily family{{}, true, false};
            for (const std::int64_t parts : kParts) {
                const std::int64_t size = ceil_quotient(diagram_[axis].extent, parts);
                if (size < diagram_[axis].extent)
                    family.variants.push_back({sized("split-stream", axis, size, Level::Block)});
            }
            add(std::move(family));
        }
    }

    [[nodiscard]] std::string fresh(std::string name) const {
        while (find_array(diagram_, name) || find_axis(diagram_, name)) name += "_";
        return name;
    }

    void rewritings(const Statement& statement) {
        for (const ArrayId target : statement.targets) {
            const std::string& name = diagram_[target].name;
            if (!diagram_[target].named) continue;
            add_helpful({command("stabilise", {name})});
            add_helpful({command("distribute", {name})});
            Command absorbed = command("absorb-normaliser", {name});
            absorbed.as = {fresh(name + "_log")};
            add_helpful({std::move(absorbed)});
            reassociations(statement, name);
        }
    }

    void reassociations(const Statement& statement, const std::string& name) {
        const Fold* fold = std::get_if<Fold>(&statement.body);
        if (fold == nullptr || fold->monoid != kSum) return;
        const std::vector<std::string> factors = sources_of(statement);
        if (factors.size() > kMostFactors) return;
        for (std::size_t i = 0; i < factors.size(); ++i)
            for (std::size_t k = i + 1; k < factors.size(); ++k) {
                Command pair = command("reassociate", {factors[i], factors[k]}, name);
                pair.as = {fresh(name + "_part")};
                add_helpful({std::move(pair)});
            }
    }

    /// Named arrays that a statement depends on, its own inputs first.
    [[nodiscard]] std::vector<std::string> sources_of(const Statement& statement) const {
        std::vector<ArrayId> found = inputs_of(statement);
        for (std::size_t i = 0; i < found.size() && found.size() <= 4 * kMostFactors; ++i)
            if (const std::optional<StatementId> source = producer(diagram_, found[i]))
                for (const ArrayId input : inputs_of(diagram_[*source]))
                    if (std::find(found.begin(), found.end(), input) == found.end())
                        found.push_back(input);
        std::vector<std::string> names;
        for (const ArrayId array : found)
            if (diagram_[array].named && diagram_[array].role != ArrayRole::Parameter)
                names.push_back(diagram_[array].name);
        return names;
    }

    const State& state_;
    const Diagram& diagram_;
    std::vector<const Region*> regions_;
    std::string in_;  ///< the region at hand, empty where it is the only one
    std::vector<MoveFamily> families_;
};

}  // namespace

std::vector<MoveFamily> moves_from(const State& state, const std::vector<std::size_t>& regions) {
    return MoveFinder(state, regions).run();
}

std::vector<MoveFamily> trades_from(const State& state, const std::vector<std::size_t>& regions) {
    return MoveFinder(state, regions).trades();
}

std::string print(const Move& move) {
    std::string text;
    for (const Command& command : move) text += (text.empty() ? "" : "; ") + print(command);
    return text;
}

}  // namespace napkin
