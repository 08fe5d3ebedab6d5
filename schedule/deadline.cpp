#include "schedule/deadline.h"

#include <chrono>

namespace napkin {

Deadline Deadline::in(double seconds) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    return Deadline(
        [=] { return std::chrono::duration<double>(Clock::now() - start).count() >= seconds; });
}

}  // namespace napkin
