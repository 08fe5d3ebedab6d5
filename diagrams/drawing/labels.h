// What is written on wires: axis names with overbars outside, sizes of groups and chunks inside.
#pragma once

#include <set>

#include "diagrams/drawing/layout.h"

namespace napkin::drawing {

class Labels {
public:
    Labels(const Diagram& diagram, const Relabelling& relabelling, const DrawOptions& options);

    /// Of an axis in device memory.
    [[nodiscard]] MathText outer(AxisId axis) const;
    /// Of an axis in a region, at one of its levels.
    [[nodiscard]] MathText inner(AxisId axis, std::size_t region, Level level) const;
    /// Whether some label inside the region says more than the axis' name; groups of one of woven
    /// axes do not count.
    [[nodiscard]] bool relabels(std::size_t region) const;
    /// `g_q = 128, s_x = 64`; empty where nothing is partitioned.
    [[nodiscard]] std::vector<MathText> legend() const;

private:
    [[nodiscard]] bool trivial(const Group& group) const;
    [[nodiscard]] std::string size_label(char kind, AxisId axis, Level level) const;

    const Diagram& diagram_;
    const Relabelling& relabelling_;
    const DrawOptions& options_;
    std::set<AxisId> overbars_;
};

}  // namespace napkin::drawing
