#include "codegen/run/emulated_barriers.h"

#include <fmt/format.h>

namespace napkin {
namespace {

constexpr int kMostArrivals = (1 << 20) - 1;
constexpr long long kMostBytes = (1 << 20) - 1;

}  // namespace

Misuse PhaseBarriers::start(long long place, int arrivals, Epoch by, int agent) {
    if (arrivals < 1 || arrivals > kMostArrivals)
        return fmt::format("a barrier of {} arrivals", arrivals);
    if (at_.contains(place)) return "a barrier that is started twice";
    PhaseBarrier& barrier = at_[place];
    barrier.count = barrier.pending = arrivals;
    barrier.started = by;
    barrier.agent = agent;
    return std::nullopt;
}

void PhaseBarriers::fence(int thread) {
    for (auto& [place, barrier] : at_)
        if (agent_of(barrier.started) == thread) barrier.fenced = true;
}

std::optional<int> PhaseBarriers::unwaited() const {
    for (const auto& [place, barrier] : at_)
        if (barrier.brought > barrier.waited) return barrier.bringer;
    return std::nullopt;
}

Misuse PhaseBarrier::arrive(int bytes) {
    if (bytes < 0) return fmt::format("{} bytes announced at a barrier", bytes);
    if (pending == 0)
        return fmt::format("more arrivals in a phase than the {} that the barrier counts", count);
    announced += bytes;
    if (announced > kMostBytes)
        return fmt::format("{} bytes announced at a barrier, which counts to {}", announced,
                           kMostBytes);
    --pending;
    return complete();
}

Misuse PhaseBarrier::expect_copy(int thread) {
    if (!fenced)
        return "a bulk copy on a barrier without fence_barriers by the thread that started it";
    ++copies;
    brought = phases + 1;
    bringer = thread;
    return std::nullopt;
}

Misuse PhaseBarrier::complete_copy(long long bytes) {
    --copies;
    announced -= bytes;
    return complete();
}

/// Nobody can announce more in a phase that lacks no arrival.
Misuse PhaseBarrier::complete() {
    if (pending > 0) return std::nullopt;
    if (announced < 0)
        return fmt::format("bulk copies bring {} bytes more than a phase announced", -announced);
    if (announced > 0) return std::nullopt;
    if (copies > 0)
        return "bulk copies bring more bytes than a phase announced: it is complete before they "
               "come";
    ++phases;
    pending = count;
    return std::nullopt;
}

bool PhaseBarrier::pass(int parity) {
    if (static_cast<int>(phases & 1) == parity) return false;
    waited = phases;
    return true;
}

std::string PhaseBarrier::lacking() const {
    return fmt::format("phase {} lacks {} of {} arrivals and {} bytes", phases, pending, count,
                       announced);
}

}  // namespace napkin
