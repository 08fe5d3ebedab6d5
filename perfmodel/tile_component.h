// One component of a sum over tiles (perfmodel/tile_count.h): axes that vary together.
#pragma once

#include <limits>
#include <set>

#include "diagrams/index/mask.h"
#include "perfmodel/affine.h"
#include "perfmodel/tile_count.h"

namespace napkin {

/// A mask of a loop, with the number of partitions in force where it is decided.
struct VisibleWhen {
    const Expression* condition = nullptr;
    std::size_t depth = 0;  ///< partitions [0, depth) of the component, the loop's own included
};

struct Component {
    std::vector<const Partition*> path;  ///< partitions of its axes, outermost first
    std::vector<const Footprint*> dimensions;
    std::vector<VisibleWhen> masks;
};

/// The number of tiles that an axis' partitions make, by closed form.
[[nodiscard]] Formula tiles_of(const Formula& width, const std::vector<Formula>& sizes);
/// The sum as a formula; nullopt where index expressions or masks have no affine form. `ideal`
/// leaves out masks and clipping.
[[nodiscard]] std::optional<Formula> component_formula(const std::vector<Axis>& axes,
                                                       const Component& component, bool ideal);
/// Whether the formula above is a closed form that needs no check.
[[nodiscard]] bool is_closed(const std::vector<Axis>& axes, const Component& component);
/// Whether the formula above counts what enumeration does at any size: closed forms, and masks that
/// bound one difference of indices, from below, above or both.
[[nodiscard]] bool holds_at_any_size(const std::vector<Axis>& axes, const Component& component);
/// Every size that the sum may depend on.
[[nodiscard]] std::set<Symbol> symbols_of(const std::vector<Axis>& axes,
                                          const Component& component);
/// Its value at the sizes of the axes and partitions; nullopt where there is none or it does not
/// fit.
[[nodiscard]] std::optional<std::int64_t> closed_value(const std::vector<Axis>& axes,
                                                       const Component& component);
/// The masks of one program, each made once: several components have the same.
class KnownMasks {
public:
    explicit KnownMasks(const std::vector<Axis>& axes) : axes_(axes) {}
    /// Of the points where all conditions hold.
    [[nodiscard]] const index::Mask& of(const std::vector<Expression>& conditions);

private:
    const std::vector<Axis>& axes_;
    std::vector<std::pair<std::vector<Expression>, std::unique_ptr<index::Mask>>> known_;
};
/// The width of a dimension in one tile, with what decided it.
[[nodiscard]] std::int64_t width_of(const std::vector<Axis>& axes, const Footprint& dimension,
                                    const Ranges& ranges, Turns& turns);
/// Whether every dimension is an axis.
[[nodiscard]] bool has_plain_widths(const std::vector<Axis>& axes, const Component& component);
/// The sum by closed forms of the masks, where they have one and every axis is cut once.
[[nodiscard]] std::optional<std::int64_t> boxes_value(const std::vector<Axis>& axes,
                                                      const Component& component,
                                                      KnownMasks& masks);
/// The sum over tiles that are visited one by one.
[[nodiscard]] std::optional<std::int64_t> enumerated_value(const std::vector<Axis>& axes,
                                                           const Component& component,
                                                           KnownMasks& masks);
/// Boxes of tiles after which the rest is not halved.
inline constexpr std::size_t kAnyBoxes = std::numeric_limits<std::size_t>::max();
/// A sum over boxes of tiles (tile_boxes.cpp).
struct HalvedSum {
    std::optional<std::int64_t> sum;  ///< nothing where it does not fit
    bool is_exact = true;             ///< with no more boxes than were allowed
};
/// The sum over boxes of tiles, which are halved until it is known of each; past `most` boxes the
/// widths within are taken for even, and what masks may leave for left.
[[nodiscard]] HalvedSum halved_value(const std::vector<Axis>& axes, const Component& component,
                                     KnownMasks& masks, std::size_t most = kAnyBoxes);
/// Whether that is sooner known than enumerated: masks alone are asked for the next chunk.
[[nodiscard]] bool is_halved(const std::vector<Axis>& axes, const Component& component);
/// The sum by closed forms, over boxes of tiles, of these at most so many, or by enumeration.
[[nodiscard]] std::optional<std::int64_t> component_value(const std::vector<Axis>& axes,
                                                          const Component& component,
                                                          KnownMasks& masks,
                                                          std::size_t most = kAnyBoxes);
/// How many tiles the enumeration would visit, at most.
[[nodiscard]] double instances_of(const std::vector<Axis>& axes, const Component& component);

}  // namespace napkin
