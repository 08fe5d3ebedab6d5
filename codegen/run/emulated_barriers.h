// Barriers in shared memory that count arrivals and bytes (mbarriers), as the emulator keeps them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace napkin {

/// What an instruction did wrong.
using Misuse = std::optional<std::string>;

struct PhaseBarrier {
    int count = 0;              ///< arrivals of a phase
    int pending = 0;            ///< arrivals that the phase lacks
    long long announced = 0;    ///< bytes, less those that came
    std::uint64_t phases = 0;   ///< completed
    int copies = 0;             ///< that will complete on it and are in flight
    std::uint64_t brought = 0;  ///< phases until the last in which a copy completed on it
    std::uint64_t waited = 0;   ///< phases that somebody has waited for
    bool fenced = false;        ///< since it was started, for bulk copies
    int starter = 0;            ///< the thread that started it
};

/// The barriers of a block by their place in shared memory.
class PhaseBarriers {
public:
    [[nodiscard]] Misuse start(long long place, int arrivals, int thread);
    /// Those that the thread has started.
    void fence(int thread);
    [[nodiscard]] Misuse arrive(long long place, int bytes);
    /// A copy that will bring its bytes to the barrier begins.
    [[nodiscard]] Misuse expect_copy(long long place);
    [[nodiscard]] Misuse complete_copy(long long place, long long bytes);
    /// Whether the phase of that parity is complete, so that a wait for it ends.
    [[nodiscard]] bool pass(long long place, int parity);
    /// A barrier whose last copies nobody has waited for.
    [[nodiscard]] bool unwaited() const;
    [[nodiscard]] Misuse check(long long place) const;
    [[nodiscard]] std::uint64_t phases(long long place) const { return at_.at(place).phases; }
    /// What the phase lacks, for messages.
    [[nodiscard]] std::string lacking(long long place) const;
    void clear() { at_.clear(); }

private:
    static Misuse complete(PhaseBarrier& barrier);

    std::map<long long, PhaseBarrier> at_;
};

}  // namespace napkin
