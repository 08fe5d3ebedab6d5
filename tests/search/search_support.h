// Machines by name, and times of kernels that a person derives.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>

#include "perfmodel/kernel_choice.h"
#include "perfmodel/machine.h"
#include "perfmodel/time.h"
#include "search/kernels.h"
#include "search/search.h"
#include "tests/perfmodel/derive_support.h"

namespace napkin::test {

/// The time of a derivation's kernels on a machine, with the schedules that it asks for.
inline Seconds kernels_time(const std::string& diagram, const std::string& steps,
                            const Machine& on) {
    const State state = derived(diagram, steps);
    Cost cost = test::cost(state);
    const TileProgram program = expanded(state);
    const Result<WantedKernels> wanted = WantedKernels::of(state, kernels_for(on));
    REQUIRE(wanted.has_value());
    for (std::size_t r = 0; r < cost.regions.size(); ++r)
        add_work(program.regions[r], (*wanted)(program.regions[r].name), cost.regions[r]);
    return time_of(cost, on).middle();
}

/// The time of the best that search finds of a diagram: tests ask for some of them again.
inline double best_time(const std::string& diagram, const Machine& on) {
    static std::map<std::pair<std::string, std::string>, double> known;
    const std::pair key(on.name, diagram);
    if (const auto found = known.find(key); found != known.end()) return found->second;
    const Result<SearchResult> result = search(derived(diagram).diagram, on, {.top = 1});
    REQUIRE(result.has_value());
    return known[key] = result->ranked.front().time.middle().value;
}

}  // namespace napkin::test
