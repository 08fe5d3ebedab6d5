#include "search/predict.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "derive/tile_program.h"
#include "perfmodel/kernel_choice.h"
#include "search/kernels.h"
#include "search/moves.h"

namespace napkin {
namespace {

/// A processor whose threads each have more registers, as many of them as there are now.
Machine more_registers(Machine machine, const KernelWork& work, std::int64_t resident,
                       std::int64_t registers) {
    const double bytes = 4 * static_cast<double>(registers);
    const double threads = 32 * static_cast<double>(work.warps * resident);
    for (const auto& [key, more] :
         {std::pair{"thread.capacity", bytes}, std::pair{"processor.registers", bytes * threads}})
        if (const auto found = machine.figures.find(key); found != machine.figures.end())
            found->second.value += more;
    return machine;
}

Alternative predicted(std::string change, std::vector<Command> commands, Outcome outcome,
                      const Setup& setup) {
    Alternative alternative{std::move(change), std::move(commands), {}, {}, {}};
    if (const NotApplicable* why = std::get_if<NotApplicable>(&outcome)) {
        alternative.refusal = why->reason;
        return alternative;
    }
    alternative.state = std::get<State>(std::move(outcome));
    auto prediction = predict(*alternative.state, setup);
    if (const NotApplicable* why = std::get_if<NotApplicable>(&prediction))
        alternative.refusal = why->reason;
    else
        alternative.prediction = std::get<Prediction>(std::move(prediction));
    return alternative;
}

Outcome replayed(const Diagram& plain, std::span<const Command> commands) {
    Outcome outcome = initial_state(plain);
    for (const Command& command : commands) {
        if (command.rule == "set") continue;
        outcome = apply(std::get<State>(outcome), command);
        if (std::holds_alternative<NotApplicable>(outcome)) break;
    }
    return outcome;
}

/// Whether one is worth more than another: it fits, and then it is faster.
bool is_better(const Alternative& a, const Alternative& b) {
    const auto rank = [](const Alternative& each) {
        return !each.prediction ? 2 : each.prediction->fits() ? 0 : 1;
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a.prediction && a.prediction->time.middle() < b.prediction->time.middle();
}

}  // namespace

Setup with_shared_memory(Setup setup, double bytes) {
    for (const char* key : {"block.capacity", "block.per_processor"})
        if (const auto found = setup.machine.figures.find(key);
            found != setup.machine.figures.end())
            found->second.value += bytes;
    return setup;
}

Prediction with_registers(Prediction prediction, const Setup& setup, std::int64_t registers) {
    prediction.missing_registers -= registers;
    Machine machine = setup.machine;
    for (const RegionCost& region : prediction.cost.regions)
        if (region.work && region.work->groups == 0)
            machine = more_registers(std::move(machine), *region.work,
                                     time_of(region, setup.machine).resident, registers);
    prediction.time = time_of(prediction.cost, machine);
    return prediction;
}

bool is_faster(Seconds time, Seconds than) {
    constexpr double kNoticed = 0.002;
    return time.value < (1 - kNoticed) * than.value;
}

std::string Prediction::why_not() const {
    if (!excesses.empty()) return "does not fit: " + describe(excesses.front());
    if (missing_registers > 0)
        return "spills: a thread lacks " + std::to_string(missing_registers) + " registers";
    return {};
}

std::variant<Prediction, NotApplicable> predict(const State& state, const Setup& setup) {
    const auto in_words = [](const Diagnostics& problems) {
        return NotApplicable{problems.list.front().message, problems.list.front().help};
    };
    const Result<TileProgram> program = expand(state, OpaqueBoxes::Keep);
    if (!program) return in_words(program.error());
    const Result<WantedKernels> wanted =
        WantedKernels::of(state, kernels_for(setup.machine, setup.target), setup.schedules);
    if (!wanted) return in_words(wanted.error());
    Prediction prediction;
    std::vector<RegionCost> regions;
    for (const RegionProgram& region : program->regions) {
        Result<RegionCost> cost = quick_cost_of(region);
        if (!cost) return in_words(cost.error());
        add_work(region, (*wanted)(region.name), *cost);
        if (cost->refused) return NotApplicable{cost->refused->reason, cost->refused->help};
        for (Excess& excess : excesses_of(*cost, setup.machine))
            prediction.excesses.push_back(std::move(excess));
        if (cost->work)
            prediction.missing_registers =
                std::max(prediction.missing_registers, cost->work->missing_registers);
        regions.push_back(std::move(cost).value());
    }
    prediction.cost.regions = std::move(regions);
    prediction.time = time_of(prediction.cost, setup.machine);
    if (!prediction.time.is_known())
        return NotApplicable{prediction.why_not(), "group or stream in smaller tiles"};
    return prediction;
}

std::vector<Alternative> neighbours_of(const Diagram& plain, std::span<const Command> commands,
                                       const Setup& setup) {
    std::vector<Alternative> all;
    for (std::size_t at = 0; at < commands.size(); ++at) {
        const Command& command = commands[at];
        if ((command.rule != "group" && command.rule != "stream") || !command.size) continue;
        const auto axis = find_axis(plain, command.names.front());
        if (!axis) continue;
        std::vector<std::int64_t> sizes = sizes_beside(*command.size, plain[*axis].extent);
        const std::set<std::int64_t> once(sizes.begin(), sizes.end());
        for (const std::int64_t size : once) {
            std::vector<Command> changed(commands.begin(), commands.end());
            changed[at].size = size;
            changed[at].comment.clear();
            Outcome outcome = replayed(plain, changed);
            const std::string change = print(changed[at]);
            all.push_back(predicted(change, std::move(changed), std::move(outcome), setup));
        }
    }
    return all;
}

std::vector<Alternative> further_moves(const State& state, const Setup& setup) {
    std::vector<std::size_t> regions(state.relabelling.regions.size());
    std::iota(regions.begin(), regions.end(), std::size_t{0});
    std::vector<Alternative> all;
    for (const MoveFamily& family : moves_from(state, regions)) {
        std::optional<Alternative> best;
        for (const Move& move : family.variants) {
            if (move.size() != 1 || !family.tells_why_not) continue;
            const Command& command = move.front();
            if (command.rule != "fuse" && command.rule != "stream") continue;
            Alternative alternative = predicted(print(move), {}, apply(state, command), setup);
            if (!best || is_better(alternative, *best)) best = std::move(alternative);
        }
        if (best) all.push_back(std::move(*best));
    }
    return all;
}

}  // namespace napkin
