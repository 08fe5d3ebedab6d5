#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagrams/nearest.h"
#include "diagrams/result.h"
#include "schedule/defer_saves.h"
#include "schedule/finishes.h"
#include "schedule/form.h"
#include "schedule/form_agents.h"
#include "schedule/guarded_maxima.h"
#include "schedule/idle_folds.h"
#include "schedule/place.h"
#include "schedule/rotate_loops.h"
#include "schedule/stages.h"
#include "schedule/stale_gauges.h"
#include "schedule/straight_reads.h"
#include "schedule/synchronise.h"
#include "schedule/take_turns.h"
#include "schedule/tile_loop.h"
#include "schedule/verify.h"

namespace napkin::schedule {
namespace {

/// Stages of the rings that copies fill: what hides a copy's latency, or fewer where they do not
/// fit; where a product's result is the operand of the next, work enough lies between two chunks,
/// and so it does where warps compute a left operand themselves, between their products. Where the
/// next chunk is looked for first, and lies anywhere, it does not (strided heads on an H200: 409 us
/// with four stages, 499 with two).
std::int64_t most_stages(const Program& program, const Plan& plan, const Limits& limits) {
    if (!program.lists.empty()) return 4;
    const bool chained =
        std::any_of(plan.products.begin(), plan.products.end(), [&](const auto& entry) {
            const Product& product = entry.second;
            const auto& left = product.left.direct;
            if (!left || plan.tiles.at(*left).home != Home::Fragment) return false;
            return !limits.warp_groups ||
                   std::any_of(plan.products.begin(), plan.products.end(), [&](const auto& other) {
                       return other.second.column == product.depth;
                   });
        });
    return chained ? 2 : 4;
}

/// A program after each pass, as far as they went.
using Passes = std::vector<std::pair<std::string_view, Program>>;
using Made = std::variant<Passes, Refusal>;

const Program& program_of(const Made& made) {
    return std::get<Passes>(made).back().second;
}

/// A program whose rings have their stages, and then with every buffer in its place.
struct Staged {
    Program program;
    Program placed;
};

/// With so many stages where none are chosen.
std::variant<Staged, Refusal> staged(Program program, std::int64_t stages, std::int64_t of_tiles,
                                     const RegionSchedule& wanted) {
    set_tile_stages(program, of_tiles, wanted.stages);
    if (std::optional<Refusal> refusal = set_stages(program, stages, wanted.stages))
        return *std::move(refusal);
    Program placed = program;
    place(placed);
    return Staged{std::move(program), std::move(placed)};
}

/// The same, with what the next tile needs early where it fits.
std::variant<Staged, Refusal> staged(const Program& program, std::int64_t stages,
                                     const RegionSchedule& wanted, const Limits& limits) {
    std::variant<Staged, Refusal> made = staged(program, stages, 2, wanted);
    const Staged* early = std::get_if<Staged>(&made);
    if (early == nullptr || early->placed.shared_bytes <= limits.shared_memory ||
        tile_rings(program).empty())
        return made;
    return staged(program, stages, 1, wanted);
}

/// Whether two blocks' results of products find room in a processor's registers: warp groups hold
/// many, and copy with as many threads.
bool registers_for_two(const Program& program, const Limits& limits) {
    if (!limits.warp_groups) return true;
    constexpr std::int64_t kWords = 88;  // of a thread, of the 128 that two such blocks leave
    std::set<BufferId> results;
    for (const Op& op : program.ops)
        if (op.kind == Op::Kind::Multiply || op.kind == Op::Kind::Accumulate)
            results.insert(op.writes.front());
    std::int64_t words = 0;
    for (const BufferId buffer : results) words += program[buffer].bytes / 4;
    return words <= kWords;
}

/// As many stages as fit: of blocks with few warps, into half of the memory, so that two of them
/// hide each other's latencies.
std::variant<Staged, Refusal> with_stages(const Program& program, const Plan& plan,
                                          const RegionSchedule& wanted, const Limits& limits) {
    constexpr int kFewThreads = 128;
    constexpr std::int64_t kReserved = 1024;  // bytes of every block, by the hardware
    const std::int64_t half = limits.shared_memory / 2 - kReserved;
    if (const auto all = wanted.stages.find(""); all != wanted.stages.end())
        return staged(program, all->second, wanted, limits);
    std::int64_t stages = most_stages(program, plan, limits);
    std::variant<Staged, Refusal> made = staged(program, stages, wanted, limits);
    const auto takes_more = [&](std::int64_t bytes) {
        const Staged* found = std::get_if<Staged>(&made);
        return found != nullptr && found->placed.shared_bytes > bytes;
    };
    const auto fewer_than = [&](std::int64_t least, std::int64_t bytes) {
        while (stages > least && takes_more(bytes))
            made = staged(program, --stages, wanted, limits);
    };
    if (plan.threads() <= kFewThreads && registers_for_two(program, limits)) fewer_than(2, half);
    fewer_than(1, limits.shared_memory);
    return made;
}

Made with_leads(const RegionProgram& region, const Plan& plan, const RegionSchedule& wanted,
                const Limits& limits, bool leads) {
    Passes passes;
    passes.emplace_back("form", form(region, plan, limits));
    if (limits.warp_groups)
        passes.emplace_back("form_agents", form_agents(passes.back().second, region, plan, limits));
    std::variant<Program, Refusal> rotated =
        rotate_loops(passes.back().second, wanted, leads, limits.deadline);
    if (Refusal* refusal = std::get_if<Refusal>(&rotated)) return std::move(*refusal);
    passes.emplace_back("rotate", std::get<Program>(std::move(rotated)));
    std::variant<Program, Refusal> deferred =
        defer_saves(passes.back().second, region, plan, wanted);
    if (Refusal* refusal = std::get_if<Refusal>(&deferred)) return std::move(*refusal);
    passes.emplace_back("defer_saves", std::get<Program>(std::move(deferred)));
    std::variant<Staged, Refusal> made = with_stages(passes.back().second, plan, wanted, limits);
    if (Refusal* refusal = std::get_if<Refusal>(&made)) return std::move(*refusal);
    Staged& staged = std::get<Staged>(made);
    passes.emplace_back("stages", std::move(staged.program));
    passes.emplace_back("place", std::move(staged.placed));
    return passes;
}

/// Whether each result is saved through shared memory; of those of which nothing is said, none.
Plan least_staged(const RegionProgram& region, const RegionSchedule& wanted, Plan plan) {
    std::erase_if(plan.staged, [&](ArrayId array) {
        return !choice_of(wanted.staged, region.arrays[array.index()].name).value_or(false);
    });
    return plan;
}

/// What the plan and the program say, as choices.
RegionSchedule choices_of(const RegionProgram& region, const Plan& plan, const Passes& passes,
                          const RegionSchedule& wanted, const Limits& limits) {
    const Program& program = passes.back().second;
    RegionSchedule choices;
    choices.warps = 0;
    for (const Agent& agent : program.agents)
        if (agent.job != Agent::Job::Load) *choices.warps += agent.warps;
    choices.warps_down = plan.warps_down;
    choices.warps_across = plan.warps_across;
    if (limits.warp_groups && plan.warps_across > 1) choices.repeated = plan.repeated;
    if (limits.warp_groups) choices.persistent = plan.persistent;
    choices.turns = wanted.turns;
    choices.resident = wanted.resident;
    choices.band = wanted.band;
    const ProgramNames names = names_of(program);
    for_rotated(program.body, [&](const ChunkLoop& loop) {
        std::int64_t place = 0;
        for (const Item& item : loop.body) {
            const OpId* id = std::get_if<OpId>(&item.node);
            if (id == nullptr) continue;
            const Op& op = program[*id];
            if (!wanted.order.empty() && op.kind != Op::Kind::Copy)
                choices.order[names.ops[id->index()]] = place++;
            if (op.most_lead > 0) choices.leads[names.ops[id->index()]] = op.lead - op.lag;
            if (const std::string& product = names.products[id->index()];
                op.fetchable && !product.empty())
                choices.fetched[product] = op.portion == Op::Portion::Head;
        }
    });
    for (const auto& rings : {copied_rings(program), tile_rings(program)})
        for (const BufferId ring : rings)
            choices.stages[names.buffers[ring.index()]] = program[ring].stages;
    if (!wanted.stale.empty() && region.accumulator)
        for (const Gauge& gauge : gauges_of(*region.accumulator)) {
            const std::string& name = region.arrays[gauge.state.index()].name;
            choices.stale[name] =
                std::any_of(plan.stale.begin(), plan.stale.end(),
                            [&](const StaleGauge& stale) { return stale.name == name; });
        }
    for (const ArrayId array : plan.stageable)
        choices.staged[region.arrays[array.index()].name] = plan.staged.contains(array);
    const auto rotated = std::find_if(passes.begin(), passes.end(),
                                      [](const auto& pass) { return pass.first == "rotate"; });
    for (const ArrayId array : deferrable(rotated->second, region, plan))
        choices.deferred[region.arrays[array.index()].name] = is_deferred(program, region, array);
    return choices;
}

/// A choice for something that is not there.
std::optional<Refusal> why_no_such(const RegionSchedule& wanted, const RegionSchedule& choices) {
    const std::vector<Setting> all = settings_of(choices);
    for (const Setting& setting : settings_of(wanted)) {
        std::vector<std::string> names;
        for (const Setting& chosen : all)
            if (chosen.name.field == setting.name.field) names.push_back(chosen.name.of);
        const bool known = std::find(names.begin(), names.end(), setting.name.of) != names.end();
        if (known || setting.name.of.empty()) continue;
        if (names.empty())
            return Refusal{"there is nothing of which it could be chosen", "", setting.name};
        const std::optional<std::string> near = nearest(setting.name.of, names);
        return Refusal{fmt::format("it can be chosen of `{}`", fmt::join(names, "`, `")),
                       near ? fmt::format("did you mean `{}`?", *near) : "", setting.name};
    }
    return std::nullopt;
}

/// What a block may take where so many share a multiprocessor, which keeps some for each.
Limits shared_by(std::int64_t resident, Limits limits) {
    constexpr std::int64_t kReserved = 1024;
    constexpr std::int64_t kUnit = 128;
    const std::int64_t part =
        (limits.shared_memory + kReserved) / std::max<std::int64_t>(resident, 1);
    limits.shared_memory = std::max<std::int64_t>(part - kReserved, 0) / kUnit * kUnit;
    return limits;
}

Limits limits_with(const RegionSchedule& wanted, const Limits& limits) {
    return wanted.resident ? shared_by(*wanted.resident, limits) : limits;
}

std::variant<Scheduled, Refusal> schedule_once(const TiledRegion& tiled,
                                               const RegionSchedule& wanted, const Limits& whole) {
    const Limits limits = limits_with(wanted, whole);
    const RegionProgram& region = tiled.region;
    std::variant<Plan, Refusal> planned = make_plan(tiled, limits, wanted);
    if (Refusal* refusal = std::get_if<Refusal>(&planned)) return std::move(*refusal);
    const Plan& plan = std::get<Plan>(planned);
    Plan single = plan;
    single.persistent = wanted.persistent.value_or(false);
    const Plan plain = least_staged(region, wanted, single);
    std::optional<Refusal> refusal;
    const Plan* chosen = nullptr;
    Passes passes;
    bool fitting = false;
    // What costs least to do without goes first: blocks of several tiles, turns that lead, then
    // saves in whole vectors. Turns that lead cost more where copies then wait for their end.
    std::vector<std::pair<const Plan*, bool>> ways = {{&plan, true}};
    if (single.persistent != plan.persistent) ways.emplace_back(&single, true);
    ways.emplace_back(&single, false);
    if (plain.staged != single.staged) ways.emplace_back(&plain, false);
    for (const auto& [choice, leads] : ways) {
        if (fitting && choice == &plain) break;
        Made made = with_leads(region, *choice, wanted, limits, leads);
        if (Refusal* why = std::get_if<Refusal>(&made)) {
            // Without turns that lead there would be nothing to defer.
            if (why->setting && why->setting->field == "deferred") return std::move(*why);
            if (!refusal) refusal = std::move(*why);
            continue;
        }
        const bool late = copies_late(program_of(made));
        const bool fits = program_of(made).shared_bytes <= limits.shared_memory;
        if (fitting && (late || !fits)) continue;
        chosen = choice;
        passes = std::get<Passes>(std::move(made));
        fitting = fits;
        if (fits && !late) break;
    }
    if (chosen == nullptr) return *std::move(refusal);
    if (limits.warp_groups && passes.back().second.rings.empty())
        return Refusal{"threads read what they work on themselves, and nothing is copied for them",
                       "", std::nullopt};
    const auto add = [&](std::string_view name, const auto& pass) {
        Program program = passes.back().second;
        pass(program);
        passes.emplace_back(name, std::move(program));
    };
    if (limits.warp_groups) add("add_finishes", add_finishes);
    add("synchronise", synchronise);
    if (limits.warp_groups) add("add_tokens", add_tokens);
    if (limits.warp_groups && wanted.turns.value_or(false)) {
        Program program = passes.back().second;
        if (std::optional<Refusal> why = take_turns(program)) return *std::move(why);
        passes.emplace_back("take_turns", std::move(program));
    }
    if (std::optional<Refusal> why = why_not_stale(passes.back().second, *chosen, wanted))
        return *std::move(why);
    RegionSchedule choices = choices_of(region, *chosen, passes, wanted, limits);
    if (std::optional<Refusal> unknown = why_no_such(wanted, choices)) return *std::move(unknown);
    return Scheduled{region, *chosen, std::move(choices), std::move(passes)};
}

/// Whether blocks of one warp group could share a multiprocessor, whose registers each of them
/// leaves idle; bulk copies bring what they work on.
bool could_share(const Program& program) {
    return !program.rings.empty() && program.agents.front().warps == kWarpsOfGroup &&
           std::any_of(
               program.rings.begin(), program.rings.end(),
               [&](const Ring& ring) { return program[ring.buffers.front()].stages > 1; }) &&
           std::all_of(program.rings.begin(), program.rings.end(),
                       [](const Ring& ring) { return ring.bulk; });
}

/// As many of such blocks as leave each two stages of what it streams, and as there are tiles for
/// on every multiprocessor.
std::variant<Scheduled, Refusal> schedule_shared(const TiledRegion& region,
                                                 const RegionSchedule& wanted,
                                                 const Limits& limits) {
    constexpr std::int64_t kMostShared = 3;
    constexpr std::int64_t kProcessors = 132;  // of an H100 and an H200
    std::variant<Scheduled, Refusal> made = schedule_once(region, wanted, limits);
    const Scheduled* alone = std::get_if<Scheduled>(&made);
    if (alone == nullptr || wanted.resident || !limits.warp_groups ||
        !could_share(alone->program()))
        return made;
    const std::int64_t of_processor = alone->plan.order.tiles / kProcessors;
    for (std::int64_t resident = std::min(kMostShared, of_processor); resident > 1; --resident) {
        RegionSchedule more = wanted;
        more.resident = resident;
        std::variant<Scheduled, Refusal> shared = schedule_once(region, more, limits);
        const Scheduled* found = std::get_if<Scheduled>(&shared);
        if (found != nullptr && could_share(found->program()) &&
            found->program().shared_bytes <= shared_by(resident, limits).shared_memory)
            return shared;
    }
    return made;
}

bool fits(const TiledRegion& region, const RegionSchedule& wanted, const Limits& limits) {
    const std::variant<Scheduled, Refusal> made = schedule_once(region, wanted, limits);
    const Scheduled* scheduled = std::get_if<Scheduled>(&made);
    return scheduled != nullptr &&
           scheduled->program().shared_bytes <= limits_with(wanted, limits).shared_memory;
}

/// The most stages of all rings that fit, fewer than were asked for.
std::string most_that_fit(const TiledRegion& region, RegionSchedule wanted, const Limits& limits) {
    std::int64_t fitting = 0;
    std::int64_t too_many = 1;
    for (const auto& [ring, chosen] : wanted.stages) too_many = std::max(too_many, chosen);
    while (too_many - fitting > 1) {
        const std::int64_t stages = (fitting + too_many) / 2;
        wanted.stages = {{"", stages}};
        (fits(region, wanted, limits) ? fitting : too_many) = stages;
    }
    return fitting > 0 ? fmt::format("at most {} fit", fitting)
                       : "not even one fits: choose smaller groups or chunks";
}

/// Which choice takes the memory that there is not: one without which the rest fits.
std::optional<Refusal> why_too_much(const TiledRegion& region, const RegionSchedule& wanted,
                                    const Limits& limits, std::int64_t bytes) {
    for (const char* field :
         {"stages", "leads", "order", "fetched", "persistent", "turns", "resident", "band",
          "deferred", "staged", "stale", "repeated", "warps", "warps_down", "warps_across"}) {
        const RegionSchedule rest = without(wanted, field);
        if (rest == wanted || !fits(region, rest, limits)) continue;
        const std::vector<Setting> settings = settings_of(wanted);
        const auto setting =
            std::find_if(settings.begin(), settings.end(),
                         [&](const Setting& each) { return each.name.field == field; });
        const bool stages = setting->name.field == "stages";
        return Refusal{fmt::format("a block would take {} bytes of shared memory, and has {}",
                                   bytes, limits_with(wanted, limits).shared_memory),
                       stages ? most_that_fit(region, wanted, limits)
                              : "leave it out, and the planner chooses",
                       setting->name};
    }
    return std::nullopt;
}

}  // namespace

RegionProgram simplified(RegionProgram region) {
    return with_straight_reads(with_guarded_maxima(without_idle_folds(std::move(region))));
}

std::variant<Scheduled, Refusal> schedule(const RegionProgram& region, const RegionSchedule& wanted,
                                          const Limits& limits) {
    const TiledRegion tiled = with_tile_axes(region);
    std::variant<Scheduled, Refusal> made = schedule_shared(tiled, wanted, limits);
    const bool asked = wanted != RegionSchedule{};
    if (Refusal* refusal = std::get_if<Refusal>(&made)) {
        if (!refusal->setting) return made;
        // Where the region does not fit at all, no choice is to blame.
        std::variant<Scheduled, Refusal> free = schedule_once(tiled, {}, limits);
        return std::holds_alternative<Refusal>(free) ? free : made;
    }
    const Program& program = std::get<Scheduled>(made).program();
    if (asked && program.shared_bytes > limits_with(wanted, limits).shared_memory)
        if (std::optional<Refusal> refusal =
                why_too_much(tiled, wanted, limits, program.shared_bytes))
            return *std::move(refusal);
    std::vector<std::string> faults = verify(program);
    for (std::string& fault : verify_products(program)) faults.push_back(std::move(fault));
    for (std::string& fault : verify_rings(program)) faults.push_back(std::move(fault));
    if (!faults.empty())
        throw InternalError(
            fmt::format("the schedule of {} is wrong: {}", region.name, faults.front()));
    return made;
}

}  // namespace napkin::schedule
