#include "perfmodel/tile_grid.h"

#include <algorithm>

#include "diagrams/checked.h"
#include "diagrams/contains.h"
#include "diagrams/index/mask.h"

namespace napkin {

namespace {

/// How the axes of a map follow from rows and columns of a grid.
class MapReader {
public:
    MapReader(const std::vector<index::Tiling>& tilings, const std::vector<std::int64_t>& tiles,
              std::size_t queries)
        : tilings_(tilings), tiles_(tiles), queries_(queries), numbers_(tilings.size(), 0) {}

    void set_row(std::int64_t row) { set(0, queries_, row); }
    void set_column(std::int64_t column) { set(queries_, tilings_.size(), column); }
    [[nodiscard]] index::TileState state(const index::TileMap& map) const {
        std::int64_t place = 0;
        for (std::size_t k = 0; k < map.axes.size(); ++k)
            place = place * map.tiles[k] + numbers_[map.axes[k]];
        return map.states[static_cast<std::size_t>(place)];
    }

private:
    void set(std::size_t begin, std::size_t end, std::int64_t number) {
        for (std::size_t k = end; k-- > begin;) {
            numbers_[k] = number % tiles_[k];
            number /= tiles_[k];
        }
    }

    const std::vector<index::Tiling>& tilings_;
    const std::vector<std::int64_t>& tiles_;
    std::size_t queries_;
    std::vector<std::int64_t> numbers_;
};

/// Each column as far along an axis as each of some indices.
std::vector<std::int64_t> moved(const std::vector<std::int64_t>& columns, std::int64_t first,
                                std::int64_t count, std::int64_t stride) {
    std::vector<std::int64_t> result;
    for (const std::int64_t column : columns)
        for (std::int64_t index = first; index < first + count; ++index)
            result.push_back(column + index * stride);
    return result;
}

/// Of one key axis.
std::vector<ColumnRun> runs_of(const std::vector<index::PointBlocks>& points, std::int64_t extent) {
    std::vector<ColumnRun> runs{{0, extent}};
    for (const auto& [axes, blocks] : points) {
        if (blocks.empty()) return {};
        if (axes.empty()) continue;  // of the row alone
        runs.clear();
        for (const index::Block& block : blocks) add_run(runs, {block.first[0], block.count[0]});
    }
    return runs;
}

/// Of several key axes, the last of which is the fastest.
std::vector<ColumnRun> runs_of(const std::vector<index::PointBlocks>& points,
                               const std::vector<std::int64_t>& extents) {
    std::vector<index::PointBlocks> all = points;
    const index::Block whole{std::vector<std::int64_t>(extents.size(), 0), extents};
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
        if (std::none_of(points.begin(), points.end(),
                         [&](const index::PointBlocks& some) { return contains(some.axes, axis); }))
            all.push_back({{axis}, {whole}});
    std::vector<std::int64_t> strides(extents.size(), 1);
    for (std::size_t k = extents.size() - 1; k > 0; --k) strides[k - 1] = strides[k] * extents[k];
    std::vector<std::int64_t> columns{0};
    for (const auto& [axes, blocks] : all) {
        std::vector<std::int64_t> more;
        for (const index::Block& block : blocks) {
            std::vector<std::int64_t> some = columns;
            for (const std::size_t axis : axes)
                some = moved(some, block.first[axis], block.count[axis], strides[axis]);
            more.insert(more.end(), some.begin(), some.end());
        }
        columns = std::move(more);
    }
    std::sort(columns.begin(), columns.end());
    std::vector<ColumnRun> runs;
    for (const std::int64_t column : columns) add_run(runs, {column, 1});
    return runs;
}

}  // namespace

std::optional<TileGrid> tile_grid(const Diagram& diagram, const MaskReport& report,
                                  const std::vector<index::Tiling>& tilings, std::size_t head) {
    TileGrid grid{1, 1, {}};
    std::vector<std::int64_t> tiles;
    for (std::size_t k = 0; k < tilings.size(); ++k) {
        tiles.push_back((diagram[tilings[k].axis].extent + tilings[k].size - 1) / tilings[k].size);
        std::int64_t& side = k < report.queries.size() ? grid.rows : grid.columns;
        side = saturating_multiply(side, tiles.back());
    }
    if (saturating_multiply(grid.rows, grid.columns) > kLargestGrid) return std::nullopt;
    if (report.pairs) return report.pairs->grid(diagram, report, tilings, head);
    std::vector<Axis> axes = diagram.axes;
    for (Axis& axis : axes) axis.dynamic = false;
    const index::Mask mask(axes, report.conditions);
    const auto maps = index::BoxCounter(axes, mask, tilings).maps(head_of(diagram, report, head));
    if (!maps) return std::nullopt;
    MapReader reader(tilings, tiles, report.queries.size());
    grid.states.reserve(static_cast<std::size_t>(grid.rows * grid.columns));
    for (std::int64_t row = 0; row < grid.rows; ++row) {
        reader.set_row(row);
        for (std::int64_t column = 0; column < grid.columns; ++column) {
            reader.set_column(column);
            index::TileState state = index::TileState::Full;
            for (const index::TileMap& map : *maps) state = std::min(state, reader.state(map));
            grid.states.push_back(state);
        }
    }
    return grid;
}

struct MaskRows::Parts {
    Parts(const Diagram& diagram, const MaskReport& report, std::size_t head)
        : axes(fixed(diagram)),
          mask(axes, report.conditions),
          counter(axes, mask, keys_of(report)),
          queries(report.queries),
          keys(keys_of(report)),
          at(head_of(diagram, report, head)),
          pairs(report.pairs),
          number(head) {
        for (const AxisId query : queries) rows = saturating_multiply(rows, extent(query));
        for (const index::Tiling& key : keys) {
            columns.push_back(extent(key.axis));
            all = saturating_multiply(all, columns.back());
        }
    }
    static std::vector<Axis> fixed(const Diagram& diagram) {
        std::vector<Axis> axes = diagram.axes;
        for (Axis& axis : axes) axis.dynamic = false;
        return axes;
    }
    static std::vector<index::Tiling> keys_of(const MaskReport& report) {
        std::vector<index::Tiling> keys;
        for (const AxisId key : report.keys) keys.push_back({key, 1});
        return keys;
    }
    [[nodiscard]] std::int64_t extent(AxisId axis) const { return axes[axis.index()].extent; }

    std::vector<Axis> axes;
    index::Mask mask;
    index::BoxCounter counter;
    std::vector<AxisId> queries;
    std::vector<index::Tiling> keys;
    std::map<AxisId, std::int64_t> at;
    std::shared_ptr<const MaskPairs> pairs;
    std::size_t number;                 ///< of the head
    std::vector<std::int64_t> columns;  ///< of each key axis
    std::int64_t rows = 1;
    std::int64_t all = 1;  ///< columns
};

MaskRows::MaskRows(const Diagram& diagram, const MaskReport& report, std::size_t head)
    : parts_(std::make_unique<Parts>(diagram, report, head)) {}
MaskRows::MaskRows(MaskRows&&) noexcept = default;
MaskRows::~MaskRows() = default;

std::int64_t MaskRows::count() const {
    return parts_->rows;
}

std::int64_t MaskRows::columns() const {
    return parts_->all;
}

std::optional<std::vector<ColumnRun>> MaskRows::visible(std::int64_t row) {
    Parts& parts = *parts_;
    if (parts.all > kLargestGrid) return std::nullopt;
    std::vector<ColumnRun> runs;
    for (std::int64_t column = 0; parts.pairs && column < parts.all; ++column)
        if (parts.pairs->visible(parts.number, row, column)) add_run(runs, {column, 1});
    if (parts.pairs) return runs;
    for (auto query = parts.queries.rbegin(); query != parts.queries.rend(); ++query) {
        parts.at[*query] = row % parts.extent(*query);
        row /= parts.extent(*query);
    }
    const auto points = parts.counter.points(parts.at);
    if (!points) return std::nullopt;
    if (parts.keys.size() > 1) return runs_of(*points, parts.columns);
    return runs_of(*points, parts.all);
}

std::vector<index::Tiling> single_indices(const MaskReport& report) {
    std::vector<index::Tiling> tilings = report.tilings;
    for (index::Tiling& tiling : tilings) tiling.size = 1;
    return tilings;
}

}  // namespace napkin
