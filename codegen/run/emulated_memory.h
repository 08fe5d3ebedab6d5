// What the emulator keeps of memory instructions: copies in flight, and accesses to shared memory
// whose bank conflicts are counted.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "codegen/prelude/emulator/interface.h"
#include "codegen/run/emulated_places.h"

namespace napkin {

/// Asynchronous copies of one thread, numbered by groups from 1 on. The hardware may carry a copy
/// out at any time until the thread has waited for it; here that is at its start or at the wait, as
/// chance will have it.
class CopiesInFlight {
public:
    void start(const nk::emulator::Copy& copy, std::mt19937_64& random);
    /// The number of what is started now.
    [[nodiscard]] std::uint64_t open() const { return open_; }
    void commit();
    /// Ends all groups but the last `pending`, and gives the number of the last ended.
    std::uint64_t wait(int pending, std::mt19937_64& random);
    /// What was started so far will be told to a barrier: its number.
    std::uint64_t announce();
    /// Ends the copies up to a number, in random order.
    void land(std::uint64_t number, std::mt19937_64& random);
    /// Whether all were waited for or will be told to a barrier.
    [[nodiscard]] bool none() const { return last_ <= settled_; }

private:
    struct Started {
        nk::emulator::Copy copy;
        std::uint64_t number = 0;
    };
    std::vector<Started> started_;
    std::deque<std::uint64_t> groups_;
    std::uint64_t open_ = 1;
    std::uint64_t last_ = 0;     ///< copy that was started
    std::uint64_t settled_ = 0;  ///< waited for or told
};

/// Puts together what the lanes of a warp say of their accesses: the n-th vector access of a lane
/// since its warp last met belongs to the n-th of the others; element accesses are told apart by
/// the calls that they come from too.
class AccessCounter {
public:
    explicit AccessCounter(int threads) : warps_(static_cast<std::size_t>(threads / 32)) {}
    void note(int thread, nk::emulator::AccessKind kind, CallSite site, long long place, int bytes);
    /// Counts what a warp did since it last met.
    void settle(int warp, nk::emulator::Traffic* traffic);

private:
    struct Access {
        int bytes = 0;
        std::array<long long, 32> places{};  ///< -1: no part
    };
    struct Site {
        std::array<std::uint32_t, 32> made{};  ///< accesses by each lane
        std::vector<Access> accesses;
    };
    using Key = std::pair<nk::emulator::AccessKind, CallSite>;
    std::vector<std::map<Key, Site>> warps_;
};

/// How often banks serve one more word than the others for one access by the lanes of a warp, each
/// to `bytes` at its place or, at -1, to nothing. Lanes are served as many at once as fill 128
/// bytes.
[[nodiscard]] int bank_conflicts(const std::array<long long, 32>& places, int bytes);

}  // namespace napkin
