#include "search/starts.h"

#include <algorithm>

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

}  // namespace

std::vector<Start> starts_of(const Diagram& diagram) {
    const State plain = initial_state(diagram);
    std::vector<Start> starts{{{}, plain, false}};
    for (const Statement& statement : diagram.statements) {
        if (starts.size() > kMostRewritten) break;
        if (std::optional<Start> start = multiplied_out(plain, statement))
            starts.push_back(std::move(*start));
    }
    return starts;
}

}  // namespace napkin
