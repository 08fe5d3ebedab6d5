#include "diagrams/index/counted_forms.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "diagrams/checked.h"
#include "diagrams/contains.h"
#include "diagrams/rounding.h"

namespace napkin::index {

namespace {

/// Parts of an axis that blocks begin at: the greatest one before the end.
std::int64_t first_part(std::int64_t count, const std::vector<std::int64_t>& units) {
    std::int64_t part = 1;
    for (const std::int64_t unit : units)
        if (unit < count) part = std::max(part, unit);
    while (part * 2 < count) part *= 2;
    return part;
}

}  // namespace

std::optional<std::size_t> tiling_of(const Expression& what, const std::vector<Tiling>& tilings) {
    const AxisIndex* index = std::get_if<AxisIndex>(&what.node);
    for (std::size_t axis = 0; index != nullptr && axis < tilings.size(); ++axis)
        if (tilings[axis].axis == index->axis) return axis;
    return std::nullopt;
}

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
    if (++steps_ > most_blocks_) return std::nullopt;
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

template <class Visit>
bool CountedForms::for_each_part(const Block& block, const Visit& visit) {
    Signature signature;
    const Truth truth = forms.judge(block, values_, signature);
    if (truth == Truth::False) return true;
    if (truth == Truth::True || !longest_of_tiles(block)) return visit(block, truth);
    const auto [one, other] = halves(block);
    return for_each_part(one, visit) && for_each_part(other, visit);
}

bool CountedForms::draw(const Block& block, TileMap& map) {
    return for_each_part(block, [&](const Block& part, Truth) {
        const std::optional<BoxCounts> counts = count(part);
        if (!counts) return false;
        const TileState state = counts->covered > 0 ? TileState::Full
                                : counts->met > 0   ? TileState::Partial
                                                    : TileState::Empty;
        mark(part, state, map);
        return true;
    });
}

bool CountedForms::list(const Block& block, std::vector<Block>& points) {
    return for_each_part(block, [&](const Block& part, Truth truth) {
        if (truth == Truth::True) points.push_back(part);
        return truth == Truth::True;
    });
}

void CountedForms::mark(const Block& block, TileState state, TileMap& map) const {
    std::vector<std::int64_t> at(map.axes.size(), 0);
    while (true) {
        std::int64_t place = 0;
        for (std::size_t k = 0; k < at.size(); ++k)
            place = place * map.tiles[k] + block.first[map.axes[k]] / tilings_[map.axes[k]].size +
                    at[k];
        map.states[static_cast<std::size_t>(place)] = state;
        std::size_t k = at.size();
        while (k > 0 && ++at[k - 1] == tiles(map.axes[k - 1], block)) at[--k] = 0;
        if (k == 0) return;
    }
}

CountedCondition::CountedCondition(std::vector<std::optional<std::size_t>> axis_of,
                                   const std::vector<Tiling>& tilings,
                                   const BoxCondition& condition, std::size_t most_blocks)
    : axis_of_(std::move(axis_of)), tilings_(tilings), most_blocks_(most_blocks) {
    for (const Choice& choice : condition) add(choice);
}

void CountedCondition::add(const Choice& choice) {
    BlockForms alone(axis_of_, {choice});
    BoxCondition together;
    std::erase_if(components_, [&](const std::unique_ptr<CountedForms>& other) {
        const std::vector<std::size_t>& known = other->forms.axes();
        if (std::none_of(known.begin(), known.end(),
                         [&](std::size_t axis) { return contains(alone.axes(), axis); }))
            return false;
        together.insert(together.end(), other->forms.choices().begin(),
                        other->forms.choices().end());
        return true;
    });
    together.push_back(choice);
    components_.push_back(std::make_unique<CountedForms>(BlockForms(axis_of_, std::move(together)),
                                                         tilings_, most_blocks_));
}

std::optional<BoxCounts> CountedCondition::count(const Block& block,
                                                 const std::vector<std::int64_t>& values) {
    std::set<std::size_t> asked;
    CheckedInt met = 1;
    CheckedInt covered = 1;
    CheckedInt points = 1;
    for (const std::unique_ptr<CountedForms>& component : components_) {
        component->set_values(values);
        const std::optional<BoxCounts> counts = component->count(block);
        if (!counts) return std::nullopt;
        met = met * counts->met;
        covered = covered * counts->covered;
        points = points * counts->points;
        asked.insert(component->forms.axes().begin(), component->forms.axes().end());
    }
    for (std::size_t axis = 0; axis < tilings_.size(); ++axis) {
        if (asked.contains(axis)) continue;
        const std::int64_t tiles = ceil_quotient(block.count[axis], tilings_[axis].size);
        met = met * tiles;
        covered = covered * tiles;
        points = points * block.count[axis];
    }
    if (!met || !covered || !points) return std::nullopt;
    return BoxCounts{*met, *covered, *points};
}

std::optional<std::vector<TileMap>> CountedCondition::maps(
    const Block& block, const std::vector<std::int64_t>& values) {
    std::vector<TileMap> maps;
    for (const std::unique_ptr<CountedForms>& component : components_) {
        component->set_values(values);
        TileMap& map = maps.emplace_back();
        map.axes = component->forms.axes();
        CheckedInt tiles = 1;
        for (const std::size_t axis : map.axes) {
            map.tiles.push_back(ceil_quotient(block.count[axis], tilings_[axis].size));
            tiles = tiles * map.tiles.back();
        }
        if (!tiles || *tiles > kLargestMap) return std::nullopt;
        map.states.assign(static_cast<std::size_t>(*tiles), TileState::Empty);
        if (!component->draw(block, map)) return std::nullopt;
    }
    return maps;
}

std::optional<std::vector<PointBlocks>> CountedCondition::points(
    const Block& block, const std::vector<std::int64_t>& values) {
    std::vector<PointBlocks> points;
    for (const std::unique_ptr<CountedForms>& component : components_) {
        component->set_values(values);
        PointBlocks& some = points.emplace_back(PointBlocks{component->forms.axes(), {}});
        if (!component->list(block, some.blocks)) return std::nullopt;
    }
    return points;
}

}  // namespace napkin::index
