#include "perfmodel/mask_pairs.h"

#include <algorithm>
#include <numeric>

#include "diagrams/checked.h"
#include "diagrams/rounding.h"
#include "perfmodel/cost_messages.h"
#include "perfmodel/mask_report.h"
#include "perfmodel/tile_grid.h"

namespace napkin {
namespace {

constexpr std::int64_t kAtOnce = std::int64_t{1} << 20;  // elements that an evaluator keeps

std::int64_t size_of(const Diagram& diagram, const std::vector<AxisId>& axes) {
    std::int64_t size = 1;
    for (const AxisId axis : axes) size = saturating_multiply(size, diagram[axis].extent);
    return size;
}

/// The diagram with one array more, last: 1 where all conditions hold, along these axes.
Diagram with_pairs(Diagram diagram, const MaskReport& report, const std::vector<AxisId>& axes) {
    Array pairs;
    pairs.role = ArrayRole::Output;
    pairs.axes = axes;
    Expression shown = number(1);
    std::vector<Expression> conditions = report.conditions;
    if (report.by_data) conditions.insert(conditions.end(), report.data.begin(), report.data.end());
    for (const Expression& condition : conditions)
        shown = Expression{Apply{Function::Select, {condition, shown, number(0)}}, {}};
    Statement statement;
    statement.targets = {ArrayId{static_cast<std::uint32_t>(diagram.arrays.size())}};
    statement.body = Map{std::move(shown)};
    diagram.arrays.push_back(std::move(pairs));
    diagram.statements.push_back(std::move(statement));
    return diagram;
}

/// The tile of every index of some axes, flattened, and how many there are.
struct TileNumbers {
    std::vector<std::int64_t> of;
    std::int64_t count = 1;
};
TileNumbers numbers_of(const Diagram& diagram, const std::vector<index::Tiling>& tilings,
                       std::size_t begin, std::size_t end) {
    TileNumbers numbers{{0}, 1};
    for (std::size_t k = begin; k < end; ++k) {
        const std::int64_t extent = diagram[tilings[k].axis].extent;
        const std::int64_t tiles = ceil_quotient(extent, tilings[k].size);
        std::vector<std::int64_t> finer;
        finer.reserve(numbers.of.size() * static_cast<std::size_t>(extent));
        for (const std::int64_t outer : numbers.of)
            for (std::int64_t index = 0; index < extent; ++index)
                finer.push_back(outer * tiles + index / tilings[k].size);
        numbers.of = std::move(finer);
        numbers.count *= tiles;
    }
    return numbers;
}

/// How many indices each tile has.
std::vector<std::int64_t> sizes_of(const TileNumbers& numbers) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(numbers.count));
    for (const std::int64_t tile : numbers.of) ++sizes[static_cast<std::size_t>(tile)];
    return sizes;
}

}  // namespace

Result<MaskPairs> MaskPairs::evaluate(const Diagram& diagram, const MaskReport& report,
                                      const Tensors& given) {
    std::vector<AxisId> axes = report.heads;
    axes.insert(axes.end(), report.queries.begin(), report.queries.end());
    axes.insert(axes.end(), report.keys.begin(), report.keys.end());
    const std::int64_t all = size_of(diagram, axes);
    if (all > kMost) return messages::too_many_pairs(report.statement, kMost);
    const Diagram extended = with_pairs(diagram, report, axes);
    const ArrayId array{static_cast<std::uint32_t>(diagram.arrays.size())};
    MaskPairs pairs;
    pairs.rows_ = size_of(diagram, report.queries);
    pairs.columns_ = size_of(diagram, report.keys);
    const std::int64_t of_head = pairs.rows_ * pairs.columns_;
    pairs.heads_.assign(static_cast<std::size_t>(all / of_head),
                        std::vector<bool>(static_cast<std::size_t>(of_head)));
    std::vector<std::int64_t> offsets;
    try {
        for (std::int64_t begin = 0; begin < all; begin += kAtOnce) {
            offsets.resize(static_cast<std::size_t>(std::min(kAtOnce, all - begin)));
            std::iota(offsets.begin(), offsets.end(), begin);
            Evaluator evaluator(extended, given);
            const std::vector<double> values = evaluator.elements(array, offsets);
            for (std::size_t i = 0; i < values.size(); ++i) {
                const std::int64_t at = begin + static_cast<std::int64_t>(i);
                pairs.heads_[static_cast<std::size_t>(at / of_head)]
                            [static_cast<std::size_t>(at % of_head)] = values[i] != 0;
            }
        }
    } catch (const ContractError& error) {
        return error.diagnostic;
    }
    return pairs;
}

TileGrid MaskPairs::grid(const Diagram& diagram, const MaskReport& report,
                         const std::vector<index::Tiling>& tilings, std::size_t head) const {
    const std::size_t queries = report.queries.size();
    const TileNumbers down = numbers_of(diagram, tilings, 0, queries);
    const TileNumbers across = numbers_of(diagram, tilings, queries, tilings.size());
    const auto cells = static_cast<std::size_t>(down.count * across.count);
    std::vector<bool> shown(cells, false);
    std::vector<bool> hidden(cells, false);
    for (std::int64_t row = 0; row < rows_; ++row)
        for (std::int64_t column = 0; column < columns_; ++column) {
            const std::int64_t cell = down.of[static_cast<std::size_t>(row)] * across.count +
                                      across.of[static_cast<std::size_t>(column)];
            (visible(head, row, column) ? shown : hidden)[static_cast<std::size_t>(cell)] = true;
        }
    TileGrid grid{down.count, across.count, {}};
    grid.states.reserve(cells);
    for (std::size_t cell = 0; cell < cells; ++cell)
        grid.states.push_back(!shown[cell]   ? index::TileState::Empty
                              : hidden[cell] ? index::TileState::Partial
                                             : index::TileState::Full);
    return grid;
}

TileCounts MaskPairs::count(const Diagram& diagram, const MaskReport& report,
                            std::size_t head) const {
    const std::size_t queries = report.queries.size();
    const std::vector<std::int64_t> down =
        sizes_of(numbers_of(diagram, report.tilings, 0, queries));
    const std::vector<std::int64_t> across =
        sizes_of(numbers_of(diagram, report.tilings, queries, report.tilings.size()));
    const TileGrid tiles = grid(diagram, report, report.tilings, head);
    TileCounts counts;
    for (std::size_t cell = 0; cell < tiles.states.size(); ++cell) {
        if (tiles.states[cell] == index::TileState::Empty) continue;
        ++counts.visited;
        counts.full += tiles.states[cell] == index::TileState::Full ? 1 : 0;
        counts.within += down[cell / across.size()] * across[cell % across.size()];
    }
    counts.pairs = std::count(heads_[head].begin(), heads_[head].end(), true);
    return counts;
}

}  // namespace napkin
