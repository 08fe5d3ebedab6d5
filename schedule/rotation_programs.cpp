#include "schedule/rotation_programs.h"

#include <algorithm>

namespace napkin::schedule {
namespace {

bool delays(const Step& step) {
    return step.cost.of(Unit::Shared) > 0 || step.cost.of(Unit::Issue) > 0;
}

void assign(Step& step, const Step& from) {
    step.cost = from.cost;
    step.asynchronous = from.asynchronous;
    step.lead = from.lead;
}

bool is_product(const RotationStep& step) {
    return step.asynchronous && step.cost.of(Unit::Tensor) > 0;
}

/// Of what is waited for, the latest chunk.
void add_wait(Step& step, const Step::Wait& wait) {
    for (Step::Wait& each : step.waits)
        if (each.step == wait.step) {
            each.chunks_before = std::min(each.chunks_before, wait.chunks_before);
            return;
        }
    step.waits.push_back(wait);
}

}  // namespace

RotationPrograms::RotationPrograms(const std::vector<RotationStep>& steps,
                                   const std::vector<Dependence>& dependences, double barrier)
    : steps_(steps),
      dependences_(dependences),
      barrier_(barrier),
      awaited_(steps.size()),
      at_(steps.size()) {
    for (const Dependence& edge : dependences)
        if (steps[edge.from].asynchronous && !is_product(steps[edge.to]))
            awaited_[edge.to].push_back(edge);
}

void RotationPrograms::set_leads(const std::vector<std::int64_t>& leads) {
    leads_ = leads;
    letters_.clear();
    delays_.clear();
    for (std::size_t id = 0; id < steps_.size(); ++id) delays_.push_back(delay(id));
}

const std::vector<Step>& RotationPrograms::of(const std::vector<std::size_t>& order) {
    order_ = order;
    std::size_t place = 0;
    for (const std::size_t id : order) {
        if (delays(delays_[id])) ++place;
        at_[id] = place++;
    }
    program_.resize(place);
    for (const std::size_t id : order) {
        if (delays(delays_[id])) {
            program_[at_[id] - 1].waits.clear();
            assign(program_[at_[id] - 1], delays_[id]);
        }
        write(id, program_[at_[id]]);
    }
    return program_;
}

double RotationPrograms::floor_of(const Sharing& sharing) const {
    double chain = 0;
    Cost load;
    const auto add = [&](const Cost& cost, bool asynchronous) {
        if (asynchronous) {
            load.of(Unit::Tensor) += cost.of(Unit::Tensor);
            return;
        }
        chain += sharing.latency * cost.of_busiest();
        for (const Unit unit : kUnits) load.of(unit) += cost.of(unit);
    };
    for (const RotationStep& step : steps_) add(step.cost, step.asynchronous);
    for (const Step& delay : delays_) add(delay.cost, false);
    return std::max(chain, sharing.agents * load.of_busiest());
}

/// What must be there before a step begins: its barrier, and what its unit begins with.
Step RotationPrograms::delay(std::size_t id) const {
    Step step;
    step.lead = leads_[id];
    step.cost.of(Unit::Shared) = steps_[id].start;
    const bool meets =
        std::any_of(dependences_.begin(), dependences_.end(), [&](const Dependence& edge) {
            return edge.to == id && edge.shared && edge.distance == 0 &&
                   leads_[edge.from] == leads_[id];
        });
    if (meets) step.cost.of(Unit::Issue) = barrier_;
    return step;
}

void RotationPrograms::write(std::size_t id, Step& step) const {
    step.cost = steps_[id].cost;
    step.asynchronous = steps_[id].asynchronous;
    step.lead = leads_[id];
    step.waits.clear();
    for (const Dependence& edge : awaited_[id]) add_wait(step, {at_[edge.from], edge.distance});
    for (std::size_t other = 0; steps_[id].alone && other < steps_.size(); ++other)
        if (steps_[other].asynchronous)
            add_wait(step,
                     {at_[other], leads_[id] - leads_[other] + (at_[other] < at_[id] ? 0 : 1)});
    // What a product reads is free for others once it is through: one may be on its way.
    if (is_product(steps_[id])) add_wait(step, {at_[id], 2});
    std::sort(step.waits.begin(), step.waits.end(),
              [](const Step::Wait& a, const Step::Wait& b) { return a.step < b.step; });
}

const std::u32string& RotationPrograms::spell(Simulations& simulations) {
    const auto number = [](auto value) { return static_cast<char32_t>(value); };
    if (letters_.empty())
        for (std::size_t id = 0; id < steps_.size(); ++id)
            letters_.emplace_back(
                simulations.letter_of({steps_[id].cost, steps_[id].asynchronous, 0, {}}),
                simulations.letter_of(delays_[id]));
    spelling_.clear();
    for (const std::size_t id : order_) {
        const auto [own, delay] = letters_[id];
        if (delays(delays_[id])) spelling_ += delay;
        const Step& step = program_[at_[id]];
        spelling_ += {own, number(step.lead), number(step.waits.size())};
        for (const Step::Wait& wait : step.waits)
            spelling_ += {number(wait.step), number(wait.chunks_before)};
    }
    return spelling_;
}

}  // namespace napkin::schedule
