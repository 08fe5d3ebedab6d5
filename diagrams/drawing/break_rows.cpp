#include "diagrams/drawing/break_rows.h"

#include <algorithm>
#include <limits>

namespace napkin::drawing {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Where a row goes on, it says which arrays are live.
void name_arrays(Stage& stage) {
    stage.names.clear();
    for (const Block& block : stage.blocks)
        if (block.array)
            stage.names.push_back({block.first, block.first + block.count - 1, *block.array, true});
}

}  // namespace

RowBreaks::RowBreaks(const StageList& list, double totals) : list_(list), totals_(totals) {
    const std::vector<Stage>& stages = list.stages;
    ends_ = {0};
    for (std::size_t s = 1; s + 1 < stages.size(); ++s)
        // What enters at a stage is of the next row.
        if (stages[s].kind == StageKind::Data && stages[s].names.empty()) ends_.push_back(s);
    ends_.push_back(stages.size() - 1);
    widest_.assign(ends_.size(), std::vector<double>(ends_.size(), kNever));
    widest_[0][0] = 0;
    for (std::size_t rows = 1; rows < ends_.size(); ++rows)
        for (std::size_t to = rows; to < ends_.size(); ++to)
            for (std::size_t from = rows - 1; from < to; ++from)
                widest_[rows][to] =
                    std::min(widest_[rows][to], std::max(widest_[rows - 1][from], width(from, to)));
}

double RowBreaks::width(std::size_t from, std::size_t to) const {
    const Stage& first = list_.stages[ends_[from]];
    const Stage& last = list_.stages[ends_[to]];
    return last.x + last.right - first.x + first.left + (to + 1 == ends_.size() ? totals_ : 0);
}

/// The row that each place ends, by the least sum of squared widths, none of them over the widest.
std::vector<std::size_t> RowBreaks::evenest(std::size_t rows) const {
    const double most = widest_row(rows);
    std::vector<std::vector<double>> sums(rows + 1, std::vector<double>(ends_.size(), kNever));
    std::vector<std::vector<std::size_t>> begins(rows + 1, std::vector<std::size_t>(ends_.size()));
    sums[0][0] = 0;
    for (std::size_t row = 1; row <= rows; ++row)
        for (std::size_t to = row; to < ends_.size(); ++to)
            for (std::size_t from = row - 1; from < to; ++from) {
                const double used = width(from, to);
                const double sum = sums[row - 1][from] + used * used;
                if (used > most || sum >= sums[row][to]) continue;
                sums[row][to] = sum;
                begins[row][to] = from;
            }
    std::vector<std::size_t> places(rows + 1, ends_.size() - 1);
    for (std::size_t row = rows; row > 0; --row) places[row - 1] = begins[row][places[row]];
    return places;
}

std::vector<System> RowBreaks::systems(std::size_t rows, bool names) const {
    const std::vector<std::size_t> places = evenest(rows);
    std::vector<System> systems;
    for (std::size_t row = 0; row < rows; ++row) {
        System system;
        system.list.units = list_.units;
        system.list.common = list_.common;
        const auto stage = [&](std::size_t place) {
            return list_.stages.begin() + static_cast<std::ptrdiff_t>(ends_[place]);
        };
        system.list.stages.assign(stage(places[row]), stage(places[row + 1]) + 1);
        system.is_first = row == 0;
        system.is_last = row + 1 == rows;
        if (!system.is_first && names) name_arrays(system.list.stages.front());
        systems.push_back(std::move(system));
    }
    return systems;
}

}  // namespace napkin::drawing
