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

namespace napkin {

/// Asynchronous copies of one thread. The hardware may carry a copy out at any time until the
/// thread has waited for it; here that is at its start or at the wait, as chance will have it.
class CopiesInFlight {
public:
    void start(const nk::emulator::Copy& copy, std::mt19937_64& random);
    void commit();
    /// Ends all groups but the last `pending`, their copies in random order, as writes by `thread`
    /// now.
    void wait(int pending, const nk::emulator::Context& now, std::mt19937_64& random);
    [[nodiscard]] bool none() const;
    void clear();

private:
    using Group = std::vector<nk::emulator::Copy>;
    Group open_;
    std::deque<Group> groups_;
};

/// Puts together what the lanes of a warp say of their accesses: the n-th vector access of a lane
/// since its warp last met belongs to the n-th of the others; element accesses are told apart by
/// their place in the kernel's machine code too.
class AccessCounter {
public:
    explicit AccessCounter(int threads) : warps_(static_cast<std::size_t>(threads / 32)) {}
    void note(int thread, nk::emulator::AccessKind kind, const void* site, long long place,
              int bytes);
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
    using Key = std::pair<nk::emulator::AccessKind, const void*>;
    std::vector<std::map<Key, Site>> warps_;
};

/// How often banks serve one more word than the others for one access by the lanes of a warp, each
/// to `bytes` at its place or, at -1, to nothing. Lanes are served as many at once as fill 128
/// bytes.
[[nodiscard]] int bank_conflicts(const std::array<long long, 32>& places, int bytes);

}  // namespace napkin
