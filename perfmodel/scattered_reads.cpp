#include "perfmodel/scattered_reads.h"

#include <algorithm>
#include <cmath>

#include "diagrams/memory_order.h"
#include "perfmodel/moved.h"
#include "schedule/neighbours.h"
#include "schedule/pairs.h"
#include "schedule/statements.h"

namespace napkin {
namespace {

using schedule::Home;

/// Elements that a thread has on their way at once (measured on an H200: sums of columns of 512 x
/// 512 rows).
constexpr double kTogether = 32;
/// Vectors, of which loops go on with so many at once.
constexpr double kVectorsTogether = 8;

}  // namespace

UnitWork ScatteredReads::reads(double of_thread, double apart, double lines,
                               double together) const {
    UnitWork work;
    work.own_trips = together == kVectorsTogether ? std::ceil(apart / together) : apart / together;
    work.own_instructions = apart;
    work.turns = of_thread * lines * warps();
    return work;
}

double ScatteredReads::columns(AxisId axis) const {
    return static_cast<double>(schedule::columns_of(plan_, axis).of_thread);
}

double ScatteredReads::warps() const {
    return static_cast<double>(plan_.warps_down * plan_.warps_across);
}

bool ScatteredReads::comes_one_by_one(const Load& load) const {
    const schedule::Tile& tile = plan_.tiles.at(load.target);
    const Array& array = region_.arrays[load.array.index()];
    if (plan_.has_products() || tile.home != Home::Fragment || array.axes.empty()) return false;
    const std::size_t last = innermost_dimension(array);
    if (!schedule::is_tiled(plan_.tile_axes, load)) return array.axes[last] != *tile.column;
    const schedule::TileAxis* columns = schedule::find_tile_axis(plan_.tile_axes, *tile.column);
    return load.gather[last] !=
           axis_index(columns == nullptr ? *tile.column : columns->parts.back().axis);
}

UnitWork ScatteredReads::loaded(const Load& load) const {
    const AxisId column = *plan_.tiles.at(load.target).column;
    Read read{load.array, {}};
    for (const AxisId axis : region_.arrays[load.array.index()].axes)
        read.index.push_back(axis_index(axis));
    const double of_thread = static_cast<double>(plan_.rows_of_thread()) * columns(column);
    return reads(of_thread, of_thread, lines_of(read, column), kTogether);
}

double ScatteredReads::lines_saved(const Save& save) const {
    const schedule::Tile& tile = plan_.tiles.at(save.source);
    const Array& array = region_.arrays[save.array.index()];
    if (array.axes.empty()) return 0;
    const AxisId innermost = array.axes[innermost_dimension(array)];
    if (plan_.has_products()) {
        // Of one index along the innermost axis every element lies in a line of its own.
        const bool is_alone =
            elements_.extent(innermost) == 1 && region_.axes[innermost.index()].extent > 1;
        return is_alone ? elements_.elements(region_.variables[save.source.index()].array) : 0;
    }
    if (tile.home != Home::Fragment) return 0;
    const schedule::TileAxis* columns = schedule::find_tile_axis(plan_.tile_axes, *tile.column);
    const AxisId fastest = columns == nullptr ? *tile.column : columns->parts.back().axis;
    if (innermost == fastest) return 0;
    Read read{save.array, {}};
    for (const AxisId axis : array.axes) read.index.push_back(axis_index(axis));
    const double of_thread =
        static_cast<double>(plan_.rows_of_thread()) * this->columns(*tile.column);
    return of_thread * lines_of(read, *tile.column) * warps();
}

/// Elements of a read that differ along these axes; what does not is read once.
double ScatteredReads::of_thread(const Compute& compute, const schedule::Serial* serial,
                                 const std::set<AxisId>& along) const {
    const schedule::Tile& target = plan_.tiles.at(compute.targets.front());
    double count = 1;
    if (plan_.row && along.contains(*plan_.row))
        count *= static_cast<double>(plan_.rows_of_thread());
    if (target.home == Home::Fragment && along.contains(*target.column))
        count *= columns(*target.column);
    if (serial == nullptr) return count;
    for (const AxisId axis : serial->axes)
        if (along.contains(axis)) count *= elements_.extent(axis);
    if (!serial->over) count /= static_cast<double>(plan_.sharers());
    if (serial->over && along.contains(*serial->over)) count *= columns(*serial->over);
    return count;
}

bool ScatteredReads::in_vectors(const Read& read, AxisId column) const {
    const Array& array = region_.arrays[read.array.index()];
    const std::size_t last = innermost_dimension(array);
    if (read.index[last] == axis_index(column)) return true;
    return schedule::keeps_vectors(region_, read.index[last], column, array.axes[last],
                                   plan_.vector, run_time_sizes());
}

std::vector<bool> ScatteredReads::run_time_sizes() const {
    std::vector<bool> run_time;
    for (const Axis& axis : region_.axes) run_time.push_back(axis.dynamic);
    return run_time;
}

UnitWork ScatteredReads::read_by(const Compute& compute, schedule::LeafId leaf) const {
    const auto found = plan_.serial.find(leaf);
    const schedule::Serial* serial = found == plan_.serial.end() ? nullptr : &found->second;
    std::vector<const Expression*> values = expressions_of(compute.statement);
    if (serial != nullptr) values = {&serial->value};
    const schedule::Tile& target = plan_.tiles.at(compute.targets.front());
    const Map* map = std::get_if<Map>(&compute.statement.body);
    std::optional<Expression> joined;
    if (map != nullptr && target.home == Home::Fragment) {
        joined = schedule::join_branches(region_, map->value, *target.column, plan_.vector,
                                         run_time_sizes());
        values = {&*joined};
    }
    std::optional<AxisId> lanes;
    if (target.home == Home::Fragment)
        lanes = target.column;
    else if (serial != nullptr)
        lanes = serial->over;
    UnitWork work;
    std::set<VariableId> counted;
    for (const Expression* value : values)
        walk(*value, [&](const Expression& part) {
            const Read* read = std::get_if<Read>(&part.node);
            if (read == nullptr || read->index.empty()) return;
            for (const VariableId variable : serial != nullptr ? serial->reads : compute.reads) {
                const auto tile = plan_.tiles.find(variable);
                if (region_.variables[variable.index()].array != read->array ||
                    tile == plan_.tiles.end() || tile->second.home != Home::Device)
                    continue;
                const double count =
                    of_thread(compute, serial, schedule::axes_along(plan_.tile_axes, part));
                const double vector =
                    target.home == Home::Fragment && in_vectors(*read, *target.column)
                        ? static_cast<double>(plan_.vector)
                        : 1;
                // Serial folds read vectors, others neighbours that the compiler may join.
                const double apart = count / vector;
                work += reads(apart, apart, lines_of(*read, lanes, shared_axis(serial)),
                              serial != nullptr && vector > 1 ? kVectorsTogether : kTogether);
                const auto bits = static_cast<double>(bits_of(tile->second.type));
                if (counted.insert(variable).second)
                    work.loaded += elements_.elements(*read) * bits / 8 * sectors_of(*read, bits);
            }
        });
    return work;
}

/// The axis along which threads share what a fragment's columns are folded from: the longest.
std::optional<AxisId> ScatteredReads::shared_axis(const schedule::Serial* serial) const {
    if (serial == nullptr || serial->over || plan_.sharers() == 1) return std::nullopt;
    return *std::max_element(serial->axes.begin(), serial->axes.end(), [&](AxisId a, AxisId b) {
        return elements_.extent(a) < elements_.extent(b);
    });
}

/// Bytes that memory gives for each that a block reads.
double ScatteredReads::sectors_of(const Read& read, double bits) const {
    const Array& array = region_.arrays[read.array.index()];
    const std::size_t last = innermost_dimension(array);
    const AxisId inner = array.axes[last];
    const double piece = elements_.neighbours(read.index[last], inner);
    return piece < static_cast<double>(region_.axes[inner.index()].extent)
               ? sector_share(piece, bits)
               : 1;
}

UnitWork ScatteredReads::of_operand(const Compute& compute, const Expression& operand,
                                    double count) const {
    UnitWork work;
    walk(operand, [&](const Expression& part) {
        const Read* read = std::get_if<Read>(&part.node);
        if (read == nullptr || read->index.empty()) return;
        const auto variable = schedule::variable_read(region_, compute, read->array);
        const auto tile = variable ? plan_.tiles.find(*variable) : plan_.tiles.end();
        const Array& array = region_.arrays[read->array.index()];
        const std::size_t last = innermost_dimension(array);
        const AxisId inner = array.axes[last];
        if (tile == plan_.tiles.end() || tile->second.home != Home::Device ||
            elements_.neighbours(read->index[last], inner) > 1 ||
            region_.axes[inner.index()].extent == 1)
            return;
        const auto bits = static_cast<double>(bits_of(tile->second.type));
        const double each = count / (kLanes * warps());
        work += reads(each, each, kLanes, kTogether);
        work.loaded += count * bits / 8 * sector_share(1, bits);
    });
    return work;
}

/// Lines of a cache in which the elements lie that a warp reads at once: of the lanes of a row, a
/// vector apart, and of the rows that share a warp.
double ScatteredReads::lines_of(const Read& read, std::optional<AxisId> along,
                                std::optional<AxisId> shared) const {
    constexpr double kLine = 128;  // bytes
    const Array& array = region_.arrays[read.array.index()];
    const auto stride = [&](AxisId axis) {
        double apart = static_cast<double>(bits_of(array.type)) / 8;
        for (std::size_t place = read.index.size(); place-- > 0;) {
            const std::size_t d = dimension_at(array, place);
            if (axes_used(read.index[d]).contains(axis)) return apart;
            apart *= static_cast<double>(region_.axes[array.axes[d].index()].extent);
        }
        return 0.0;
    };
    // Lanes that are `each` indices apart; those of a tile axis go along its last part first.
    const auto lines = [&](double lanes, AxisId axis, double each) {
        const schedule::TileAxis* tile = schedule::find_tile_axis(plan_.tile_axes, axis);
        std::vector<schedule::TilePart> parts;
        if (tile != nullptr) parts = tile->parts;
        if (parts.empty()) parts.push_back({axis, 0});
        double all = 1;
        while (!parts.empty()) {
            const double held = std::max(1.0, static_cast<double>(parts.back().extent) / each);
            const double here = parts.size() > 1 ? std::min(lanes, held) : lanes;
            all *= std::clamp(here * each * stride(parts.back().axis) / kLine, 1.0, here);
            lanes /= here;
            each = 1;
            parts.pop_back();
        }
        return all;
    };
    const double of_row = std::min(static_cast<double>(plan_.lanes_per_row), kLanes);
    double all = 1;
    const auto vector = static_cast<double>(plan_.vector);
    if (along)
        all *=
            lines(std::min(of_row, std::ceil(elements_.extent(*along) / vector)), *along, vector);
    if (plan_.row) all *= lines(kLanes / of_row, *plan_.row, 1);
    if (shared) all *= lines(kLanes / of_row, *shared, 1);
    return all;
}

}  // namespace napkin
