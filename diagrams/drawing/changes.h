// What a step changed, marked in the picture after it.
#pragma once

#include "diagrams/drawing/canvas.h"

namespace napkin::drawing {

/// Puts a halo behind every label that the picture before has nowhere, and sets `old_cost` below,
/// struck through.
void mark_changes(Canvas& canvas, const Canvas& before, const std::vector<MathText>& old_cost);
/// Gives pictures one size, that of the largest.
void share_size(std::vector<Canvas>& canvases);

}  // namespace napkin::drawing
