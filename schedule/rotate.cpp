#include "schedule/rotate.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "schedule/dependences.h"
#include "schedule/rotation_programs.h"

namespace napkin::schedule {
namespace {

class Search {
public:
    Search(const std::vector<RotationStep>& steps, const std::vector<RotationBuffer>& buffers,
           const RotationLimits& limits, Simulations& simulations)
        : steps_(steps),
          buffers_(buffers),
          limits_(limits),
          simulations_(simulations),
          dependences_(dependences_of(steps, buffers)),
          programs_(steps, dependences_, limits.barrier),
          before_(steps.size()) {
        for (std::size_t b = 0; b < buffers.size(); ++b) {
            uses_.push_back(use_of(steps, b));
            if (buffers[b].registers > 0 && !uses_[b].steps.empty()) note_holding(b);
        }
    }

    Rotation run() {
        find_bound();
        order_.resize(steps_.size());
        std::iota(order_.begin(), order_.end(), 0);
        leads_.assign(steps_.size(), 0);
        least_registers_ = registers();
        const bool is_open = std::none_of(steps_.begin(), steps_.end(), [](const auto& step) {
            return step.least_lead > 0 || step.place;
        });
        set_leads();
        if (is_open) try_order(true);
        std::int64_t most = 0;
        for (const RotationStep& step : steps_) most = std::max(most, step.most_lead);
        for (std::int64_t span = 0; span <= most; ++span) choose_leads(0, span);
        best_.complete = !is_over_;
        return best_;
    }

private:
    static constexpr double kSame = 1e-3;  // of intervals that count as equal

    /// A step at whose beginning or end a buffer is held, in halves of its place.
    struct Touch {
        std::size_t step = 0;
        std::int64_t begin = 0;
        std::int64_t end = 1;
    };
    struct Holding {
        std::int64_t registers = 0;
        std::vector<Touch> touches;
    };

    /// What a step reads is held at its beginning, what it writes at its end.
    void note_holding(std::size_t b) {
        if (uses_[b].carried) {
            always_held_ += buffers_[b].registers;
            return;
        }
        Holding holding{buffers_[b].registers, {}};
        for (const std::size_t step : uses_[b].steps) {
            const bool in_place = steps_[step].in_place;
            const bool written = in_place && !has(steps_[step].reads, b);
            const bool read = in_place && !has(steps_[step].writes, b);
            holding.touches.push_back({step, written ? 1 : 0, read ? 0 : 1});
        }
        holdings_.push_back(std::move(holding));
    }

    void find_bound() {
        for (const Unit unit : kUnits) {
            double clocks = 0;
            for (const RotationStep& step : steps_) clocks += step.cost.of(unit);
            clocks *= limits_.sharing.agents;
            if (clocks <= best_.bound) continue;
            best_.bound = clocks;
            best_.binds = unit;
        }
        const double recurrence = recurrence_bound(steps_, dependences_);
        if (recurrence > best_.bound) {
            best_.bound = recurrence;
            best_.binds.reset();
        }
    }

    /// All leads of which the largest is `span`.
    void choose_leads(std::size_t step, std::int64_t span) {
        if (is_over_) return;
        if (step == steps_.size()) {
            const auto [least, most] = std::minmax_element(leads_.begin(), leads_.end());
            if (steps_.empty() || *least != 0 || *most != span || !leads_possible()) return;
            order_.clear();
            set_leads();
            if (!may_win(0)) return;
            std::vector<bool> taken(steps_.size(), false);
            choose_order(taken);
            return;
        }
        const std::int64_t most = std::min(span, steps_[step].most_lead);
        for (leads_[step] = steps_[step].least_lead; leads_[step] <= most; ++leads_[step])
            choose_leads(step + 1, span);
    }

    /// What all orders with these leads have in common.
    void set_leads() {
        programs_.set_leads(leads_);
        for (std::vector<std::size_t>& before : before_) before.clear();
        for (const Dependence& edge : dependences_)
            if (edge.from != edge.to && slack(edge) <= 0) before_[edge.to].push_back(edge.from);
        lead_ = std::accumulate(leads_.begin(), leads_.end(), std::int64_t{0});
        bytes_ = memory();
        floor_ = programs_.floor_of(limits_.sharing);
        Sharing alone = limits_.sharing;
        alone.agents = 1;
        alone_floor_ = programs_.floor_of(alone);
    }

    /// Whether an order with these leads that holds so many registers may be better than the best
    /// so far, by what none of them goes below: few have to be simulated once one does not wait.
    [[nodiscard]] bool may_win(std::int64_t held) const {
        if (!found_) return true;
        if (floor_ > best_.interval * (1 + kSame)) return false;
        return floor_ < best_.interval * (1 - kSame) || alone_floor_ < best_alone_ * (1 - kSame) ||
               std::tuple(bytes_, lead_, false, held) <
                   std::tuple(best_bytes_, best_lead_, best_.turns, best_.registers);
    }

    /// How many turns after `from` its dependent runs at the earliest allowed; below 0 never.
    [[nodiscard]] std::int64_t slack(const Dependence& edge) const {
        return edge.distance - leads_[edge.to] + leads_[edge.from];
    }
    [[nodiscard]] bool leads_possible() const {
        return std::all_of(dependences_.begin(), dependences_.end(),
                           [&](const Dependence& edge) { return slack(edge) >= 0; });
    }

    /// Whether no step that is wanted before it is left.
    [[nodiscard]] bool in_place(std::size_t next, const std::vector<bool>& taken) const {
        for (std::size_t i = 0; steps_[next].place && i < steps_.size(); ++i)
            if (!taken[i] && steps_[i].place && *steps_[i].place < *steps_[next].place)
                return false;
        return true;
    }

    void choose_order(std::vector<bool>& taken) {
        if (order_.size() == steps_.size()) return try_order(false);
        for (std::size_t next = 0; next < steps_.size(); ++next) {
            if (taken[next] || is_over_) continue;
            const bool free = std::all_of(before_[next].begin(), before_[next].end(),
                                          [&](std::size_t step) { return taken[step]; });
            if (!free || !in_place(next, taken)) continue;
            taken[next] = true;
            order_.push_back(next);
            choose_order(taken);
            order_.pop_back();
            taken[next] = false;
        }
    }

    /// Registers at the place where the most are held.
    [[nodiscard]] std::int64_t registers() {
        const auto n = static_cast<std::int64_t>(steps_.size());
        std::vector<std::int64_t>& place = place_;
        place.resize(steps_.size());
        for (std::size_t p = 0; p < order_.size(); ++p)
            place[order_[p]] = static_cast<std::int64_t>(p) - leads_[order_[p]] * n;
        // Of each half of a place by how much it holds more than the one before.
        std::vector<std::int64_t>& more = more_;
        more.assign(2 * steps_.size() + 1, 0);
        for (const Holding& holding : holdings_) {
            std::int64_t begin = INT64_MAX;
            std::int64_t end = INT64_MIN;
            for (const Touch& touch : holding.touches) {
                begin = std::min(begin, 2 * place[touch.step] + touch.begin);
                end = std::max(end, 2 * place[touch.step] + touch.end);
            }
            const std::int64_t first = ((begin % (2 * n)) + 2 * n) % (2 * n);
            const std::int64_t behind = first + (end + 1 - begin) % (2 * n);
            const bool wraps = behind > 2 * n;
            const std::int64_t turns = (end + 1 - begin) / (2 * n) + (wraps ? 1 : 0);
            more[0] += turns * holding.registers;
            more[static_cast<std::size_t>(first)] += holding.registers;
            more[static_cast<std::size_t>(wraps ? behind - 2 * n : behind)] -= holding.registers;
        }
        std::int64_t most = 0;
        std::int64_t held = 0;
        for (const std::int64_t change : more) most = std::max(most, held += change);
        return always_held_ + most;
    }

    /// Shared memory that the leads take.
    [[nodiscard]] std::int64_t memory() const {
        struct Reading {
            std::int64_t least = INT64_MAX, most = 0, written = -1;
        };
        std::vector<Reading> readings(buffers_.size());
        std::int64_t ahead = 0;
        for (std::size_t b = 0; b < buffers_.size(); ++b) {
            Reading& reading = readings[b];
            for (const std::size_t step : uses_[b].steps) {
                if (has(steps_[step].writes, b)) reading.written = leads_[step];
                if (!has(steps_[step].reads, b)) continue;
                reading.least = std::min(reading.least, leads_[step]);
                reading.most = std::max(reading.most, leads_[step]);
            }
            if (reading.written < 0) ahead = std::max(ahead, reading.most + 1);
        }
        std::int64_t bytes = 0;
        for (std::size_t b = 0; b < buffers_.size(); ++b) {
            const Reading& reading = readings[b];
            if (buffers_[b].bytes == 0 || reading.least == INT64_MAX) continue;
            const std::int64_t from = reading.written < 0 ? ahead : reading.written;
            bytes += buffers_[b].bytes * (from - reading.least + 1);
        }
        return bytes;
    }

    /// Whether it wins over the best, as fast as that, by what an agent takes alone or what it
    /// holds: of those that share the units as well, `alone` tells how much of its own work
    /// overlaps.
    [[nodiscard]] bool wins_tie(double alone, bool turns, std::int64_t held) const {
        return alone < best_alone_ * (1 - kSame) ||
               (alone <= best_alone_ * (1 + kSame) &&
                std::tuple(bytes_, lead_, turns, held) <
                    std::tuple(best_bytes_, best_lead_, best_.turns, best_.registers));
    }

    void note_trial() {
        ++trials_;
        is_over_ = trials_ >= limits_.trials || (found_ && limits_.deadline.is_past());
    }

    void try_order(bool given) {
        const std::int64_t held = registers();
        if (!given && held > std::max(limits_.registers, least_registers_)) return;
        if (!may_win(held)) return note_trial();
        const std::vector<Step>& steps = programs_.of(order_);
        const std::u32string& spelling = programs_.spell(simulations_);
        const auto simulated = [&](const Sharing& sharing) {
            return simulations_.of(steps, spelling, sharing);
        };
        Sharing single = limits_.sharing;
        single.agents = 1;
        single.turns = false;
        std::optional<double> alone;
        for (const bool turns : {false, true}) {
            if (turns && (limits_.sharing.agents < 2 || !limits_.sharing.turns)) continue;
            note_trial();
            // One agent is simulated first where only its time can still decide.
            const bool may_be_faster = !found_ || floor_ < best_.interval * (1 - kSame);
            if (!may_be_faster && !alone) alone = simulated(single);
            if (alone && !may_be_faster && !wins_tie(*alone, turns, held)) continue;
            Sharing sharing = limits_.sharing;
            sharing.turns = turns;
            const std::optional<double> interval =
                alone && sharing.agents == 1 ? alone : simulated(sharing);
            if (!interval) continue;
            const bool faster = !found_ || *interval < best_.interval * (1 - kSame);
            if (!faster && *interval > best_.interval * (1 + kSame)) continue;
            if (!alone) alone = sharing.agents == 1 ? interval : simulated(single);
            if (!alone || (!faster && !wins_tie(*alone, turns, held))) continue;
            found_ = true;
            best_alone_ = *alone;
            best_lead_ = lead_;
            best_bytes_ = bytes_;
            best_.order = order_;
            best_.leads = leads_;
            best_.interval = *interval;
            best_.turns = turns;
            best_.registers = held;
        }
    }

    const std::vector<RotationStep>& steps_;
    const std::vector<RotationBuffer>& buffers_;
    const RotationLimits& limits_;
    Simulations& simulations_;
    std::vector<Dependence> dependences_;
    RotationPrograms programs_;
    std::vector<Use> uses_;
    std::int64_t always_held_ = 0;  ///< registers
    std::vector<Holding> holdings_;
    std::vector<std::vector<std::size_t>> before_;  ///< what each step follows in a turn
    std::vector<std::size_t> order_;
    std::vector<std::int64_t> leads_;
    std::vector<std::int64_t> place_;
    std::vector<std::int64_t> more_;
    std::int64_t least_registers_ = 0;
    std::int64_t trials_ = 0;
    bool is_over_ = false;
    bool found_ = false;
    // Of the leads that are tried, and of the best rotation.
    std::int64_t lead_ = 0, best_lead_ = 0;
    std::int64_t bytes_ = 0, best_bytes_ = 0;
    double floor_ = 0;
    double alone_floor_ = 0, best_alone_ = 0;
    Rotation best_;
};

/// All that a rotation is found from: a search of derivations asks for the same ones again.
std::vector<double> key_of(const std::vector<RotationStep>& steps,
                           const std::vector<RotationBuffer>& buffers,
                           const RotationLimits& limits) {
    std::vector<double> key{limits.sharing.latency, limits.barrier};
    const auto add = [&](auto... values) { (key.push_back(static_cast<double>(values)), ...); };
    const auto add_all = [&](const std::vector<BufferId>& ids) {
        add(ids.size());
        for (const BufferId id : ids) add(id.index());
    };
    add(limits.sharing.agents, limits.sharing.turns, limits.registers, limits.trials, steps.size());
    for (const RotationStep& step : steps) {
        key.insert(key.end(), step.cost.clocks.begin(), step.cost.clocks.end());
        add(step.asynchronous, step.most_lead, step.least_lead, step.place.value_or(-1), step.alone,
            step.in_place, step.start);
        add_all(step.reads);
        add_all(step.writes);
    }
    for (const RotationBuffer& buffer : buffers)
        add(buffer.registers, buffer.slots, buffer.shared, buffer.bytes);
    return key;
}

}  // namespace

std::optional<double> interval_of(const std::vector<RotationStep>& steps,
                                  const std::vector<RotationBuffer>& buffers,
                                  const std::vector<std::size_t>& order,
                                  const std::vector<std::int64_t>& leads,
                                  const RotationLimits& limits) {
    Sharing sharing = limits.sharing;
    sharing.turns = false;
    const std::vector<Dependence> dependences = dependences_of(steps, buffers);
    RotationPrograms programs(steps, dependences, limits.barrier);
    programs.set_leads(leads);
    return simulate(programs.of(order), sharing);
}

Rotation rotate(const std::vector<RotationStep>& steps, const std::vector<RotationBuffer>& buffers,
                const RotationLimits& limits) {
    constexpr std::size_t kMostKept = 10000;
    constexpr std::size_t kMostSimulated = 50000;
    thread_local std::map<std::vector<double>, Rotation> kept;
    thread_local Simulations simulations;
    std::vector<double> key = key_of(steps, buffers, limits);
    if (const auto found = kept.find(key); found != kept.end()) return found->second;
    if (kept.size() >= kMostKept) kept.clear();
    if (simulations.size() >= kMostSimulated) simulations = {};
    Rotation found = Search(steps, buffers, limits, simulations).run();
    if (limits.deadline.is_past()) return found;  // there may be a better one
    return kept.emplace(std::move(key), std::move(found)).first->second;
}

}  // namespace napkin::schedule
