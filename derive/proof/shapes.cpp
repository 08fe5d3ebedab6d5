#include "derive/proof/shapes.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "derive/proof/limits.h"
#include "derive/proof/messages.h"
#include "derive/proof/small_sizes.h"
#include "derive/tile_program.h"
#include "diagrams/check.h"
#include "diagrams/rounding.h"

namespace napkin::proof {
namespace {

/// Whether the sizes leave what an axis is made of as it is: given, or as large as it was.
bool keeps_size(const Diagram& original, AxisId axis, const Sizes& fixed, const Sizes& sizes) {
    const auto size = sizes.find(original[axis].name);
    return size == sizes.end() || fixed.count(size->first) != 0 ||
           size->second == original[axis].extent;
}

/// What splits divide, followed back along the derivation, so that what an earlier split or a join
/// made can be split again.
struct Divisors {
    std::map<std::string, std::int64_t> axes;  ///< of the diagram: what has to divide their sizes
    std::vector<std::int64_t> parts;           ///< of each command: the small size of a split
};

/// A split's part is two, or twice what divides the part later, where it is as large. Of joined
/// axes the innermost is divided that does not keep its size.
Divisors divisors_of(const std::vector<Command>& commands,
                     const std::function<bool(const std::string&)>& keeps) {
    Divisors found{{}, std::vector<std::int64_t>(commands.size(), 1)};
    const auto divisor = [&](const std::string& axis) -> std::int64_t& {
        return found.axes.try_emplace(axis, 1).first->second;
    };
    for (std::size_t i = commands.size(); i-- > 0;) {
        const Command& command = commands[i];
        const bool splits = command.rule == "split-axis" && command.size;
        if ((!splits && command.rule != "join-axes") || command.as.size() != 1) continue;
        const std::int64_t later = std::exchange(divisor(command.as.front()), 1);
        if (splits) found.parts[i] = *command.size < 2 * later ? later : 2 * later;
        const auto divided = std::find_if_not(command.names.rbegin(), command.names.rend(), keeps);
        const std::string& name = divided == command.names.rend() ? command.names.back() : *divided;
        divisor(name) *= splits ? found.parts[i] : later;
    }
    return found;
}

/// Tile sizes in proportion: follows what splitting and joining make of the axes.
class TileScaler {
public:
    TileScaler(const Diagram& original, const Diagram& small, const Sizes& fixed,
               const SmallSizes& sizes, std::vector<std::int64_t> parts)
        : sizes_(sizes), parts_(std::move(parts)) {
        for (std::size_t i = 0; i < original.axes.size(); ++i) {
            const Axis& axis = original.axes[i];
            const bool fixes = fixed.count(axis.name) != 0;
            const bool keeps = fixes || axis.extent == small.axes[i].extent;
            axes_[axis.name] = {axis.extent, small.axes[i].extent, keeps};
        }
    }

    std::vector<Command> scaled(std::vector<Command> commands) {
        for (const Command& command : commands)
            if (command.size && !command.names.empty())
                tiles_[command.names.front()].insert(*command.size);
        for (std::size_t i = 0; i < commands.size(); ++i) scale(commands[i], parts_[i]);
        return commands;
    }

private:
    struct Scale {
        std::int64_t from = 1;
        std::int64_t to = 1;
        bool keeps = false;  ///< tile sizes and splits
    };

    void scale(Command& command, std::int64_t part) {
        if (command.rule == "join-axes") return join(command);
        if (!command.size || command.names.empty() || command.rule == "set") return;
        const auto axis = axes_.find(command.names.front());
        if (axis == axes_.end()) return;
        if (command.rule == "split-axis") return split(command, axis->second, part);
        if (!axis->second.keeps) command.size = tile(command.names.front(), *command.size);
    }

    /// A split's size becomes the part, which divides what make_divisible left; of axes that keep
    /// their size, and of groups of the diagram's own, it stays, where it divides.
    void split(Command& command, Scale& outer, std::int64_t part) {
        const std::int64_t size = std::max<std::int64_t>(*command.size, 1);
        const bool stays = outer.keeps || (sizes_.is_grouped(command.names.front()) &&
                                           size < outer.to && outer.to % size == 0);
        if (stays) part = size;
        command.size = part;
        if (command.as.size() == 1) axes_[command.as.front()] = {size, part, part == size};
        outer = {outer.from / size, outer.to / part, outer.keeps};
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

    const SmallSizes& sizes_;
    std::vector<std::int64_t> parts_;  ///< of each command: the size of a split
    std::map<std::string, Scale> axes_;
    std::map<std::string, std::set<std::int64_t>> tiles_;
};

/// Axes that the derivation splits get sizes that all splits of them divide; those whose sizes
/// others give, as in `axis e = d`, by sizes of the others. Those that have the size that they were
/// split at keep it: the taps of a filter reach no further than its input.
Divisors make_divisible(const Diagram& original, const std::vector<Command>& commands,
                        const Sizes& fixed, Sizes& sizes) {
    const auto keeps = [&](const std::string& name) {
        const std::optional<AxisId> axis = find_axis(original, name);
        if (!axis) return false;
        const std::vector<Symbol> symbols = symbols_of(original[*axis].size);
        return std::all_of(symbols.begin(), symbols.end(), [&](Symbol symbol) {
            return keeps_size(original, symbol.axis, fixed, sizes);
        });
    };
    Divisors divisors = divisors_of(commands, keeps);
    for (const auto& [name, divisor] : divisors.axes) {
        const std::optional<AxisId> axis = find_axis(original, name);
        if (!axis) continue;
        for (const Symbol symbol : symbols_of(original[*axis].size)) {
            if (keeps_size(original, symbol.axis, fixed, sizes)) continue;
            std::int64_t& size = sizes.at(original[symbol.axis].name);
            size = ceil_quotient(size, divisor) * divisor;
        }
    }
    return divisors;
}

/// The shape with the given sizes, which the diagram has, and commands; the diagnostics where a
/// step does not apply.
Result<Shape> shape_of(Diagram plain, const Sizes& sizes, std::vector<Command> commands) {
    Result<State> state = replay(plain, commands);
    if (!state) return state.error();
    return Shape{sizes, std::move(commands), std::move(plain), std::move(state).value()};
}

}  // namespace

Sizes Subject::given() const {
    Sizes all = fixed;
    all.insert(sizes.begin(), sizes.end());
    all.merge(sizes_in(commands));
    return all;
}

namespace {

/// Shapes at the sizes, one for each choice of tile sizes at which every step applies.
class ShapeMaker {
public:
    ShapeMaker(const Subject& subject, const Diagram& original)
        : subject_(subject), original_(original), small_(original, subject.fixed, subject.scale) {
        for (const Command& command : subject.commands)
            if (command.rule != "set") commands_.push_back(command);
    }

    Result<std::vector<Shape>> run() {
        for (SmallSizes::Candidate& candidate : small_.candidates())
            if (std::vector<Shape> shapes = shapes_at(candidate.sizes, candidate.most_places);
                !shapes.empty())
                return shapes;
        const auto is_well_formed = [&](const Sizes& sizes) {
            return check(subject_.sources, subject_.file, sizes).has_value();
        };
        for (SmallSizes::Candidate& candidate : small_.shrunk(is_well_formed))
            if (std::vector<Shape> shapes = shapes_at(candidate.sizes, candidate.most_places);
                !shapes.empty())
                return shapes;
        if (too_much_) return *too_much_;
        return messages::no_small_sizes(refused_);
    }

private:
    std::vector<Shape> shapes_at(Sizes sizes, double most_places) {
        const Divisors divisors = make_divisible(original_, commands_, subject_.fixed, sizes);
        const Result<Checked> small = check(subject_.sources, subject_.file, sizes);
        if (!small) return refuse(small.error());
        const Work work = work_of(small->diagram);
        if (work.places > most_places || is_too_much(work)) return {};
        std::vector<Shape> shapes;
        TileScaler scaler(original_, small->diagram, subject_.fixed, small_, divisors.parts);
        for (const std::vector<Command>& each : {scaler.scaled(commands_), commands_}) {
            if (!shapes.empty() && shapes.front().commands == each) continue;
            Result<Shape> shape = shape_of(small->diagram, sizes, each);
            if (!shape) {
                refuse(shape.error());
                continue;
            }
            // Tiles of the derivation's own sizes are mostly padding here: as many do without.
            const Result<TileProgram> program = expand(shape->state);
            if (program && is_too_much(work_of(*program))) continue;
            shapes.push_back(std::move(shape).value());
        }
        return shapes;
    }
    bool is_too_much(const Work& work) {
        const std::optional<Diagnostic> excess = excess_of(work);
        if (excess) too_much_ = excess;
        return excess.has_value();
    }
    std::vector<Shape> refuse(const Diagnostics& why) {
        if (refused_.empty()) refused_ = why.list.front().message;
        return {};
    }

    const Subject& subject_;
    const Diagram& original_;
    SmallSizes small_;
    std::vector<Command> commands_;  ///< but `set`
    std::string refused_;            ///< why the first sizes were
    std::optional<Diagnostic> too_much_;
};

}  // namespace

Result<std::vector<Shape>> choose_shapes(const Subject& subject) {
    const Result<Checked> original = check(subject.sources, subject.file, subject.given());
    if (!original) return original.error();
    if (Result<State> state = replay(original->diagram, subject.commands); !state)
        return state.error();
    return ShapeMaker(subject, original->diagram).run();
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
