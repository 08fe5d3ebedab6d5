#include "diagrams/index/visit_count.h"

#include <algorithm>
#include <map>

#include "diagrams/checked.h"
#include "diagrams/index/counted_forms.h"

namespace napkin::index {

namespace {

/// Some 50 ms: search counts hundreds of tilings.
constexpr std::size_t kMostWhileSearching = 100'000;

}  // namespace

/// Of each coordinate of the mask there are two: of an index that is cut the number of its tile and
/// how far its last index is from its first, of any other its ends.
struct VisitCounter::Parts {
    Parts(const std::vector<Axis>& all_axes, const Mask& asked, const std::vector<Tiling>& cut)
        : axes(all_axes), mask(asked), tilings(cut) {
        for (const Tiling& tiling : tilings) numbers.push_back({tiling.axis, 1});
        for (const Expression& what : mask.coordinates()) {
            const std::optional<std::size_t> tiling = tiling_of(what, tilings);
            axis_of.push_back(tiling);
            axis_of.push_back(std::nullopt);
            valid = valid && (tiling || !follows_tiles(what));
        }
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    /// Elements have the same ends in every box.
    [[nodiscard]] bool follows_tiles(const Expression& what) const {
        if (!arrays_read(what).empty()) return false;
        const std::set<AxisId> used = axes_used(what);
        return std::any_of(tilings.begin(), tilings.end(),
                           [&](const Tiling& tiling) { return used.contains(tiling.axis); });
    }

    [[nodiscard]] Linear in_numbers(const Linear& form) {
        const std::size_t ends = axis_of.size();
        std::map<std::size_t, CheckedInt> terms;
        const auto add = [&](std::size_t variable, CheckedInt coefficient) {
            const auto [known, fresh] = terms.try_emplace(variable, coefficient);
            if (!fresh) known->second = known->second + coefficient;
        };
        for (const auto& [variable, coefficient] : form.terms) {
            if (variable >= ends) {  // a quotient: those come after two ends of each coordinate
                add(variable + ends, coefficient);
                continue;
            }
            const std::size_t low = variable - variable % 2;
            if (axis_of[low]) add(2 * low, CheckedInt(coefficient) * tilings[*axis_of[low]].size);
            if (!axis_of[low] || variable != low) add(2 * variable, coefficient);
        }
        Linear result{form.constant, {}};
        for (const auto& [variable, coefficient] : terms) {
            valid = valid && coefficient;
            if (const std::int64_t factor = coefficient.value.value_or(0); factor != 0)
                result.terms.emplace_back(variable, factor);
        }
        return result;
    }
    [[nodiscard]] BoxCondition in_numbers(BoxCondition condition) {
        for (Choice& choice : condition)
            for (Clause& clause : choice.clauses) {
                for (Quotient& quotient : clause.quotients)
                    quotient.dividend = in_numbers(quotient.dividend);
                for (std::vector<Linear>* forms : {&clause.zero, &clause.not_negative})
                    for (Linear& form : *forms) form = in_numbers(form);
            }
        return condition;
    }

    [[nodiscard]] std::optional<std::int64_t> count(std::optional<CountedCondition>& known,
                                                    const BoxCondition& asked,
                                                    const Ranges& within) {
        if (valid && !known)
            known.emplace(axis_of, numbers, in_numbers(asked), kMostWhileSearching);
        if (!valid) return std::nullopt;
        std::vector<std::int64_t> values;
        for (const Interval& ends : mask.box(within)) {
            values.push_back(ends.low);
            values.push_back(ends.high);
        }
        return count_from(0, *known, within, Block{}, values).value;
    }
    /// With the tiles of axes before `axis` chosen, which are of one width each.
    [[nodiscard]] CheckedInt count_from(std::size_t axis, CountedCondition& condition,
                                        const Ranges& within, Block block,
                                        std::vector<std::int64_t>& values) const {
        if (axis == tilings.size()) {
            const std::optional<BoxCounts> counts = condition.count(block, values);
            return counts ? CheckedInt(counts->points) : CheckedInt(std::nullopt);
        }
        const auto& [which, size] = tilings[axis];
        const auto part = within.find(which);
        const Interval range =
            part != within.end() ? part->second : Interval{0, axes[which.index()].extent - 1};
        block.first.push_back(range.low / size);
        block.count.push_back(0);
        const auto of_width = [&](std::int64_t tiles, std::int64_t width) -> CheckedInt {
            if (tiles == 0 || width == 0) return 0;
            block.count.back() = tiles;
            for (std::size_t c = 0; c < axis_of.size(); c += 2)
                if (axis_of[c] == axis) values[c + 1] = width - 1;
            const CheckedInt counted = count_from(axis + 1, condition, within, block, values);
            block.first.back() += tiles;
            return counted;
        };
        const std::int64_t length = range.high - range.low + 1;
        const CheckedInt whole = of_width(length / size, size);
        return whole + of_width(1, length % size);
    }

    const std::vector<Axis>& axes;
    const Mask& mask;
    std::vector<Tiling> tilings;
    std::vector<Tiling> numbers;  ///< of tiles, one by one
    std::vector<std::optional<std::size_t>> axis_of;
    std::optional<CountedCondition> when_met;
    std::optional<CountedCondition> when_covered;
    bool valid = true;
};

VisitCounter::VisitCounter(const std::vector<Axis>& axes, const Mask& mask,
                           const std::vector<Tiling>& tilings)
    : parts_(std::make_unique<Parts>(axes, mask, tilings)) {}
VisitCounter::VisitCounter(VisitCounter&&) noexcept = default;
VisitCounter::~VisitCounter() = default;

std::optional<std::int64_t> VisitCounter::met(const Ranges& within) {
    return parts_->count(parts_->when_met, parts_->mask.where_met(), within);
}

std::optional<std::int64_t> VisitCounter::covered(const Ranges& within) {
    return parts_->count(parts_->when_covered, parts_->mask.where_covered(), within);
}

}  // namespace napkin::index
