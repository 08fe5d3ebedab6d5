#include "codegen/run/emulator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "codegen/run/emulated_fibers.h"
#include "codegen/run/emulated_hopper.h"
#include "codegen/run/emulated_memory.h"
#include "codegen/run/emulated_places.h"
#include "codegen/run/emulated_shadow.h"
#include "diagrams/contains.h"
#include "diagrams/result.h"

namespace napkin {
namespace {

using nk::emulator::AccessKind;
using nk::emulator::Context;

constexpr int kWarp = 32;

using Perform = void (*)(Context*, void* const* all);

/// An instruction of a warp, as one of its threads reached it.
struct Meeting {
    const char* name = "";
    CallSite site = 0;
    Perform perform = nullptr;
};

struct Warp {
    int arrived = 0;
    int together = 0;  ///< threads that wait for an instruction
    std::array<void*, kWarp> passed{};
};

/// An event in a block that an earlier run of the launch has told of.
struct WatchedBlock {
    int block = 0;
    Watch watch;
};

/// One launch.
class Machine {
public:
    Machine(const EmulatedLaunch& launch, WatchedBlock* watched)
        : launch_(launch),
          watched_(watched),
          fibers_(launch.threads, launch.seed, run_thread, this),
          meetings_(static_cast<std::size_t>(launch.threads)),
          entered_(static_cast<std::size_t>(launch.threads)),
          copies_(static_cast<std::size_t>(launch.threads)),
          order_(launch.threads, launch.shared_bytes),
          hopper_(context_, fibers_, order_, copies_),
          warps_(static_cast<std::size_t>(launch.threads / kWarp)),
          accesses_(launch.threads) {
        const std::size_t bytes = static_cast<std::size_t>(launch.shared_bytes);
        shared_ = std::unique_ptr<unsigned char[], AlignedDelete>(
            static_cast<unsigned char*>(::operator new[](bytes + 1, kAlignment)));
        fill_context();
    }

    /// What ended the launch, if order did.
    [[nodiscard]] const std::optional<Conflict>& conflict() const { return order_.conflict; }
    EmulatedRun run() {
        for (std::int64_t block = 0; block < launch_.blocks && !fibers_.fault(); ++block)
            run_block(static_cast<int>(block));
        EmulatedRun result{fibers_.fault(), {}};
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
        context_.resident = launch_.resident;
        context_.blocks = static_cast<int>(launch_.blocks);
        context_.shared = shared_.get();
        context_.shared_bytes = launch_.shared_bytes;
        context_.owner = this;
        context_.barrier = [](Context* c, int line) { of(c).meet_block(line); };
        context_.warp_barrier = [](Context* c, int line) { of(c).meet_warp(line); };
        context_.together = together;
        context_.note_read = [](Context* c, long long place, long long bytes, const char* name,
                                long long index) {
            of(c).touch(SharedAccess::By::Read, place, bytes, name, index);
        };
        context_.note_write = [](Context* c, long long place, long long bytes, const char* name,
                                 long long index) {
            of(c).touch(SharedAccess::By::Write, place, bytes, name, index);
        };
        context_.start_copy = [](Context* c, const nk::emulator::Copy* copy) {
            of(c).touch(SharedAccess::By::Copy, copy->to - c->shared, copy->bytes, copy->name,
                        copy->index);
            of(c).copies().start(*copy, of(c).fibers_.random());
        };
        context_.commit_copies = [](Context* c) { of(c).copies().commit(); };
        context_.wait_copies = [](Context* c, int pending) {
            const std::uint64_t ended = of(c).copies().wait(pending, of(c).fibers_.random());
            of(c).order_.clocks.learn_copies(c->thread, ended);
        };
        if (launch_.count_accesses) context_.note_access = note_access;
        context_.fail = [](Context* c, const char* message) { of(c).fibers_.fail(message); };
        context_.fail_access = [](Context* c, const char* what, const char* name, long long index,
                                  long long extent) {
            std::string text = std::string(what) + ": `" + name + "` at " + std::to_string(index);
            if (extent >= 0) text += ", which has " + std::to_string(extent);
            of(c).fibers_.fail(text);
        };
    }
    static void together(Context* c, const char* name, void* mine, Perform perform) {
        of(c).meet({name, of(c).site(__builtin_frame_address(0)), perform}, mine);
    }
    static void note_access(Context* c, AccessKind kind, long long place, int bytes) {
        const CallSite site = of(c).site(__builtin_frame_address(0));
        of(c).accesses_.note(c->thread, kind, site, place, bytes);
    }
    [[nodiscard]] CallSite site(const void* frame) const {
        return call_site(frame, entered_[static_cast<std::size_t>(context_.thread)]);
    }
    static Machine& of(Context* context) { return *static_cast<Machine*>(context->owner); }
    CopiesInFlight& copies() { return copies_[static_cast<std::size_t>(context_.thread)]; }
    Warp& warp() { return warps_[static_cast<std::size_t>(context_.thread / kWarp)]; }

    void touch(SharedAccess::By by, long long place, long long bytes, const char* name,
               long long index) {
        const int thread = context_.thread;
        const Epoch as = by == SharedAccess::By::Copy
                             ? order_.clocks.copies(thread, copies().open())
                             : order_.clocks.now(thread);
        const SharedAccess access{by, thread, as, place, bytes};
        if (!order_.touch(access)) fibers_.fail(order_.wrong(access, name, index));
    }

    void start_block(int block) {
        context_.block = block;
        arrived_ = 0;
        finished_ = 0;
        std::memset(shared_.get(), 0xff, static_cast<std::size_t>(launch_.shared_bytes));
        order_.restart();
        order_.checked = launch_.check_order;
        order_.watch = watched_ != nullptr && watched_->block == block ? &watched_->watch : nullptr;
        std::fill(warps_.begin(), warps_.end(), Warp{});
        std::fill(copies_.begin(), copies_.end(), CopiesInFlight{});
        hopper_.start_block();
        fibers_.restart(block);
    }

    void run_block(int block) {
        start_block(block);
        while (!fibers_.fault()) {
            // What is in flight ends at random, and when nobody can go on.
            if (hopper_.in_flight() && (fibers_.idle() || fibers_.random()() % 16 == 0))
                hopper_.land();
            else if (fibers_.idle())
                break;
            else
                resume(fibers_.pick());
        }
        settle_accesses();
        if (fibers_.fault()) return;
        if (finished_ < launch_.threads) report_deadlock();
        hopper_.check_block_end();
    }

    void settle_accesses() {
        for (int warp = 0; warp < launch_.threads / kWarp; ++warp)
            accesses_.settle(warp, context_.traffic);
    }

    void resume(int thread) {
        context_.thread = thread;
        fibers_.resume(thread);
    }

    static void run_thread(void* owner) {
        Machine& machine = *static_cast<Machine*>(owner);
        machine.entered_[static_cast<std::size_t>(machine.context_.thread)] =
            __builtin_frame_address(0);
        machine.launch_.entry(&machine.context_, machine.launch_.arguments.data());
        if (!machine.copies().none()) machine.fibers_.fail("ends with a copy in flight");
        machine.hopper_.check_end(machine.context_.thread);
        ++machine.finished_;
    }

    /// Carries out an instruction with the threads of the warp.
    void meet(const Meeting& meeting, void* mine) {
        const int current = context_.thread;
        meetings_[static_cast<std::size_t>(current)] = meeting;
        const int first = current / kWarp * kWarp;
        warp().passed[static_cast<std::size_t>(current - first)] = mine;
        if (++warp().together < kWarp) return fibers_.wait(Waits::Together);
        warp().together = 0;
        accesses_.settle(current / kWarp, context_.traffic);
        for (int thread = first; thread < first + kWarp; ++thread) {
            const Meeting& other = meetings_[static_cast<std::size_t>(thread)];
            if (other.site != meeting.site || other.perform != meeting.perform)
                fibers_.fail(std::string("the warp diverges: its threads are at different calls "
                                         "of ") +
                             other.name + " and " + meeting.name);
        }
        meeting.perform(&context_, warp().passed.data());
        for (int thread = first; thread < first + kWarp; ++thread)
            if (thread != current) fibers_.make_ready(thread);
    }

    void meet_warp(int line) {
        fibers_.set_waiting(Waits::Warp, line);
        if (++warp().arrived == kWarp) {
            warp().arrived = 0;
            accesses_.settle(context_.thread / kWarp, context_.traffic);
            release(context_.thread / kWarp * kWarp, kWarp);
        }
        fibers_.leave();
    }
    void meet_block(int line) {
        fibers_.set_waiting(Waits::Block, line);
        if (++arrived_ == launch_.threads) {
            arrived_ = 0;
            settle_accesses();
            release(0, launch_.threads);
        }
        fibers_.leave();
    }
    void release(int first, int count) {
        order_.clocks.meet(first, count);
        const long long line = fibers_.waiting(first).which;
        for (int thread = first; thread < first + count; ++thread) {
            const long long other = fibers_.waiting(thread).which;
            if (other != line)
                fibers_.fail("threads meet at different barriers: lines " + std::to_string(line) +
                                 " and " + std::to_string(other) + " of the kernel",
                             thread);
            fibers_.make_ready(thread);
        }
    }

    /// Says of one thread each what else is waited for.
    void report_deadlock() {
        std::vector<int> stuck;
        for (int thread = 0; thread < launch_.threads; ++thread)
            if (fibers_.waiting(thread).what != Waits::Finished) stuck.push_back(thread);
        std::stable_sort(stuck.begin(), stuck.end(), [&](int a, int b) {
            return fibers_.waiting(a).what < fibers_.waiting(b).what;
        });
        const int worst = stuck.front();
        std::string text = "deadlock: it waits " + place_of(worst);
        std::vector<std::string> said = {place_of(worst)};
        for (const int thread : stuck) {
            if (contains(said, place_of(thread))) continue;
            said.push_back(place_of(thread));
            text += "; thread " + std::to_string(thread) + " waits " + said.back();
        }
        fibers_.fail(text + "; " + std::to_string(finished_) + " of " +
                         std::to_string(launch_.threads) + " threads have left for good",
                     worst);
    }
    std::string place_of(int thread) const {
        const Fibers::Waiting& waiting = fibers_.waiting(thread);
        if (waiting.what == Waits::Together)
            return "for its warp at " +
                   std::string(meetings_[static_cast<std::size_t>(thread)].name);
        if (waiting.what != Waits::Warp && waiting.what != Waits::Block)
            return hopper_.describe(waiting);
        return std::string(waiting.what == Waits::Warp ? "at the warp's" : "at the block's") +
               " barrier in line " + std::to_string(waiting.which) + " of the kernel";
    }

    const EmulatedLaunch& launch_;
    WatchedBlock* watched_;
    Context context_;
    Fibers fibers_;
    std::vector<Meeting> meetings_;
    std::vector<const void*> entered_;  ///< the frame that each thread called the kernel from
    std::vector<CopiesInFlight> copies_;
    SharedOrder order_;
    EmulatedHopper hopper_;
    std::vector<Warp> warps_;
    std::unique_ptr<unsigned char[], AlignedDelete> shared_;
    AccessCounter accesses_;
    int arrived_ = 0;
    int finished_ = 0;
};

}  // namespace

EmulatedRun run_emulated(const EmulatedLaunch& launch) {
    invariant(launch.threads > 0 && launch.threads % kWarp == 0, "a block is whole warps");
    Machine machine(launch, nullptr);
    EmulatedRun run = machine.run();
    if (!run.fault || !machine.conflict() || machine.conflict()->other == 0) return run;
    // Who was there before is known, but not where in the kernel: the launch once more tells.
    WatchedBlock watched{run.fault->block,
                         {machine.conflict()->other, machine.conflict()->place, {}}};
    Machine again(launch, &watched);
    if (again.run().fault->message == run.fault->message) run.fault->other = watched.watch.seen;
    return run;
}

}  // namespace napkin
