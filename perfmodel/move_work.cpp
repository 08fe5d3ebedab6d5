#include "perfmodel/move_work.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "diagrams/memory_order.h"
#include "perfmodel/moved.h"
#include "schedule/arrange_groups.h"
#include "schedule/own_copy.h"

namespace napkin {
namespace {

constexpr double kVector = 16;      ///< bytes of a copy or a store
constexpr double kPerVector = 4;    ///< instructions for one, addresses included
constexpr double kPerPiece = 24;    ///< for one whose place each thread has to find
constexpr double kPerMasked = 10;   ///< where shifts and masks find it
constexpr double kPerShifted = 28;  ///< for one that two are put together to, beside three others
constexpr double kPerElement = 10;  ///< for an element alone, and its place
constexpr double kLine = 128;       ///< bytes of a cache's line
constexpr double kPerLine = 4;      ///< turns for one that is moved for few of its bytes

}  // namespace

UnitWork MoveWork::of(const schedule::Op& op, const TileStatement& leaf) const {
    UnitWork work;
    const bool is_save = std::holds_alternative<Save>(leaf.node);
    const VariableId variable =
        is_save ? std::get<Save>(leaf.node).source : std::get<Load>(leaf.node).target;
    const auto bits = static_cast<double>(bits_of(region_.variables[variable.index()].type));
    const double bytes = elements_.elements(region_.variables[variable.index()].array) * bits / 8;
    if (op.kind != schedule::Op::Kind::Publish)
        (is_save ? work.saved : work.loaded) = sectors(leaf, bits) * bytes;
    const Load* load = std::get_if<Load>(&leaf.node);
    if (load != nullptr && scattered_.comes_one_by_one(*load))
        work += scattered_.loaded(*load);
    else if (load != nullptr && !op.box && op.kind == schedule::Op::Kind::Copy &&
             plan_.tiles.at(variable).home != schedule::Home::Fragment)
        add_own_copy(*load, bytes, program_.apart(op.id), work);
    else if (is_save && is_saved_one_by_one(op, variable))
        add_elements_saved(8 * bytes / bits, work);
    else if (!op.box)
        work.instructions = moves(variable, bits, bytes);
    const double scattered = is_save ? scattered_.lines_saved(std::get<Save>(leaf.node)) : 0;
    if (scattered > 0)
        work.turns += kPerLine * scattered;
    else if (!plan_.has_products())
        work.turns += kPerLine * lines_beyond(leaf, bits, bytes);
    for (const schedule::BufferId buffer : op.writes)
        if (program_[buffer].place == schedule::Buffer::Place::Shared) work.shared += bytes;
    return work;
}

bool MoveWork::is_saved_one_by_one(const schedule::Op& op, VariableId variable) const {
    if (!plan_.has_products() || op.kind != schedule::Op::Kind::Store || !op.writes.empty())
        return false;
    return plan_.tiles.at(variable).home == schedule::Home::Fragment &&
           std::none_of(op.reads.begin(), op.reads.end(), [&](schedule::BufferId buffer) {
               return program_[buffer].place == schedule::Buffer::Place::Shared;
           });
}

/// Of fragments, of which a warp's lanes hold neighbours in eight rows.
void MoveWork::add_elements_saved(double elements, UnitWork& work) {
    constexpr double kRows = 8;
    work.instructions = elements * kPerElement;
    work.turns += elements / kLanes * kRows;
}

double MoveWork::moves(VariableId variable, double bits, double bytes) const {
    const auto tile = plan_.tiles.find(variable);
    const bool rows = !plan_.has_products() && tile != plan_.tiles.end() &&
                      tile->second.home == schedule::Home::Fragment;
    const double together = rows ? static_cast<double>(plan_.vector) * bits / 8 : kVector;
    constexpr double kWord = 4;
    if (together < kWord) return bytes / together * kPerElement;
    return bytes / std::min(together, kVector) * kPerVector;
}

/// Elements that lie side by side along a dimension of the array in memory, of the reader with
/// most.
double MoveWork::side_by_side(const TileStatement& leaf, std::size_t dimension, AxisId axis) const {
    const Load* load = std::get_if<Load>(&leaf.node);
    if (load == nullptr) return elements_.extent(axis);
    if (!load->gather.empty()) return elements_.neighbours(load->gather[dimension], axis);
    double longest = 1;
    for (const Expression& index : load->index[dimension])
        longest = std::max(longest, elements_.neighbours(index, axis));
    return longest;
}

double MoveWork::lines_beyond(const TileStatement& leaf, double bits, double bytes) const {
    const Save* save = std::get_if<Save>(&leaf.node);
    const ArrayId id = save ? save->array : std::get<Load>(leaf.node).array;
    const VariableId variable = save ? save->source : std::get<Load>(leaf.node).target;
    const auto tile = plan_.tiles.find(variable);
    if (tile == plan_.tiles.end() || tile->second.home != schedule::Home::Fragment) return 0;
    const Array& array = region_.arrays[id.index()];
    double run = bits / 8;
    for (std::size_t i = array.axes.size(); i-- > 0 && run < kLine;) {
        const std::size_t d = dimension_at(array, i);
        const AxisId axis = array.axes[d];
        const double length = side_by_side(leaf, d, axis);
        run *= length;
        if (length < static_cast<double>(region_.axes[axis.index()].extent)) break;
    }
    return bytes / std::min(run, kLine) - bytes / kLine;
}

bool MoveWork::in_powers_of_two(const Load& load) const {
    const std::vector<AxisId>& axes =
        region_.arrays[region_.variables[load.target.index()].array.index()].axes;
    return std::all_of(axes.begin(), axes.end(), [&](AxisId axis) {
        const schedule::TileAxis* tile = schedule::find_tile_axis(plan_.tile_axes, axis);
        return tile == nullptr ||
               std::all_of(tile->parts.begin() + 1, tile->parts.end(),
                           [](const schedule::TilePart& part) {
                               return std::has_single_bit(static_cast<std::uint64_t>(part.extent));
                           });
    });
}

void MoveWork::add_own_copy(const Load& load, double bytes, bool apart, UnitWork& work) const {
    using How = schedule::OwnCopy::How;
    const schedule::OwnCopy copy = schedule::own_copy_of(region_, plan_, load);
    const double each = copy.how == How::Shifted    ? kPerShifted
                        : copy.how == How::Elements ? kPerElement
                        : copy.gathered ? (in_powers_of_two(load) ? kPerMasked : kPerPiece)
                                        : kPerVector;
    const double copies = bytes / static_cast<double>(copy.bytes);
    work.instructions = copies * each;
    const std::int64_t warps =
        apart ? schedule::kWarpsOfGroup : plan_.warps_down * plan_.warps_across;
    const double of_thread = copies / (kLanes * static_cast<double>(warps));
    const bool waits = copy.how != How::Vectors;
    if (apart || waits) work.own_instructions = of_thread * each;
    if (waits) work.own_trips = std::ceil(of_thread / kCopiesTogether);
}

double MoveWork::sectors(const TileStatement& leaf, double bits) const {
    const Save* save = std::get_if<Save>(&leaf.node);
    const std::optional<AxisId> along =
        axis_along(save ? napkin::moved_by(region_, *save)
                        : napkin::moved_by(region_, std::get<Load>(leaf.node)));
    if (!along) return 1;
    const double piece = elements_.extent(*along);
    if (piece >= static_cast<double>(region_.axes[along->index()].extent)) return 1;
    return sector_share(piece, bits);
}

}  // namespace napkin
