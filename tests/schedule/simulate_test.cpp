// A simulation that stops where it repeats itself, beside one that goes on to its end.
#include "schedule/simulate.h"

#include <doctest/doctest.h>

#include <random>

namespace napkin::schedule {
namespace {

TEST_CASE("random bodies: where turns repeat, the first that does is as long as all that follow") {
    std::mt19937 random(20261123);
    const auto below = [&](int most) {
        return static_cast<int>(random() % static_cast<unsigned>(most));
    };
    int stops = 0;
    for (int trial = 0; trial < 400; ++trial) {
        std::vector<Step> steps(static_cast<std::size_t>(1 + below(6)));
        for (std::size_t at = 0; at < steps.size(); ++at) {
            Step& step = steps[at];
            step.asynchronous = below(3) == 0;
            step.lead = below(2);
            step.cost.of(step.asynchronous ? Unit::Tensor : Unit::Issue) = 10 + below(300);
            if (!step.asynchronous) step.cost.of(Unit::Exponential) = below(200);
            if (at > 0 && below(2) == 0)
                step.waits.push_back({static_cast<std::size_t>(below(static_cast<int>(at))), 1});
        }
        const Sharing sharing{1 + below(3), below(2) == 0, 1.2};
        std::vector<Activity> noted;
        const std::optional<double> whole = simulate(steps, sharing, &noted);
        const std::optional<double> stopped = simulate(steps, sharing);
        INFO(trial);
        REQUIRE_EQ(whole.has_value(), stopped.has_value());
        if (!whole) continue;
        CHECK_EQ(*stopped, doctest::Approx(*whole).epsilon(1e-9));
        stops += *stopped == *whole ? 0 : 1;
    }
    CHECK_GT(stops, 0);  // some did stop: the last digits tell
}

}  // namespace
}  // namespace napkin::schedule
