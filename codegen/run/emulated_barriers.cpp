#include "codegen/run/emulated_barriers.h"

#include <fmt/format.h>

#include <algorithm>

namespace napkin {
namespace {

constexpr int kMostArrivals = (1 << 20) - 1;
constexpr long long kMostBytes = (1 << 20) - 1;

}  // namespace

Misuse PhaseBarriers::start(long long place, int arrivals, int thread) {
    if (arrivals < 1 || arrivals > kMostArrivals)
        return fmt::format("a barrier of {} arrivals", arrivals);
    if (at_.contains(place)) return "a barrier that is started twice";
    at_[place] = {.count = arrivals, .pending = arrivals, .starter = thread};
    return std::nullopt;
}

void PhaseBarriers::fence(int thread) {
    for (auto& [place, barrier] : at_)
        if (barrier.starter == thread) barrier.fenced = true;
}

Misuse PhaseBarriers::check(long long place) const {
    if (at_.contains(place)) return std::nullopt;
    return "a barrier that was never started";
}

Misuse PhaseBarriers::arrive(long long place, int bytes) {
    PhaseBarrier& barrier = at_.at(place);
    if (bytes < 0) return fmt::format("{} bytes announced at a barrier", bytes);
    if (barrier.pending == 0)
        return fmt::format("more arrivals in a phase than the {} that the barrier counts",
                           barrier.count);
    barrier.announced += bytes;
    if (barrier.announced > kMostBytes)
        return fmt::format("{} bytes announced at a barrier, which counts to {}", barrier.announced,
                           kMostBytes);
    --barrier.pending;
    return complete(barrier);
}

Misuse PhaseBarriers::expect_copy(long long place) {
    PhaseBarrier& barrier = at_.at(place);
    if (!barrier.fenced)
        return "a bulk copy on a barrier without fence_barriers by the thread that started it";
    ++barrier.copies;
    barrier.brought = barrier.phases + 1;
    return std::nullopt;
}

Misuse PhaseBarriers::complete_copy(long long place, long long bytes) {
    PhaseBarrier& barrier = at_.at(place);
    --barrier.copies;
    barrier.announced -= bytes;
    return complete(barrier);
}

/// Nobody can announce more in a phase that lacks no arrival.
Misuse PhaseBarriers::complete(PhaseBarrier& barrier) {
    if (barrier.pending > 0) return std::nullopt;
    if (barrier.announced < 0)
        return fmt::format("bulk copies bring {} bytes more than a phase announced",
                           -barrier.announced);
    if (barrier.announced > 0) return std::nullopt;
    if (barrier.copies > 0)
        return "bulk copies bring more bytes than a phase announced: it is complete before they "
               "come";
    ++barrier.phases;
    barrier.pending = barrier.count;
    return std::nullopt;
}

bool PhaseBarriers::pass(long long place, int parity) {
    PhaseBarrier& barrier = at_.at(place);
    if (static_cast<int>(barrier.phases & 1) == parity) return false;
    barrier.waited = barrier.phases;
    return true;
}

bool PhaseBarriers::unwaited() const {
    return std::any_of(at_.begin(), at_.end(), [](const auto& entry) {
        return entry.second.brought > entry.second.waited;
    });
}

std::string PhaseBarriers::lacking(long long place) const {
    const PhaseBarrier& barrier = at_.at(place);
    return fmt::format("phase {} lacks {} of {} arrivals and {} bytes", barrier.phases,
                       barrier.pending, barrier.count, barrier.announced);
}

}  // namespace napkin
