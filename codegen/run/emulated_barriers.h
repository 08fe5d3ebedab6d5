// Barriers in shared memory that count arrivals and bytes (mbarriers), as the emulator keeps them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "codegen/run/emulated_clocks.h"

namespace napkin {

/// What an instruction did wrong.
using Misuse = std::optional<std::string>;

struct PhaseBarrier {
    int count = 0;              ///< arrivals of a phase
    int pending = 0;            ///< arrivals that the phase lacks
    long long announced = 0;    ///< bytes, less those that came
    std::uint64_t phases = 0;   ///< completed
    int copies = 0;             ///< that will complete on it and are in flight
    std::uint64_t brought = 0;  ///< phases until the last in which a copy completes on it
    int bringer = 0;            ///< the thread that started that
    std::uint64_t waited = 0;   ///< phases that somebody has waited for
    bool fenced = false;        ///< since it was started, for bulk copies
    Epoch started = 0;          ///< who started it
    int agent = 0;              ///< the bulk copies that complete on it
    Release arriving;           ///< what those who arrive in this phase make known
    Knowledge arrived;          ///< and those of the last one

    // Whether a phase is complete thereby is seen by `phases`.
    [[nodiscard]] Misuse arrive(int bytes);
    /// A copy that will bring its bytes to the barrier begins.
    [[nodiscard]] Misuse expect_copy(int thread);
    [[nodiscard]] Misuse complete_copy(long long bytes);
    /// Whether the phase of that parity is complete, so that a wait for it ends.
    [[nodiscard]] bool pass(int parity);
    /// What the phase lacks, for messages.
    [[nodiscard]] std::string lacking() const;

private:
    Misuse complete();
};

/// The barriers of a block by their place in shared memory.
class PhaseBarriers {
public:
    [[nodiscard]] Misuse start(long long place, int arrivals, Epoch by, int agent);
    /// Those that the thread has started.
    void fence(int thread);
    [[nodiscard]] bool contains(long long place) const { return at_.contains(place); }
    [[nodiscard]] PhaseBarrier& at(long long place) { return at_.at(place); }
    [[nodiscard]] const PhaseBarrier& at(long long place) const { return at_.at(place); }
    /// A thread that started copies for which nobody has waited.
    [[nodiscard]] std::optional<int> unwaited() const;
    void clear() { at_.clear(); }

private:
    std::map<long long, PhaseBarrier> at_;
};

}  // namespace napkin
