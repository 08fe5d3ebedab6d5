// Components counted by boxes of tiles.
//
// The widths of a tile are affine in its numbers as long as what clamps its indices turns out alike
// (Turns). A box of tiles whose corners agree in that is summed at once: the mean of what is affine
// is that of the corners. Any other box is halved, down to single tiles, as is one that a mask
// leaves in part. So `min(max(q - x, 0), 511)` is counted along two diagonals of the tiles of q and
// x, a few boxes for each tile there, and not in all of them.
#include <algorithm>
#include <bit>
#include <deque>

#include "diagrams/checked.h"
#include "perfmodel/tile_component.h"

namespace napkin {

namespace {

/// Tiles of one partition, all of one width.
struct Side {
    Interval numbers;          ///< in the tile that the partition cuts
    std::int64_t width = 1;    ///< of each
    std::int64_t outside = 1;  ///< the width of what is cut
    [[nodiscard]] std::int64_t count() const { return numbers.high - numbers.low + 1; }
};
using Box = std::vector<Side>;

std::int64_t tiles_in(const Box& box) {
    std::int64_t tiles = 1;
    for (const Side& side : box) tiles *= side.count();
    return tiles;
}

std::size_t longest_side(const Box& box) {
    const auto longest = std::max_element(
        box.begin(), box.end(), [](const Side& a, const Side& b) { return a.count() < b.count(); });
    return static_cast<std::size_t>(longest - box.begin());
}

/// Its half with the lower numbers along a side; the box is left with the others.
Box take_half(Box& box, std::size_t side) {
    Interval& numbers = box[side].numbers;
    const std::int64_t middle = numbers.low + box[side].count() / 2;
    Box half = box;
    half[side].numbers.high = middle - 1;
    numbers.low = middle;
    return half;
}

/// The tile in a corner: at the high end of the sides whose bits are set.
Box corner_of(Box box, std::uint64_t high) {
    for (std::size_t k = 0; k < box.size(); ++k) {
        Interval& numbers = box[k].numbers;
        const std::int64_t end = (high >> k & 1) != 0 ? numbers.high : numbers.low;
        numbers = {end, end};
    }
    return box;
}

/// What the tiles in the corners of a box move.
struct Corners {
    std::int64_t count = 1;
    CheckedInt sum = 0;
    bool agree = true;  ///< so that their mean is that of the box

    [[nodiscard]] CheckedInt mean_of(std::int64_t tiles) const {
        if (!sum) return std::nullopt;
        return CheckedInt(*sum / count) * tiles + *sum % count * tiles / count;
    }
};

class Halving {
public:
    Halving(const std::vector<Axis>& axes, const Component& component, KnownMasks& known,
            std::size_t most)
        : axes_(axes), component_(component), most_(most), indices_(component.path.size() + 1) {
        for (std::size_t depth = 0; depth <= component.path.size(); ++depth) {
            std::vector<Expression> conditions;
            for (const VisibleWhen& mask : component.masks)
                if (mask.depth == depth) conditions.push_back(*mask.condition);
            if (!conditions.empty()) masks_.emplace_back(depth, &known.of(conditions));
        }
    }

    HalvedSum total() {
        open({});
        while (!open_.empty() && total_) add(next());
        return {total_.value, is_exact_};
    }

private:
    enum class Visible { None, Some, All };

    /// Boxes of whole tiles, and of the last ones where these are smaller.
    void open(const Box& outer) {
        if (outer.size() == component_.path.size()) return open_.push_back(outer);
        const Partition& next = *component_.path[outer.size()];
        std::int64_t outside = axes_[next.axis.index()].extent;
        for (std::size_t k = 0; k < outer.size(); ++k)
            if (component_.path[k]->axis == next.axis) outside = outer[k].width;
        const std::int64_t whole = outside / next.size;
        const std::int64_t rest = outside % next.size;
        const auto open_with = [&](const Side& side) {
            Box box = outer;
            box.push_back(side);
            open(box);
        };
        if (whole > 0) open_with({{0, whole - 1}, next.size, outside});
        if (rest > 0) open_with({{whole, whole}, rest, outside});
    }
    /// Where there is a limit, all are halved alike; elsewhere few are open at a time.
    Box next() {
        const bool is_limited = most_ != kAnyBoxes;
        Box box = std::move(is_limited ? open_.front() : open_.back());
        is_limited ? open_.pop_front() : open_.pop_back();
        return box;
    }
    void add(Box box) {
        ++looked_at_;
        const Visible visible = visible_of(box);
        if (visible == Visible::None) return;
        if (visible == Visible::Some && !is_over()) return halve(box, longest_side(box));
        const Corners corners = corners_of(box);
        const bool is_known = visible == Visible::All && corners.agree;
        if (!is_known && !is_over()) return halve(box, uneven_side(box));
        is_exact_ = is_exact_ && is_known;
        total_ = total_ + corners.mean_of(tiles_in(box));
    }
    [[nodiscard]] bool is_over() const { return looked_at_ > most_; }
    void halve(Box& box, std::size_t side) {
        open_.push_back(take_half(box, side));
        open_.push_back(std::move(box));
    }

    /// All indices of the box, as the first partitions cut it; until the next question.
    [[nodiscard]] const Ranges& indices_of(const Box& box, std::size_t depth) {
        Ranges& ranges = indices_[depth];
        for (std::size_t k = 0; k < depth; ++k)
            ranges[component_.path[k]->axis] = {0,
                                                axes_[component_.path[k]->axis.index()].extent - 1};
        for (std::size_t k = 0; k < depth; ++k) {
            const auto& [numbers, width, outside] = box[k];
            const Partition& partition = *component_.path[k];
            Interval& range = ranges[partition.axis];
            range.low += numbers.low * partition.size;
            range.high += numbers.high * partition.size + width - outside;
        }
        return ranges;
    }
    [[nodiscard]] Visible visible_of(const Box& box) {
        Visible visible = Visible::All;
        for (const auto& [depth, mask] : masks_) {
            const Ranges& ranges = indices_of(box, depth);
            const bool is_one =
                std::all_of(box.begin(), box.begin() + static_cast<std::ptrdiff_t>(depth),
                            [](const Side& side) { return side.numbers.is_one(); });
            if ((is_one || mask->is_exact()) && !mask->meets(ranges)) return Visible::None;
            if (!is_one && !mask->covers(ranges)) visible = Visible::Some;
        }
        return visible;
    }
    /// As far as they agree, where there is more time to look closer.
    [[nodiscard]] Corners corners_of(const Box& box) {
        std::uint64_t long_sides = 0;
        for (std::size_t k = 0; k < box.size(); ++k)
            if (!box[k].numbers.is_one()) long_sides |= std::uint64_t{1} << k;
        Corners corners{std::int64_t{1} << std::popcount(long_sides)};
        std::vector<Interval> widths;  // of the dimensions
        std::uint64_t at = 0;
        do {
            corners.sum = corners.sum + moved_by(corner_of(box, at), widths);
            if (at == 0) common_ = turns_;
            corners.agree = corners.agree && common_.agree(turns_);
            at = (at - long_sides) & long_sides;  // the next of its subsets
        } while (at != 0 && (corners.agree || is_over()));
        const auto varies = [](const Interval& width) { return !width.is_one(); };
        corners.agree = corners.agree && std::count_if(widths.begin(), widths.end(), varies) <= 1;
        return corners;
    }
    /// The longest side whose ends do not agree; where all do, the longest.
    [[nodiscard]] std::size_t uneven_side(const Box& box) {
        std::vector<Interval> ignored;
        static_cast<void>(moved_by(corner_of(box, 0), ignored));
        const Turns first = turns_;
        std::size_t side = longest_side(box);
        std::int64_t longest = 0;
        for (std::size_t k = 0; k < box.size(); ++k) {
            if (box[k].count() <= std::max<std::int64_t>(longest, 1)) continue;
            static_cast<void>(moved_by(corner_of(box, std::uint64_t{1} << k), ignored));
            if (turns_.agree(first)) continue;
            side = k;
            longest = box[k].count();
        }
        return side;
    }
    /// By one tile, whose widths are taken into those of others; its turns are left.
    [[nodiscard]] CheckedInt moved_by(const Box& tile, std::vector<Interval>& widths) {
        turns_.clear();
        const Ranges& ranges = indices_of(tile, tile.size());
        const bool is_first = widths.empty();
        CheckedInt product = 1;
        for (std::size_t k = 0; k < component_.dimensions.size(); ++k) {
            const std::int64_t width = width_of(axes_, *component_.dimensions[k], ranges, turns_);
            product = product * width;
            if (is_first) widths.push_back({width, width});
            widths[k] = hull(widths[k], {width, width});
        }
        return product;
    }

    const std::vector<Axis>& axes_;
    const Component& component_;
    std::size_t most_;
    std::vector<std::pair<std::size_t, const index::Mask*>> masks_;  ///< by partitions in force
    std::vector<Ranges> indices_;                                    ///< by partitions in force
    Turns turns_;                                                    ///< of the last corner
    Turns common_;                                                   ///< of the corners before
    std::deque<Box> open_;
    std::size_t looked_at_ = 0;
    CheckedInt total_ = 0;
    bool is_exact_ = true;
};

}  // namespace

HalvedSum halved_value(const std::vector<Axis>& axes, const Component& component, KnownMasks& masks,
                       std::size_t most) {
    return Halving(axes, component, masks, most).total();
}

bool is_halved(const std::vector<Axis>& axes, const Component& component) {
    return component.masks.empty() || !has_plain_widths(axes, component);
}

}  // namespace napkin
