#include "tests/support/random_derivation.h"

#include <array>

namespace napkin::test {

namespace {

class CommandDrawer {
public:
    CommandDrawer(const State& state, std::mt19937_64& random) : state_(state), random_(random) {}

    Command draw() {
        // Weighted towards the rules that build kernels, so that a few steps get somewhere.
        constexpr std::array kRules = {"fuse",      "fuse",     "fuse",      "group",
                                       "group",     "stream",   "stream",    "ungroup",
                                       "unstream",  "recolour", "retype",    "split-axis",
                                       "join-axes", "unfuse",   "recompute", "split-stream"};
        Command command;
        command.rule = kRules[pick(kRules.size())];
        const std::string& rule = command.rule;
        if (rule == "fuse") fuse(command);
        if (rule == "unfuse") command.names = {region()};
        if (rule == "recolour") {
            command.names = {region()};
            command.at = "tensor-core";
        }
        if (rule == "recompute") {
            command.names = {array()};
            if (pick(2) == 0) command.in = region();
        }
        if (rule == "retype") {
            command.names = {array()};
            command.to = pick(2) == 0 ? "bf16" : "f16";
        }
        if (rule == "group" || rule == "stream" || rule == "ungroup" || rule == "unstream")
            site(command);
        if (rule == "split-stream") {
            command.in = region();
            command.names = {folded_axis(command.in)};
            command.size = 1 + static_cast<std::int64_t>(pick(6));
        }
        if (rule == "split-axis") {
            command.names = {axis()};
            command.as = {command.names.front() + "_in"};
            command.size = 1 + static_cast<std::int64_t>(pick(4));
        }
        if (rule == "join-axes") {
            command.names = {axis(), axis()};
            command.as = {command.names.front()};
        }
        return command;
    }

private:
    void fuse(Command& command) {
        if (pick(2) == 0) {
            command.names = {"all"};
            return;
        }
        command.names = {region(), region()};
    }
    void site(Command& command) {
        command.names = {axis()};
        if (command.rule == "group" || command.rule == "stream")
            command.size = 1 + static_cast<std::int64_t>(pick(6));
        command.at = pick(3) == 0 ? "l2" : "l1";
        command.in = region();
    }
    std::string axis() { return state_.diagram.axes[pick(state_.diagram.axes.size())].name; }
    /// An axis that the region folds, where it folds any.
    std::string folded_axis(const std::string& name) {
        std::vector<AxisId> folded;
        for (const Region& region : state_.relabelling.regions)
            if (region_name(state_.diagram, region) == name)
                for (StatementId id : region.statements)
                    for (AxisId axis : folded_axes(state_.diagram[id])) folded.push_back(axis);
        return folded.empty() ? axis() : state_.diagram[folded[pick(folded.size())]].name;
    }
    std::string array() { return state_.diagram.arrays[pick(state_.diagram.arrays.size())].name; }
    std::string region() {
        const std::vector<Region>& regions = state_.relabelling.regions;
        return region_name(state_.diagram, regions[pick(regions.size())]);
    }
    std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

    const State& state_;
    std::mt19937_64& random_;
};

}  // namespace

State random_derivation(const Diagram& diagram, std::mt19937_64& random, int steps,
                        RuleCounts& counts) {
    State state = initial_state(diagram);
    for (int i = 0; i < steps; ++i) {
        const Command command = CommandDrawer(state, random).draw();
        Outcome outcome = apply(state, command);
        if (State* next = std::get_if<State>(&outcome)) {
            ++counts.applied[command.rule];
            state = std::move(*next);
        } else {
            ++counts.refused[command.rule];
        }
    }
    return state;
}

}  // namespace napkin::test
