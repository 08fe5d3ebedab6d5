// Machine hierarchies as graphs: a circle a level in its colour, an arrow a connection.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "diagrams/drawing/canvas.h"

namespace napkin::drawing {

/// A level of a machine: what it is called and which memory it has.
struct HierarchyLevel {
    std::string name;    ///< `Thread block`; lines are set apart by `\n`
    std::string memory;  ///< `SMEM`, in italics; may be empty
    Color color = kBlack;
};

/// Levels and the connections from outer to inner ones, as indices.
struct Hierarchy {
    std::vector<std::string> title;  ///< lines
    std::vector<HierarchyLevel> levels;
    std::vector<std::pair<std::size_t, std::size_t>> edges;
};

/// Several hierarchies side by side, roots at one height.
[[nodiscard]] Canvas draw_hierarchies(const std::vector<Hierarchy>& hierarchies);
[[nodiscard]] Canvas draw_hierarchy(const Hierarchy& hierarchy);

}  // namespace napkin::drawing
