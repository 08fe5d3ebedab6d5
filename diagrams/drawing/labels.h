// What is written on wires: axis names with overbars outside, sizes of groups and chunks inside.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagrams/drawing/layout.h"
#include "diagrams/symbol_names.h"

namespace napkin::drawing {

class Labels {
public:
    Labels(const Diagram& diagram, const Relabelling& relabelling, const DrawOptions& options);

    /// Of an axis in device memory, which a region loads and saves along `by`, an axis of its size:
    /// with a bar where the region has parts of that.
    [[nodiscard]] MathText outer(AxisId axis, AxisId by, std::size_t region) const;
    /// Of an axis in a region, at one of its levels.
    [[nodiscard]] MathText inner(AxisId axis, std::size_t region, Level level) const;
    /// Whether some label inside the region says more than the axis' name; groups of one of woven
    /// axes do not count.
    [[nodiscard]] bool relabels(std::size_t region) const;
    /// `x = q, g_q = 128, s_x = 64`, with axes that have their size of others where there are
    /// formulas; by region where one symbol has two sizes, `L: g_n = 8, dW: g_n = 4`.
    /// Of the only kernel that is drawn, where there is one.
    [[nodiscard]] std::vector<MathText> legend() const;

private:
    using SizeNote = std::pair<std::string, std::int64_t>;

    [[nodiscard]] std::vector<MathText> sizes_of_others() const;
    [[nodiscard]] std::vector<SizeNote> sizes_of(const Region& region) const;
    /// Whether one symbol has different sizes in different regions.
    [[nodiscard]] bool regions_differ() const;
    [[nodiscard]] bool trivial(const Group& group) const;

    const Diagram& diagram_;
    SymbolNames names_;
    const Relabelling& relabelling_;
    std::set<AxisId> overbars_;
    std::optional<std::size_t> kernel_;  ///< the only one that is drawn
    bool formulas_ = false;
};

}  // namespace napkin::drawing
