// How folds that are no products run: along fragments, across warps, or serially in every thread.
#include <fmt/format.h>

#include <algorithm>

#include "diagrams/contains.h"
#include "schedule/planner.h"

namespace napkin::schedule {
namespace {

bool among(const std::vector<AxisId>& axes, AxisId axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

void Planner::find_serial() {
    for (const auto& [leaf, compute] : computes_) {
        if (plan_.products.contains(leaf)) continue;
        const Fold* fold = std::get_if<Fold>(&compute->statement.body);
        if (fold != nullptr && !fold->every_prefix) find_serial(leaf, *compute, *fold);
    }
}

void Planner::find_serial(LeafId leaf, const Compute& compute, const Fold& fold) {
    std::vector<AxisId> along;
    for (const AxisId axis : fold.over) {
        if (axis == plan_.row) return;
        if (wide(axis)) along.push_back(axis);
    }
    const Home home = plan_.tiles.at(compute.targets.front()).home;
    const std::string& target = array_of(compute.targets.front()).name;
    if (home == Home::Matrix && !along.empty())
        return refuse(fmt::format("`{}` is folded along {} and has no index along `{}`, which its "
                                  "warps share",
                                  target, names(along), name(*plan_.row)),
                      apart(), narrowing(along, 1));
    if (home == Home::Shared || along.empty()) return;
    if (home == Home::Fragment) {
        Serial serial{along, std::nullopt, fold.values.front(), compute.reads};
        if (make_serial(leaf, serial)) plan_.serial[leaf] = std::move(serial);
    } else if (along.size() > 1) {
        // Threads share the longest axis that can be read so.
        std::stable_sort(along.begin(), along.end(), [&](AxisId a, AxisId b) {
            return plan_.extents.at(a) > plan_.extents.at(b);
        });
        for (const AxisId over : along) {
            Serial serial{{}, over, fold.values.front(), compute.reads};
            for (const AxisId axis : fold.over)
                if (wide(axis) && axis != over) serial.axes.push_back(axis);
            if (!make_serial(leaf, serial)) continue;
            plan_.serial[leaf] = std::move(serial);
            break;
        }
    } else {
        return;
    }
    if (plan_.serial.contains(leaf)) return;
    refuse(fmt::format("`{}` folds along {} at once what the block computes along {}", target,
                       names(along), along.size() == 1 ? "it" : "them"),
           "compute what it folds in a region of its own", narrowing(along, 1));
}

/// Replaces what threads hold along the serial axes by what it is computed from; false where that
/// cannot be.
bool Planner::make_serial(LeafId leaf, Serial& serial) {
    for (std::size_t i = 0; i < serial.reads.size(); ++i) {
        const VariableId variable = serial.reads[i];
        const ArrayId array = region_.variables[variable.index()].array;
        const std::vector<AxisId> axes = wide_axes(array);
        const Home home = loads_.contains(variable) ? Home::Device : plan_.tiles.at(variable).home;
        if (home == Home::Device || home == Home::Shared || home == Home::Matrix) continue;
        if (std::none_of(axes.begin(), axes.end(),
                         [&](AxisId axis) { return among(serial.axes, axis); }))
            continue;
        const Map* map = repeatable(variable, leaf);
        if (map == nullptr) return false;
        const Array& info = region_.arrays[array.index()];
        const Expression whole =
            info.rounds ? Expression{Convert{info.type, {map->value}}, {}} : map->value;
        const Expression plain = read_axes(array, info.axes);
        serial.value = rewrite(std::move(serial.value),
                               [&](Expression node) { return node == plain ? whole : node; });
        if (arrays_read(serial.value).contains(array)) return false;
        for (const auto& [other_leaf, other] : computes_)
            if (other->targets.front() == variable)
                for (const VariableId read : other->reads)
                    if (std::find(serial.reads.begin(), serial.reads.end(), read) ==
                        serial.reads.end())
                        serial.reads.push_back(read);
    }
    return true;
}

const Map* Planner::repeatable(VariableId variable, LeafId reader) const {
    const auto definitions = [&](VariableId of) {
        std::vector<LeafId> found;
        for (const auto& [leaf, compute] : computes_)
            if (compute->targets.front() == of) found.push_back(leaf);
        return found;
    };
    const std::vector<LeafId> own = definitions(variable);
    if (own.size() != 1 || loop_of_.at(own.front()) != loop_of_.at(reader)) return nullptr;
    const Compute& compute = *computes_.at(own.front());
    const Map* map = std::get_if<Map>(&compute.statement.body);
    if (map == nullptr) return nullptr;
    // What it reads must still be there.
    for (const VariableId read : compute.reads)
        if (definitions(read).size() > 1) return nullptr;
    return map;
}

/// Whether a loop in every thread reads a loaded array at any index.
bool Planner::read_serially(VariableId variable) const {
    const std::vector<AxisId> axes = wide_axes(region_.variables[variable.index()].array);
    return std::any_of(plan_.serial.begin(), plan_.serial.end(), [&](const auto& entry) {
        const Serial& serial = entry.second;
        return std::find(serial.reads.begin(), serial.reads.end(), variable) !=
                   serial.reads.end() &&
               std::any_of(axes.begin(), axes.end(),
                           [&](AxisId axis) { return among(serial.axes, axis); });
    });
}

/// Folds along the rows are over everything that the block holds.
void Planner::check_folds() {
    for (const auto& [leaf, compute] : computes_) {
        if (plan_.products.contains(leaf)) continue;
        if (is_ordered(compute->statement)) {
            check_ordered(*compute);
            continue;
        }
        const Fold* fold = std::get_if<Fold>(&compute->statement.body);
        if (fold == nullptr || !plan_.row || !wide(*plan_.row) || !among(fold->over, *plan_.row))
            continue;
        const std::string& target = array_of(compute->targets.front()).name;
        std::vector<AxisId> others;
        for (const AxisId axis : fold->over)
            if (axis != plan_.row && wide(axis)) others.push_back(axis);
        if (plan_.tiles.at(compute->targets.front()).home != Home::Thread)
            refuse(
                fmt::format("`{}` folds along `{}`, which warps share", target, name(*plan_.row)),
                apart(), narrowing({*plan_.row}, 16));
        else if (others.size() > 1)
            refuse(fmt::format("`{}` folds along {} at once", target,
                               names({*plan_.row, others[0], others[1]})),
                   apart(), narrowing(others, 1));
        plan_.across_warps = true;
    }
}

void Planner::refuse_ordered() {
    for (const auto& [leaf, compute] : computes_)
        if (is_ordered(compute->statement))
            refuse(fmt::format("`{}` is a {} beside a product",
                               array_of(compute->targets.front()).name,
                               is_scan(compute->statement) ? "scan" : "selection"));
}

/// Selections and scans go along columns that lie in memory, which the threads of a row share.
void Planner::check_ordered(const Compute& compute) {
    const AxisId over = folded_axes(compute.statement).front();
    if (!wide(over)) return;
    const bool scan = is_scan(compute.statement);
    const Home home = plan_.tiles.at(compute.targets.front()).home;
    const auto refuse_it = [&](std::string why) {
        refuse(fmt::format("`{}` is a {} along `{}`, {}", array_of(compute.targets.front()).name,
                           scan ? "scan" : "selection", name(over), std::move(why)),
               apart());
    };
    if (over == plan_.row) return refuse_it("which warps share");
    if (scan ? home != Home::Fragment : home != Home::Row && home != Home::Thread)
        return refuse_it(plan_.row ? fmt::format("and has no index along `{}`", name(*plan_.row))
                                   : "which runs along its columns");
    if (!lies_in_memory(over)) return refuse_it("whose neighbours are far apart in memory");
    if (scan) plan_.scanned.insert(over);
}

/// What threads hold in registers is read at their own rows and columns.
void Planner::check_reads() {
    for (const auto& [variable, place] : loads_)
        for (const Expression& index : place.load->gather)
            for (const ArrayId array : arrays_read(index))
                for (const auto& [leaf, compute] : computes_)
                    if (contains(compute->statement.targets, array))
                        refuse(fmt::format("`{}` is read where `{}` says, which it computes",
                                           region_.arrays[place.load->array.index()].name,
                                           region_.arrays[array.index()].name),
                               apart());
    for (const auto& [leaf, compute] : computes_)
        for (const VariableId variable : compute->reads) {
            const Tile& tile = plan_.tiles.at(variable);
            if (tile.home != Home::Row && tile.home != Home::Fragment) continue;
            const Array& array = array_of(variable);
            const ArrayId id = region_.variables[variable.index()].array;
            std::optional<Read> first;
            const auto check = [&](const Expression& node) {
                const Read* read = std::get_if<Read>(&node.node);
                if (read == nullptr || read->array != id) return;
                if (!first) first = *read;
                for (std::size_t d = 0; d < array.axes.size(); ++d) {
                    const AxisId axis = array.axes[d];
                    if (!wide(axis)) continue;
                    const AxisIndex* index = std::get_if<AxisIndex>(&read->index[d].node);
                    const bool is_held = axis == plan_.row || axis == tile.column;
                    if (is_held ? index == nullptr || index->axis != axis
                                : read->index[d] != first->index[d])
                        refuse(fmt::format("`{}` reads `{}` at an index of `{}` that another "
                                           "thread holds",
                                           array_of(compute->targets.front()).name, array.name,
                                           name(axis)),
                               apart());
                }
            };
            for (const Expression* expression : expressions_of(compute->statement))
                walk(*expression, check);
        }
}

}  // namespace napkin::schedule
