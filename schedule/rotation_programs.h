// Rotations as agents run them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedule/dependences.h"
#include "schedule/rotate.h"
#include "schedule/simulate.h"
#include "schedule/simulations.h"

namespace napkin::schedule {

/// What depends on leads alone is made once for all orders.
class RotationPrograms {
public:
    RotationPrograms(const std::vector<RotationStep>& steps,
                     const std::vector<Dependence>& dependences, double barrier);

    void set_leads(const std::vector<std::int64_t>& leads);
    /// Until the next is asked for.
    const std::vector<Step>& of(const std::vector<std::size_t>& order);
    /// The last that was asked for, for `simulations`.
    [[nodiscard]] const std::u32string& spell(Simulations& simulations);
    /// Clocks from chunk to chunk that no order with these leads goes below where agents share
    /// units so: an agent's own work one after the other, and each unit's for all agents.
    [[nodiscard]] double floor_of(const Sharing& sharing) const;

private:
    [[nodiscard]] Step delay(std::size_t id) const;
    void write(std::size_t id, Step& step) const;

    const std::vector<RotationStep>& steps_;
    const std::vector<Dependence>& dependences_;
    double barrier_;
    std::vector<std::vector<Dependence>> awaited_;  ///< of each step, that are on their way
    std::vector<std::int64_t> leads_;
    std::vector<Step> delays_;  ///< before each step
    /// Of each step and of its delay, once somebody spells them.
    std::vector<std::pair<char32_t, char32_t>> letters_;
    std::vector<std::size_t> order_;
    std::vector<std::size_t> at_;  ///< places of steps
    std::vector<Step> program_;
    std::u32string spelling_;
};

}  // namespace napkin::schedule
