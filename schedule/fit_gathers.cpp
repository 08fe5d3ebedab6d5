// Boxes of what is gathered along tile axes (tile_axes.h). A box of several dimensions lies in
// shared memory as rows do that count its indices: the dimensions of `u` and `v` make rows `u_v`.
// Of columns `r_s_k` every panel is a box of its own, from other places of `r` and `s`. Outside the
// array a box is zero, which is what a guard against being outside means.
#include "schedule/fit_gathers.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagrams/expression.h"
#include "diagrams/memory_order.h"
#include "schedule/straight_reads.h"

namespace napkin::schedule {
namespace {

/// What a sum adds up, and what is taken from it not among them.
void find_addends(const Expression& expression, std::vector<Expression>& addends) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call != nullptr && call->function == Function::Add)
        for (const Expression& argument : call->arguments) find_addends(argument, addends);
    else if (call != nullptr && call->function == Function::Subtract)
        find_addends(call->arguments.front(), addends);
    else
        addends.push_back(expression);
}

class GatherFitter {
public:
    GatherFitter(const RegionProgram& region, const Plan& plan, const Limits& limits,
                 const Load& load)
        : region_(region),
          plan_(plan),
          limits_(limits),
          load_(load),
          array_(region.arrays[load.array.index()]),
          tile_(plan.tiles.at(load.target)),
          rows_(parts_of(tile_.row_dimension, tile_.rows)),
          columns_(parts_of(tile_.column_dimension, tile_.columns)) {}

    std::variant<Box, std::string> run() {
        const std::int64_t rank = std::ssize(array_.axes);
        Box box;
        for (std::int64_t i = rank; i-- > 0;) {
            const std::size_t d = dimension_at(array_, static_cast<std::size_t>(i));
            const std::int64_t extent = i + 1 == rank ? panel_along(d) : rows_along(d);
            if (!refused_.empty()) return refused_;
            box.dimensions.push_back(static_cast<std::uint32_t>(d));
            box.extents.push_back(extent);
        }
        if (!rows_.empty()) refuse("its rows are not in the order of its dimensions");
        check_guard();
        check_depth();
        if (!refused_.empty()) return refused_;
        return box;
    }

private:
    void refuse(std::string reason) {
        if (refused_.empty())
            refused_ = fmt::format("`{}` is gathered, and {}", array_.name, std::move(reason));
    }

    [[nodiscard]] std::vector<TilePart> parts_of(std::size_t dimension, std::int64_t held) {
        const AxisId axis = std::get<AxisIndex>(load_.index[dimension].front().node).axis;
        const TileAxis* tile = find_tile_axis(plan_.tile_axes, axis);
        if (plan_.extents.at(axis) != held)
            refuse(fmt::format("a block holds {} of `{}`, and its tile {}", plan_.extents.at(axis),
                               region_.axes[axis.index()].name, held));
        return tile == nullptr ? std::vector<TilePart>{{axis, held}} : tile->parts;
    }

    /// Columns of a panel along the contiguous dimension.
    std::int64_t panel_along(std::size_t d) {
        const std::int64_t panel = panel_bytes(tile_.columns, tile_.type) * 8 /
                                   static_cast<std::int64_t>(bits_of(tile_.type));
        if (load_.gather[d] != axis_index(columns_.back().axis))
            refuse("its columns are not contiguous");
        else if (columns_.back().extent % panel != 0)
            refuse(fmt::format("{} of `{}` are not whole panels of {}", columns_.back().extent,
                               region_.axes[columns_.back().axis.index()].name, panel));
        return panel;
    }

    /// Indices of another dimension that one of the rows' parts runs along; takes the part.
    std::int64_t rows_along(std::size_t d) {
        constexpr std::int64_t kMostOfBox = 256;
        const Expression& index = load_.gather[d];
        if (clamped(index, array_.axes[d])) refuse("it repeats its last element past its end");
        const std::set<AxisId> used = axes_used(index);
        if (used.contains(columns_.back().axis)) refuse("an index goes along two dimensions");
        const auto along = std::count_if(rows_.begin(), rows_.end(), [&](const TilePart& part) {
            return used.contains(part.axis);
        });
        if (along == 0) return 1;
        std::vector<Expression> addends;
        find_addends(index, addends);
        const TilePart part = rows_.back();
        const Expression whole = axis_index(part.axis);
        if (along > 1 || !used.contains(part.axis) ||
            std::count(addends.begin(), addends.end(), whole) != 1 ||
            std::count_if(addends.begin(), addends.end(), [&](const Expression& addend) {
                return axes_used(addend).contains(part.axis);
            }) != 1)
            refuse(fmt::format("its rows do not go along `{}` one by one",
                               region_.axes[array_.axes[d].index()].name));
        if (part.extent > kMostOfBox)
            refuse(fmt::format("{} of `{}` are more than the {} of a box", part.extent,
                               region_.axes[part.axis.index()].name, kMostOfBox));
        rows_.pop_back();
        return part.extent;
    }

    /// A guard tests that indices are inside the array, and nothing else.
    void check_guard() {
        if (!tile_.guard) return;
        for (const Expression& test : conjuncts_of(*tile_.guard)) {
            bool inside = false;
            for (std::size_t d = 0; d < array_.axes.size(); ++d) {
                const Expression& index = load_.gather[d];
                inside = inside || test == apply(Function::LessEqual, {integer(0), index}) ||
                         test == apply(Function::Less, {index, size_of(array_.axes[d])});
            }
            if (!inside) refuse("is zero inside the array too");
        }
    }

    /// What is summed up must be zero past the end of each part.
    void check_depth() {
        for (const auto& index : load_.index) {
            const AxisId axis = std::get<AxisIndex>(index.front().node).axis;
            const bool depth =
                std::any_of(plan_.products.begin(), plan_.products.end(),
                            [&](const auto& product) { return product.second.depth == axis; });
            const TileAxis* tile = find_tile_axis(plan_.tile_axes, axis);
            if (!depth) continue;
            const std::vector<TilePart> alone = {{axis, plan_.extents.at(axis)}};
            for (const TilePart& part : tile == nullptr ? alone : tile->parts) check_end(part);
        }
    }
    void check_end(const TilePart& part) {
        const Axis& axis = region_.axes[part.axis.index()];
        const bool run_time = axis.dynamic || limits_.dynamic_sizes;
        const std::vector<std::int64_t> sizes = sizes_around(region_, load_, part.axis);
        for (std::size_t p = 1; p < sizes.size(); ++p)
            if (sizes[p - 1] % sizes[p] != 0)
                refuse(fmt::format("chunks of {} do not divide {} of `{}`", sizes[p], sizes[p - 1],
                                   axis.name));
        if (!run_time && axis.extent % part.extent == 0) return;
        for (std::size_t d = 0; d < array_.axes.size(); ++d) {
            if (!axes_used(load_.gather[d]).contains(part.axis)) continue;
            if (load_.gather[d] != axis_index(part.axis) ||
                region_.axes[array_.axes[d].index()].size != axis.size)
                refuse(fmt::format("past the end of `{}` there is more of it", axis.name));
        }
    }

    const RegionProgram& region_;
    const Plan& plan_;
    const Limits& limits_;
    const Load& load_;
    const Array& array_;
    const Tile& tile_;
    std::string refused_;
    std::vector<TilePart> rows_;  // not met yet
    std::vector<TilePart> columns_;
};

}  // namespace

std::variant<Box, std::string> gathered_box_of(const RegionProgram& region, const Plan& plan,
                                               const Limits& limits, const Load& load) {
    return GatherFitter(region, plan, limits, load).run();
}

}  // namespace napkin::schedule
