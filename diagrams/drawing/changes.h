// What a step changed, marked in the picture after it.
#pragma once

#include <string>
#include <vector>

#include "diagrams/drawing/canvas.h"

namespace napkin::drawing {

/// A cost that a step changed, as parse_math reads it.
struct CostChange {
    std::string before;
    std::string after;  ///< nothing where there is none any more
};

/// Puts a halo behind every label that the picture before has nowhere, and sets costs below: each
/// as it was, struck through, and as it is, in lines no wider than the picture or `max_width`.
void mark_changes(Canvas& canvas, const Canvas& before, const std::vector<CostChange>& costs,
                  double max_width);
/// Gives pictures one size, that of the largest.
void share_size(std::vector<Canvas>& canvases);

}  // namespace napkin::drawing
