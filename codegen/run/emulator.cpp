#include "codegen/run/emulator.h"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <cstring>
#include <memory>
#include <random>

#include "codegen/run/emulated_memory.h"
#include "diagrams/result.h"

namespace napkin {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;
using nk::emulator::AccessKind;
using nk::emulator::Context;
using nk::emulator::Shadow;

constexpr std::size_t kStackBytes = std::size_t{128} * 1024;
constexpr int kWarp = 32;

enum class Waits { Nothing, Warp, Block, Together, Finished };

using Perform = void (*)(Context*, void* const* all);

/// An instruction of a warp, as one of its threads reached it.
struct Meeting {
    const char* name = "";
    const void* site = nullptr;  ///< in the kernel's machine code
    Perform perform = nullptr;
};

/// One thread of the block that runs.
struct Fiber {
    std::unique_ptr<unsigned char[]> stack;
    fcontext_t place = nullptr;
    Waits waits = Waits::Nothing;
    int line = 0;  ///< of the barrier it waits at
    Meeting meeting;
    CopiesInFlight copies;
};

struct Warp {
    int arrived = 0;
    unsigned epoch = 1;
    int together = 0;  ///< threads that wait for an instruction
    std::array<void*, kWarp> passed{};
};

/// One launch. Fibers are never unwound: a fault leaves them where they stand, and kernels own no
/// memory.
class Machine {
public:
    explicit Machine(const EmulatedLaunch& launch)
        : launch_(launch), random_(launch.seed), accesses_(launch.threads) {
        const std::size_t threads = static_cast<std::size_t>(launch.threads);
        fibers_.resize(threads);
        for (Fiber& fiber : fibers_)
            fiber.stack = std::make_unique_for_overwrite<unsigned char[]>(kStackBytes);
        warps_.resize(threads / kWarp);
        const std::size_t bytes = static_cast<std::size_t>(launch.shared_bytes);
        shared_ = std::unique_ptr<unsigned char[], AlignedDelete>(
            static_cast<unsigned char*>(::operator new[](bytes + 1, kAlignment)));
        shadow_.resize(bytes);
        fill_context();
    }

    EmulatedRun run() {
        for (std::int64_t block = 0; block < launch_.blocks && !fault_; ++block)
            run_block(static_cast<int>(block));
        EmulatedRun result{fault_, {}};
        std::copy_n(context_.traffic, nk::emulator::kAccessKinds, result.traffic.begin());
        return result;
    }

private:
    static constexpr std::align_val_t kAlignment{1024};
    struct AlignedDelete {
        void operator()(unsigned char* memory) const { ::operator delete[](memory, kAlignment); }
    };

    void fill_context() {
        context_.threads = launch_.threads;
        context_.blocks = static_cast<int>(launch_.blocks);
        context_.shared = shared_.get();
        context_.shared_bytes = launch_.shared_bytes;
        context_.shadow = shadow_.data();
        context_.owner = this;
        context_.barrier = [](Context* c, int line) { of(c).wait(Waits::Block, line); };
        context_.warp_barrier = [](Context* c, int line) { of(c).wait(Waits::Warp, line); };
        context_.together = together;
        context_.start_copy = [](Context* c, const nk::emulator::Copy* copy) {
            of(c).current().copies.start(*copy, of(c).random_);
        };
        context_.commit_copies = [](Context* c) { of(c).current().copies.commit(); };
        context_.wait_copies = [](Context* c, int pending) {
            of(c).current().copies.wait(pending, *c, of(c).random_);
        };
        if (launch_.count_accesses) context_.note_access = note_access;
        context_.fail = [](Context* c, const char* message) { of(c).fail(message); };
        context_.fail_access = [](Context* c, const char* what, const char* name, long long index,
                                  long long extent) {
            std::string text = std::string(what) + ": `" + name + "` at " + std::to_string(index);
            if (extent >= 0) text += ", which has " + std::to_string(extent);
            of(c).fail(text);
        };
    }
    // Functions, not lambdas: what they return to is the kernel, in every build.
    static void together(Context* c, const char* name, void* mine, Perform perform) {
        of(c).meet({name, __builtin_return_address(0), perform}, mine);
    }
    static void note_access(Context* c, AccessKind kind, long long place, int bytes) {
        of(c).accesses_.note(c->thread, kind, __builtin_return_address(0), place, bytes);
    }
    static Machine& of(Context* context) { return *static_cast<Machine*>(context->owner); }
    Fiber& current() { return fibers_[static_cast<std::size_t>(current_)]; }

    void start_block(int block) {
        context_.block = block;
        context_.epoch = 1;
        arrived_ = 0;
        finished_ = 0;
        std::memset(shared_.get(), 0xff, static_cast<std::size_t>(launch_.shared_bytes));
        std::fill(shadow_.begin(), shadow_.end(), Shadow{});
        std::fill(warps_.begin(), warps_.end(), Warp{});
        for (Fiber& fiber : fibers_) {
            fiber.waits = Waits::Nothing;
            fiber.copies.clear();
            // The last block's frames were left, not returned from.
            ASAN_UNPOISON_MEMORY_REGION(fiber.stack.get(), kStackBytes);
            fiber.place = make_fcontext(fiber.stack.get() + kStackBytes, kStackBytes, enter);
        }
        ready_.clear();
        for (int thread = 0; thread < launch_.threads; ++thread) ready_.push_back(thread);
    }

    void run_block(int block) {
        start_block(block);
        while (!ready_.empty() && !fault_) {
            const std::size_t pick = random_() % ready_.size();
            const int thread = ready_[pick];
            ready_[pick] = ready_.back();
            ready_.pop_back();
            resume(thread);
        }
        settle_accesses();
        if (!fault_ && finished_ < launch_.threads) report_deadlock();
    }

    void settle_accesses() {
        for (int warp = 0; warp < launch_.threads / kWarp; ++warp)
            accesses_.settle(warp, context_.traffic);
    }

    void resume(int thread) {
        current_ = thread;
        context_.thread = thread;
        context_.warp_epoch = warps_[static_cast<std::size_t>(thread / kWarp)].epoch;
        Fiber& fiber = fibers_[static_cast<std::size_t>(thread)];
        const transfer_t back = jump_fcontext(fiber.place, this);
        fiber.place = back.fctx;
        if (fault_) return;
        if (fiber.waits == Waits::Finished) ++finished_;
        if (fiber.waits == Waits::Warp) arrive_at_warp(thread);
        if (fiber.waits == Waits::Block) arrive_at_block();
    }

    static void enter(transfer_t from) {
        Machine& machine = *static_cast<Machine*>(from.data);
        machine.scheduler_ = from.fctx;
        machine.launch_.entry(&machine.context_, machine.launch_.arguments.data());
        if (!machine.current().copies.none()) machine.fail("ends with a copy in flight");
        machine.current().waits = Waits::Finished;
        machine.leave();
    }
    /// Back to the scheduler, until this thread is resumed.
    void leave() {
        const transfer_t again = jump_fcontext(scheduler_, nullptr);
        scheduler_ = again.fctx;
    }
    void wait(Waits what, int line) {
        Fiber& fiber = current();
        fiber.waits = what;
        fiber.line = line;
        leave();
    }
    void fail(const std::string& message) {
        fault_ = EmulatorFault{message, context_.block, current_};
        leave();
    }

    /// Carries out an instruction with the threads of the warp.
    void meet(const Meeting& meeting, void* mine) {
        Fiber& fiber = current();
        fiber.meeting = meeting;
        const int first = current_ / kWarp * kWarp;
        Warp& warp = warps_[static_cast<std::size_t>(current_ / kWarp)];
        warp.passed[static_cast<std::size_t>(current_ - first)] = mine;
        if (++warp.together < kWarp) {
            fiber.waits = Waits::Together;
            return leave();
        }
        warp.together = 0;
        accesses_.settle(current_ / kWarp, context_.traffic);
        for (int thread = first; thread < first + kWarp; ++thread) {
            const Meeting& other = fibers_[static_cast<std::size_t>(thread)].meeting;
            if (other.site != meeting.site || other.perform != meeting.perform)
                fail(std::string("the warp diverges: its threads are at different calls of ") +
                     other.name + " and " + meeting.name);
        }
        meeting.perform(&context_, warp.passed.data());
        for (int thread = first; thread < first + kWarp; ++thread) {
            if (thread == current_) continue;
            fibers_[static_cast<std::size_t>(thread)].waits = Waits::Nothing;
            ready_.push_back(thread);
        }
    }

    void arrive_at_warp(int thread) {
        Warp& warp = warps_[static_cast<std::size_t>(thread / kWarp)];
        if (++warp.arrived < kWarp) return;
        warp.arrived = 0;
        ++warp.epoch;
        accesses_.settle(thread / kWarp, context_.traffic);
        release(thread / kWarp * kWarp, kWarp);
    }
    void arrive_at_block() {
        if (++arrived_ < launch_.threads) return;
        arrived_ = 0;
        ++context_.epoch;
        settle_accesses();
        release(0, launch_.threads);
    }
    void release(int first, int count) {
        const int line = fibers_[static_cast<std::size_t>(first)].line;
        for (int thread = first; thread < first + count; ++thread) {
            Fiber& fiber = fibers_[static_cast<std::size_t>(thread)];
            if (fiber.line != line) {
                fault_ = EmulatorFault{"threads meet at different barriers: lines " +
                                           std::to_string(line) + " and " +
                                           std::to_string(fiber.line) + " of the kernel",
                                       context_.block, thread};
                return;
            }
            fiber.waits = Waits::Nothing;
            ready_.push_back(thread);
        }
    }

    /// Who waits for its warp says more than who waits for the block, perhaps for just that warp.
    void report_deadlock() {
        for (const Waits kind : {Waits::Together, Waits::Warp, Waits::Block})
            for (int thread = 0; thread < launch_.threads; ++thread) {
                const Fiber& fiber = fibers_[static_cast<std::size_t>(thread)];
                if (fiber.waits != kind) continue;
                fault_ = EmulatorFault{
                    "deadlock: it waits " + place_of(fiber) + "; " + std::to_string(finished_) +
                        " of " + std::to_string(launch_.threads) + " threads have left for good",
                    context_.block, thread};
                return;
            }
    }
    static std::string place_of(const Fiber& fiber) {
        if (fiber.waits == Waits::Together)
            return "for its warp at " + std::string(fiber.meeting.name);
        return std::string(fiber.waits == Waits::Warp ? "at the warp's" : "at the block's") +
               " barrier in line " + std::to_string(fiber.line) + " of the kernel";
    }

    const EmulatedLaunch& launch_;
    std::mt19937_64 random_;
    Context context_;
    std::vector<Fiber> fibers_;
    std::vector<Warp> warps_;
    std::unique_ptr<unsigned char[], AlignedDelete> shared_;
    std::vector<Shadow> shadow_;
    AccessCounter accesses_;
    std::vector<int> ready_;
    std::optional<EmulatorFault> fault_;
    fcontext_t scheduler_ = nullptr;
    int current_ = 0;
    int arrived_ = 0;
    int finished_ = 0;
};

}  // namespace

EmulatedRun run_emulated(const EmulatedLaunch& launch) {
    invariant(launch.threads > 0 && launch.threads % kWarp == 0, "a block is whole warps");
    Machine machine(launch);
    return machine.run();
}

}  // namespace napkin
