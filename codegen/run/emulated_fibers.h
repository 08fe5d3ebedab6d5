// The threads of a block as fibers: all in one thread of the operating system, resumed in a random
// but repeatable order.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "codegen/run/emulator.h"

namespace napkin {

/// What a thread waits for. Who waits for its warp says more of a deadlock than who waits for the
/// block, perhaps for just that warp: the first says most.
enum class Waits { Together, Warp, Registers, Products, Barrier, Named, Block, Nothing, Finished };

/// Fibers are never unwound: a fault leaves them where they stand, and kernels own no memory.
class Fibers {
public:
    using Body = void (*)(void* owner);
    struct Waiting {
        Waits what = Waits::Nothing;
        long long which = 0;  ///< a barrier's line, place or number
    };

    Fibers(int threads, std::uint64_t seed, Body body, void* owner);

    /// All threads stand at the beginning of `body`, ready.
    void restart(int block);
    [[nodiscard]] bool idle() const { return ready_.empty(); }
    [[nodiscard]] int pick();
    /// Lets a thread run until it waits.
    void resume(int thread);

    // For the running thread.
    [[nodiscard]] int current() const { return current_; }
    void set_waiting(Waits what, long long which = 0);
    /// To the scheduler, until somebody makes this thread ready and it is picked.
    void leave();
    void wait(Waits what, long long which = 0) {
        set_waiting(what, which);
        leave();
    }

    void make_ready(int thread);
    /// Makes those ready that wait for this.
    void wake(Waits what, long long which);
    [[nodiscard]] int count() const { return static_cast<int>(fibers_.size()); }
    [[nodiscard]] const Waiting& waiting(int thread) const {
        return fibers_[static_cast<std::size_t>(thread)].waiting;
    }

    /// Ends the launch; the first fault counts. Does not return to a thread that calls it.
    void fail(const std::string& message);
    void fail(const std::string& message, int thread);
    [[nodiscard]] const std::optional<EmulatorFault>& fault() const { return fault_; }
    [[nodiscard]] std::mt19937_64& random() { return random_; }

private:
    struct Fiber {
        std::unique_ptr<unsigned char[]> stack;
        boost::context::detail::fcontext_t place = nullptr;
        Waiting waiting;
    };
    static void enter(boost::context::detail::transfer_t from);

    std::vector<Fiber> fibers_;
    std::vector<int> ready_;
    std::mt19937_64 random_;
    Body body_;
    void* owner_;
    boost::context::detail::fcontext_t scheduler_ = nullptr;
    std::optional<EmulatorFault> fault_;
    int block_ = 0;
    int current_ = 0;
    bool inside_ = false;  ///< a thread runs, not the scheduler
};

}  // namespace napkin
