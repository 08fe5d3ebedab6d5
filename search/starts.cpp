#include "search/starts.h"

#include <algorithm>
#include <cmath>

#include "diagrams/contains.h"
#include "search/kernels.h"

namespace napkin {
namespace {

/// Rewritten diagrams that are searched, at most.
constexpr std::size_t kMostRewritten = 4;

Command about(const char* rule, const std::string& array) {
    Command command;
    command.rule = rule;
    command.names = {array};
    return command;
}

/// Whether a fold of a rewritten diagram has the axes of a statement but for some of its result.
bool is_smaller(const Diagram& rewritten, const Statement& fold, const std::vector<AxisId>& folded,
                const std::vector<AxisId>& kept) {
    if (folded_axes(fold) != folded) return false;
    const std::vector<AxisId>& own = rewritten[fold.targets.front()].axes;
    return own.size() < kept.size() &&
           std::all_of(own.begin(), own.end(), [&](AxisId axis) { return contains(kept, axis); });
}

std::optional<Start> multiplied_out(const State& plain, const Statement& statement) {
    const Array& target = plain.diagram[statement.targets.front()];
    if (!std::holds_alternative<Fold>(statement.body) || !target.named) return std::nullopt;
    const std::vector<Command> commands{about("distribute", target.name),
                                        about("unfuse", target.name)};
    std::optional<State> state = after(plain, commands);
    if (!state) return std::nullopt;
    const auto& statements = state->diagram.statements;
    const bool helps =
        std::any_of(statements.begin(), statements.end(), [&](const Statement& each) {
            return std::holds_alternative<Fold>(each.body) &&
                   is_smaller(state->diagram, each, folded_axes(statement), target.axes);
        });
    if (!helps) return std::nullopt;
    return Start{commands, std::move(*state), false};
}

/// Whether an index along the axis is asked for its part or remainder by a number, and by which.
std::optional<std::int64_t> parted_by(const Diagram& diagram, AxisId axis) {
    std::optional<std::int64_t> found;
    const auto look = [&](const Expression& node) {
        const Apply* call = std::get_if<Apply>(&node.node);
        if (found || call == nullptr ||
            (call->function != Function::FloorDivide && call->function != Function::Modulo))
            return;
        const AxisIndex* index = std::get_if<AxisIndex>(&call->arguments[0].node);
        const double* by = literal(call->arguments[1]);
        const auto extent = static_cast<double>(diagram[axis].extent);
        const bool divides =
            by != nullptr && *by > 1 && *by < extent && std::fmod(extent, *by) == 0;
        if (index != nullptr && index->axis == axis && divides)
            found = static_cast<std::int64_t>(*by);
    };
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement)) walk(*expression, look);
    return found;
}

/// With every axis split whose parts or remainders are told apart: group scales, and the classes of
/// dilated masks, are axes of their own then.
std::optional<Start> split_up(const State& plain) {
    std::vector<Command> commands;
    State state = plain;
    for (std::size_t i = 0; i < plain.diagram.axes.size(); ++i) {
        const Axis& axis = plain.diagram.axes[i];
        const auto by = parted_by(plain.diagram, AxisId{static_cast<std::uint32_t>(i)});
        if (!by) continue;
        Command split = about("split-axis", axis.name);
        split.as = {axis.name + "_in"};
        split.size = *by;
        std::optional<State> next = after(state, {split});
        if (!next) continue;
        state = *std::move(next);
        commands.push_back(std::move(split));
    }
    if (commands.empty()) return std::nullopt;
    return Start{commands, std::move(state), false};
}

}  // namespace

std::optional<Start> start_of_parts(const Diagram& diagram) {
    Start start{{}, initial_state(diagram), false};
    for (const Box& box : diagram.boxes) {
        const Command unfuse =
            about("unfuse", diagram[diagram[box.statements.back()].targets.front()].name);
        std::optional<State> next =
            box.statements.size() > 1 ? after(start.state, {unfuse}) : std::nullopt;
        if (!next) continue;
        start.state = *std::move(next);
        start.commands.push_back(unfuse);
    }
    if (start.commands.empty()) return std::nullopt;
    return start;
}

std::vector<Start> starts_of(const Diagram& diagram) {
    const State plain = initial_state(diagram);
    std::vector<Start> starts{{{}, plain, false}};
    if (std::optional<Start> start = split_up(plain)) starts.push_back(*std::move(start));
    for (const Statement& statement : diagram.statements) {
        if (starts.size() > kMostRewritten) break;
        if (std::optional<Start> start = multiplied_out(plain, statement))
            starts.push_back(std::move(*start));
    }
    return starts;
}

}  // namespace napkin
