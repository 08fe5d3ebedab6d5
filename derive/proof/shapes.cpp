#include "derive/proof/shapes.h"

#include <algorithm>
#include <array>
#include <set>

#include "derive/proof/messages.h"
#include "diagrams/check.h"

namespace napkin::proof {
namespace {

// Axes up to this size stay as they are: a window, the taps of a filter.
constexpr std::int64_t kSmallEnough = 4;
// Elements that the statements of a shape may visit together; keeps a proof within milliseconds.
constexpr double kMostVisits = 6000;
// Beyond this no proof is tried.
constexpr double kMostWork = 4e6;
// Sizes for the others, in rising order; later lists are smaller.
using Ladder = std::array<std::int64_t, 6>;
constexpr std::array<Ladder, 4> kLadders = {
    {{7, 11, 13, 17, 19, 23}, {5, 7, 8, 9, 11, 13}, {5, 6, 7, 7, 8, 9}, {3, 5, 5, 6, 7, 7}}};

bool has_own_size(const Axis& axis) {
    return axis.size == symbol(axis.name);
}

double visits(const Diagram& diagram) {
    double sum = 0;
    for (const Statement& statement : diagram.statements) {
        double each = 1;
        for (const AxisId axis : axes_of(diagram, statement))
            each *= static_cast<double>(diagram[axis].extent);
        sum += each;
    }
    return sum;
}

/// Sizes from a ladder: in the order of the original ones, axes of one size apart where there is
/// room.
Sizes small_sizes(const Diagram& diagram, const Sizes& fixed, const Ladder& ladder) {
    std::vector<const Axis*> axes;
    Sizes sizes;
    for (const Axis& axis : diagram.axes) {
        if (!has_own_size(axis)) continue;
        const bool fixes = fixed.count(axis.name) != 0;
        const bool stays = fixes || (axis.extent <= kSmallEnough && !axis.woven);
        sizes[axis.name] = stays        ? axis.extent
                           : axis.woven ? std::min<std::int64_t>(axis.extent, 2)
                                        : 0;
        if (sizes[axis.name] == 0) axes.push_back(&axis);
    }
    std::stable_sort(axes.begin(), axes.end(),
                     [](const Axis* a, const Axis* b) { return a->extent < b->extent; });
    for (std::size_t i = 0; i < axes.size(); ++i)
        sizes[axes[i]->name] = std::min(axes[i]->extent, ladder[std::min(i, ladder.size() - 1)]);
    return sizes;
}

/// Tile sizes in proportion: follows what splitting and joining make of the axes.
class TileScaler {
public:
    TileScaler(const Diagram& original, const Diagram& small, const Sizes& fixed) {
        for (std::size_t i = 0; i < original.axes.size(); ++i) {
            const Axis& axis = original.axes[i];
            const bool keeps = fixed.count(axis.name) != 0 || axis.extent == small.axes[i].extent;
            axes_[axis.name] = {axis.extent, small.axes[i].extent, keeps};
        }
    }

    std::vector<Command> scaled(std::vector<Command> commands) {
        for (const Command& command : commands)
            if (command.size && !command.names.empty())
                tiles_[command.names.front()].insert(*command.size);
        for (Command& command : commands) scale(command);
        return commands;
    }

private:
    struct Scale {
        std::int64_t from = 1;
        std::int64_t to = 1;
        bool keeps = false;
    };

    void scale(Command& command) {
        if (command.rule == "join-axes") return join(command);
        if (!command.size || command.names.empty() || command.rule == "set") return;
        const auto axis = axes_.find(command.names.front());
        if (axis == axes_.end()) return;
        const std::int64_t size = *command.size;
        if (!axis->second.keeps) command.size = tile(command.names.front(), size);
        if (command.rule != "split-axis" || command.as.size() != 1) return;
        Scale& outer = axis->second;
        axes_[command.as.front()] = {size, *command.size, outer.keeps};
        outer = {outer.from / std::max<std::int64_t>(size, 1), outer.to / *command.size,
                 outer.keeps};
    }

    void join(const Command& command) {
        Scale joined{1, 1, true};
        for (const std::string& name : command.names) {
            const Scale& part = axes_[name];
            joined = {joined.from * part.from, joined.to * part.to, joined.keeps && part.keeps};
        }
        if (command.as.size() == 1) axes_[command.as.front()] = joined;
    }

    /// About a third of the axis, or with several nested sizes 1, 2, 4 times the innermost's.
    std::int64_t tile(const std::string& axis, std::int64_t size) {
        const Scale& scale = axes_[axis];
        if (size >= scale.from) return size;  // whole
        if (size == 1) return 1;
        const std::set<std::int64_t>& sizes = tiles_[axis];
        std::int64_t rank = 0;
        for (const std::int64_t each : sizes)
            if (each > 1 && each < size && each < scale.from) ++rank;
        const auto nested = static_cast<std::int64_t>(
            std::count_if(sizes.begin(), sizes.end(),
                          [&](std::int64_t each) { return each > 1 && each < scale.from; }));
        if (nested <= 1) return std::max<std::int64_t>(2, (scale.to + 2) / 3);
        return std::int64_t{1} << (nested == 2 ? rank + 1 : std::min<std::int64_t>(rank, 6));
    }

    std::map<std::string, Scale> axes_;
    std::map<std::string, std::set<std::int64_t>> tiles_;
};

/// Axes that the derivation splits get a size that two divides.
void make_divisible(const std::vector<Command>& commands, const Sizes& fixed, Sizes& sizes) {
    for (const Command& command : commands)
        if (command.rule == "split-axis" && !command.names.empty())
            if (const auto axis = sizes.find(command.names.front());
                axis != sizes.end() && fixed.count(axis->first) == 0 && axis->second % 2 != 0)
                ++axis->second;
}

/// A split's size becomes two, which divides what make_divisible left.
std::vector<Command> halved_splits(std::vector<Command> commands, const Sizes& fixed) {
    for (Command& command : commands)
        if (command.rule == "split-axis" && !command.names.empty() &&
            fixed.count(command.names.front()) == 0)
            command.size = std::min<std::int64_t>(command.size.value_or(2), 2);
    return commands;
}

}  // namespace

Result<Shape> shape_at(const Subject& subject, const Sizes& sizes, std::vector<Command> commands) {
    Result<Checked> checked = check(subject.sources, subject.file, sizes);
    if (!checked) return checked.error();
    Result<State> state = replay(checked->diagram, commands);
    if (!state) return state.error();
    return Shape{sizes, std::move(commands), std::move(checked->diagram), std::move(state).value()};
}

Sizes Subject::given() const {
    Sizes all = fixed;
    all.insert(sizes.begin(), sizes.end());
    all.merge(sizes_in(commands));
    return all;
}

Result<std::vector<Shape>> choose_shapes(const Subject& subject) {
    const Sizes given = subject.given();
    const Result<Checked> original = check(subject.sources, subject.file, given);
    if (!original) return original.error();
    if (Result<State> state = replay(original->diagram, subject.commands); !state)
        return state.error();
    std::vector<Command> commands = subject.commands;
    std::erase_if(commands, [](const Command& command) { return command.rule == "set"; });
    for (const Ladder& ladder : kLadders) {
        Sizes sizes = small_sizes(original->diagram, subject.fixed, ladder);
        make_divisible(commands, subject.fixed, sizes);
        const Result<Checked> small = check(subject.sources, subject.file, sizes);
        if (!small) continue;
        if (visits(small->diagram) > kMostVisits && &ladder != &kLadders.back()) continue;
        if (visits(small->diagram) > kMostWork) return messages::too_much_work(kMostWork);
        std::vector<Shape> shapes;
        const std::vector<Command> split = halved_splits(commands, subject.fixed);
        TileScaler scaler(original->diagram, small->diagram, subject.fixed);
        for (const std::vector<Command>& each : {scaler.scaled(split), commands}) {
            if (!shapes.empty() && shapes.front().commands == each) continue;
            if (Result<Shape> shape = shape_at(subject, sizes, each))
                shapes.push_back(std::move(shape).value());
        }
        if (!shapes.empty()) return shapes;
    }
    return messages::no_small_sizes();
}

Sizes sizes_that_count(const Subject& subject, const std::vector<Shape>& shapes) {
    const auto same = [](const Shape& a, const Shape& b) {
        return a.sizes == b.sizes && a.commands == b.commands;
    };
    Sizes counting = subject.fixed;
    for (bool fewer = true; fewer;) {
        fewer = false;
        for (const auto& [name, size] : Sizes(counting)) {
            Subject other = subject;
            other.sizes = subject.given();
            other.fixed = counting;
            other.fixed.erase(name);
            const Result<std::vector<Shape>> chosen = choose_shapes(other);
            if (!chosen ||
                !std::equal(shapes.begin(), shapes.end(), chosen->begin(), chosen->end(), same))
                continue;
            counting = other.fixed;
            fewer = true;
        }
    }
    return counting;
}

}  // namespace napkin::proof
