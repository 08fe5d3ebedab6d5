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

std::optional<std::vector<std::int64_t>> MaskRows::visible(std::int64_t row) {
    Parts& parts = *parts_;
    if (parts.all > kLargestGrid) return std::nullopt;
    std::vector<std::int64_t> columns;
    for (std::int64_t column = 0; parts.pairs && column < parts.all; ++column)
        if (parts.pairs->visible(parts.number, row, column)) columns.push_back(column);
    if (parts.pairs) return columns;
    for (auto query = parts.queries.rbegin(); query != parts.queries.rend(); ++query) {
        parts.at[*query] = row % parts.extent(*query);
        row /= parts.extent(*query);
    }
    const auto maps = parts.counter.maps(parts.at);
    if (!maps) return std::nullopt;
    // One condition, of every column, is read off at once.
    const std::vector<index::TileState>* one = maps->size() == 1 ? &maps->front().states : nullptr;
    if (one != nullptr && parts.keys.size() == 1 && std::ssize(*one) == parts.all) {
        const std::vector<index::TileState>& states = *one;
        for (auto at = states.begin();
             (at = std::find(at, states.end(), index::TileState::Full)) != states.end(); ++at)
            columns.push_back(at - states.begin());
        return columns;
    }
    MapReader reader(parts.keys, parts.columns, 0);
    for (std::int64_t column = 0; column < parts.all; ++column) {
        reader.set_column(column);
        if (std::all_of(maps->begin(), maps->end(), [&](const index::TileMap& map) {
                return reader.state(map) == index::TileState::Full;
            }))
            columns.push_back(column);
    }
    return columns;
}

std::vector<index::Tiling> single_indices(const MaskReport& report) {
    std::vector<index::Tiling> tilings = report.tilings;
    for (index::Tiling& tiling : tilings) tiling.size = 1;
    return tilings;
}

}  // namespace napkin
