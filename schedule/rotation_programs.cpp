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

}  // namespace

void RotationPrograms::set_leads(const std::vector<std::int64_t>& leads) {
    leads_ = leads;
    delays_.clear();
    for (std::size_t id = 0; id < steps_.size(); ++id) delays_.push_back(delay(id));
}

const std::vector<Step>& RotationPrograms::of(const std::vector<std::size_t>& order) {
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
        chain += sharing.latency * *std::max_element(cost.clocks.begin(), cost.clocks.end());
        for (const Unit unit : kUnits) load.of(unit) += cost.of(unit);
    };
    for (const RotationStep& step : steps_) add(step.cost, step.asynchronous);
    for (const Step& delay : delays_) add(delay.cost, false);
    const double busiest = *std::max_element(load.clocks.begin(), load.clocks.end());
    return std::max(chain, sharing.agents * busiest);
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
    const bool product = step.asynchronous && step.cost.of(Unit::Tensor) > 0;
    for (const Dependence& edge : dependences_)
        if (edge.to == id && steps_[edge.from].asynchronous && !product)
            step.waits.push_back({at_[edge.from], edge.distance});
    for (std::size_t other = 0; steps_[id].alone && other < steps_.size(); ++other)
        if (steps_[other].asynchronous)
            step.waits.push_back(
                {at_[other], leads_[id] - leads_[other] + (at_[other] < at_[id] ? 0 : 1)});
    // What a product reads is free for others once it is through: one may be on its way.
    if (product) step.waits.push_back({at_[id], 2});
}

}  // namespace napkin::schedule
