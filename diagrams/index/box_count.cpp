#include "diagrams/index/box_count.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "diagrams/checked.h"
#include "diagrams/contains.h"
#include "diagrams/index/block_forms.h"
#include "diagrams/rounding.h"

namespace napkin::index {

namespace {

/// Blocks looked at; ordinary masks need some thousands.
constexpr std::size_t kMostBlocks = 8'000'000;

/// Parts of an axis that blocks begin at: the greatest one before the end.
std::int64_t first_part(std::int64_t count, const std::vector<std::int64_t>& units) {
    std::int64_t part = 1;
    for (const std::int64_t unit : units)
        if (unit < count) part = std::max(part, unit);
    while (part * 2 < count) part *= 2;
    return part;
}

}  // namespace

struct SignatureHash {
    std::size_t operator()(const Signature& signature) const {
        std::uint64_t hash = signature.size();
        for (const std::int64_t each : signature) {
            hash = (hash ^ static_cast<std::uint64_t>(each)) * 0x9e3779b97f4a7c15U;
            hash ^= hash >> 32U;
        }
        return hash;
    }
};

/// The conditions about some axes, with what was counted.
class CountedForms {
public:
    CountedForms(BlockForms conditions, const std::vector<Tiling>& tilings)
        : forms(std::move(conditions)), tilings_(tilings) {
        for (const std::size_t axis : forms.axes()) {
            between_[axis] = {tilings[axis].size};
            for (const std::int64_t period : forms.periods(axis))
                between_[axis].push_back(std::lcm(period, tilings[axis].size));
        }
    }

    /// Forgets nothing but which values coordinates have.
    void set_values(std::vector<std::int64_t> values) {
        values_ = std::move(values);
        steps_ = 0;
    }
    [[nodiscard]] std::optional<BoxCounts> count(const Block& block);
    [[nodiscard]] bool draw(const Block& block, TileMap& map);

    BlockForms forms;

private:
    [[nodiscard]] std::optional<BoxCounts> count_open(const Block& block);
    [[nodiscard]] std::optional<BoxCounts> whole(const Block& block) const;
    [[nodiscard]] std::pair<Block, Block> halves(const Block& block) const;
    /// The longest axis that holds several tiles.
    [[nodiscard]] std::optional<std::size_t> longest_of_tiles(const Block& block) const;
    [[nodiscard]] std::int64_t tiles(std::size_t axis, const Block& block) const {
        return (block.count[axis] + tilings_[axis].size - 1) / tilings_[axis].size;
    }

    const std::vector<Tiling>& tilings_;
    std::map<std::size_t, std::vector<std::int64_t>> between_;  // lengths of whole tiles, by axis
    std::vector<std::int64_t> values_;
    std::unordered_map<Signature, BoxCounts, SignatureHash> known_;
    std::size_t steps_ = 0;
};

std::optional<BoxCounts> CountedForms::whole(const Block& block) const {
    CheckedInt boxes = 1;
    CheckedInt points = 1;
    for (const std::size_t axis : forms.axes()) {
        boxes = boxes * tiles(axis, block);
        points = points * block.count[axis];
    }
    if (!points) return std::nullopt;
    return BoxCounts{*boxes, *boxes, *points};
}

std::optional<std::size_t> CountedForms::longest_of_tiles(const Block& block) const {
    std::optional<std::size_t> longest;
    for (const std::size_t axis : forms.axes())
        if (tiles(axis, block) > 1 && (!longest || block.count[axis] > block.count[*longest]))
            longest = axis;
    return longest;
}

std::pair<Block, Block> CountedForms::halves(const Block& block) const {
    const std::optional<std::size_t> between = longest_of_tiles(block);
    const std::vector<std::size_t>& axes = forms.axes();
    const std::size_t axis =
        between ? *between
                : *std::max_element(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) {
                      return block.count[a] < block.count[b];
                  });
    std::pair<Block, Block> parts{block, block};
    const std::int64_t first =
        first_part(block.count[axis], between ? between_.at(axis) : forms.periods(axis));
    parts.first.count[axis] = first;
    parts.second.first[axis] += first;
    parts.second.count[axis] -= first;
    return parts;
}

std::optional<BoxCounts> CountedForms::count(const Block& block) {
    if (++steps_ > kMostBlocks) return std::nullopt;
    Signature signature;
    for (const std::size_t axis : forms.axes()) signature.push_back(block.count[axis]);
    const Truth truth = forms.judge(block, values_, signature);
    if (truth == Truth::False) return BoxCounts{};
    if (truth == Truth::True) return whole(block);
    if (const auto found = known_.find(signature); found != known_.end()) return found->second;
    const std::optional<BoxCounts> counts = count_open(block);
    if (counts) known_.emplace(std::move(signature), *counts);
    return counts;
}

std::optional<BoxCounts> CountedForms::count_open(const Block& block) {
    const auto [one, other] = halves(block);
    const std::optional<BoxCounts> first = count(one);
    const std::optional<BoxCounts> second = first ? count(other) : std::nullopt;
    if (!second) return std::nullopt;
    const CheckedInt points = CheckedInt(first->points) + second->points;
    if (!points) return std::nullopt;
    if (longest_of_tiles(block))
        return BoxCounts{first->met + second->met, first->covered + second->covered, *points};
    // Parts of one tile.
    const bool all = whole(block)->points == *points;
    return BoxCounts{*points > 0 ? 1 : 0, all ? 1 : 0, *points};
}

bool CountedForms::draw(const Block& block, TileMap& map) {
    Signature signature;
    const Truth truth = forms.judge(block, values_, signature);
    if (truth == Truth::False) return true;
    if (truth == Truth::Open && longest_of_tiles(block)) {
        const auto [one, other] = halves(block);
        return draw(one, map) && draw(other, map);
    }
    const std::optional<BoxCounts> counts = count(block);
    if (!counts) return false;
    const TileState state = counts->covered > 0 ? TileState::Full
                            : counts->met > 0   ? TileState::Partial
                                                : TileState::Empty;
    std::vector<std::int64_t> at(map.axes.size(), 0);
    while (true) {
        std::int64_t place = 0;
        for (std::size_t k = 0; k < at.size(); ++k)
            place = place * map.tiles[k] + block.first[map.axes[k]] / tilings_[map.axes[k]].size +
                    at[k];
        map.states[static_cast<std::size_t>(place)] = state;
        std::size_t k = at.size();
        while (k > 0 && ++at[k - 1] == tiles(map.axes[k - 1], block)) at[--k] = 0;
        if (k == 0) return true;
    }
}

struct BoxCounter::Parts {
    Parts(const std::vector<Axis>& all_axes, const Mask& mask, const std::vector<Tiling>& cut)
        : axes(all_axes), coordinates(mask.coordinates()), tilings(cut) {
        for (const Expression& what : coordinates) axis_of.push_back(axis_in_tilings(what));
        const std::optional<BoxCondition> holds = mask.where_holds();
        valid = holds.has_value();
        for (const Choice& choice : holds.value_or(BoxCondition{})) add(choice);
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    [[nodiscard]] std::optional<std::size_t> axis_in_tilings(const Expression& what) const {
        const AxisIndex* index = std::get_if<AxisIndex>(&what.node);
        for (std::size_t axis = 0; index != nullptr && axis < tilings.size(); ++axis)
            if (tilings[axis].axis == index->axis) return axis;
        return std::nullopt;
    }
    /// Joins it to what shares an axis with it.
    void add(const Choice& choice) {
        BlockForms alone(axis_of, {choice});
        BoxCondition together;
        std::erase_if(components, [&](const std::unique_ptr<CountedForms>& other) {
            const std::vector<std::size_t>& known = other->forms.axes();
            if (std::none_of(known.begin(), known.end(),
                             [&](std::size_t axis) { return contains(alone.axes(), axis); }))
                return false;
            together.insert(together.end(), other->forms.choices().begin(),
                            other->forms.choices().end());
            return true;
        });
        together.push_back(choice);
        components.push_back(
            std::make_unique<CountedForms>(BlockForms(axis_of, std::move(together)), tilings));
    }
    /// Of coordinates that are no index of an axis that is cut; nullopt where one has none.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> values(
        const std::map<AxisId, std::int64_t>& at) const {
        std::vector<std::int64_t> result(coordinates.size(), 0);
        Ranges ranges;
        for (const auto& [axis, index] : at) ranges[axis] = {index, index};
        for (std::size_t c = 0; c < coordinates.size(); ++c) {
            if (axis_of[c]) continue;
            const std::optional<Interval> value = bounds(axes, coordinates[c], ranges);
            if (!value || !value->is_one()) return std::nullopt;
            result[c] = value->low;
        }
        return result;
    }
    [[nodiscard]] Block block(const Ranges& within) const {
        Block whole;
        for (const Tiling& tiling : tilings) {
            const auto part = within.find(tiling.axis);
            const Interval range = part != within.end()
                                       ? part->second
                                       : Interval{0, axes[tiling.axis.index()].extent - 1};
            whole.first.push_back(range.low);
            whole.count.push_back(range.high - range.low + 1);
        }
        return whole;
    }

    const std::vector<Axis>& axes;
    std::vector<Expression> coordinates;
    std::vector<Tiling> tilings;
    std::vector<std::optional<std::size_t>> axis_of;  // of coordinates, into the tilings
    std::vector<std::unique_ptr<CountedForms>> components;
    bool valid = true;
};

BoxCounter::BoxCounter(const std::vector<Axis>& axes, const Mask& mask,
                       const std::vector<Tiling>& tilings)
    : parts_(std::make_unique<Parts>(axes, mask, tilings)) {}
BoxCounter::BoxCounter(BoxCounter&&) noexcept = default;
BoxCounter::~BoxCounter() = default;

std::optional<BoxCounts> BoxCounter::count(const std::map<AxisId, std::int64_t>& at,
                                           const Ranges& within) {
    const std::optional<std::vector<std::int64_t>> values = parts_->values(at);
    if (!parts_->valid || !values) return std::nullopt;
    const Block block = parts_->block(within);
    std::set<std::size_t> asked;
    CheckedInt met = 1;
    CheckedInt covered = 1;
    CheckedInt points = 1;
    for (const std::unique_ptr<CountedForms>& component : parts_->components) {
        component->set_values(*values);
        const std::optional<BoxCounts> counts = component->count(block);
        if (!counts) return std::nullopt;
        met = met * counts->met;
        covered = covered * counts->covered;
        points = points * counts->points;
        asked.insert(component->forms.axes().begin(), component->forms.axes().end());
    }
    for (std::size_t axis = 0; axis < parts_->tilings.size(); ++axis) {
        if (asked.contains(axis)) continue;
        const std::int64_t size = parts_->tilings[axis].size;
        met = met * ceil_quotient(block.count[axis], size);
        covered = covered * ceil_quotient(block.count[axis], size);
        points = points * block.count[axis];
    }
    if (!met || !covered || !points) return std::nullopt;
    return BoxCounts{*met, *covered, *points};
}

std::optional<std::vector<TileMap>> BoxCounter::maps(const std::map<AxisId, std::int64_t>& at) {
    const std::optional<std::vector<std::int64_t>> values = parts_->values(at);
    if (!parts_->valid || !values) return std::nullopt;
    const Block block = parts_->block({});
    std::vector<TileMap> maps;
    for (const std::unique_ptr<CountedForms>& component : parts_->components) {
        component->set_values(*values);
        TileMap& map = maps.emplace_back();
        map.axes = component->forms.axes();
        CheckedInt tiles = 1;
        for (const std::size_t axis : map.axes) {
            const std::int64_t size = parts_->tilings[axis].size;
            map.tiles.push_back(ceil_quotient(block.count[axis], size));
            tiles = tiles * map.tiles.back();
        }
        if (!tiles || *tiles > kLargestMap) return std::nullopt;
        map.states.assign(static_cast<std::size_t>(*tiles), TileState::Empty);
        if (!component->draw(block, map)) return std::nullopt;
    }
    return maps;
}

}  // namespace napkin::index
