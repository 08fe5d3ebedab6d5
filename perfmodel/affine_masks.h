// Masks of a component as affine conditions.
#pragma once

#include "perfmodel/affine.h"
#include "perfmodel/tile_component.h"

namespace napkin {

/// Holds somewhere in a tile where the form's lowest value is at most 0.
struct Conjunct {
    Affine form;
    std::size_t depth = 0;  ///< partitions [0, depth) are in force where it is decided
};

/// Nullopt where a mask is anything but affine comparisons joined by `and`.
[[nodiscard]] std::optional<std::vector<Conjunct>> conjuncts_of(const std::vector<Axis>& axes,
                                                                const Component& component);
/// Whether it is never negative, as far as can be told from sizes being 1 and more.
[[nodiscard]] bool never_negative(const Formula& formula);
/// Whether it has no quotients that are rounded, no bounds and no sums over an index.
[[nodiscard]] bool is_polynomial(const Formula& formula);
/// Whether the conditions bound one sum or difference of indices, and bounds from two sides leave
/// something between them at any size. It takes every whole number between its least and its
/// greatest value in a tile, so they hold somewhere together where each does.
[[nodiscard]] bool bound_one_form(const std::vector<Conjunct>& conjuncts);

}  // namespace napkin
