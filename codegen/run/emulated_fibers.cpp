#include "codegen/run/emulated_fibers.h"

#include <sanitizer/asan_interface.h>

#include "codegen/run/emulated_places.h"

namespace napkin {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {

constexpr std::size_t kStackBytes = std::size_t{128} * 1024;

}  // namespace

Fibers::Fibers(int threads, std::uint64_t seed, Body body, void* owner)
    : fibers_(static_cast<std::size_t>(threads)), random_(seed), body_(body), owner_(owner) {
    for (Fiber& fiber : fibers_)
        fiber.stack = std::make_unique_for_overwrite<unsigned char[]>(kStackBytes);
}

void Fibers::restart(int block) {
    block_ = block;
    ready_.clear();
    for (int thread = 0; thread < count(); ++thread) {
        Fiber& fiber = fibers_[static_cast<std::size_t>(thread)];
        // The last block's frames were left, not returned from.
        ASAN_UNPOISON_MEMORY_REGION(fiber.stack.get(), kStackBytes);
        fiber.place = make_fcontext(fiber.stack.get() + kStackBytes, kStackBytes, enter);
        make_ready(thread);
    }
}

int Fibers::pick() {
    const std::size_t which = random_() % ready_.size();
    const int thread = ready_[which];
    ready_[which] = ready_.back();
    ready_.pop_back();
    return thread;
}

void Fibers::resume(int thread) {
    current_ = thread;
    inside_ = true;
    Fiber& fiber = fibers_[static_cast<std::size_t>(thread)];
    const transfer_t back = jump_fcontext(fiber.place, this);
    fiber.place = back.fctx;
    inside_ = false;
}

void Fibers::enter(transfer_t from) {
    Fibers& fibers = *static_cast<Fibers*>(from.data);
    fibers.scheduler_ = from.fctx;
    fibers.body_(fibers.owner_);
    fibers.wait(Waits::Finished);
}

void Fibers::set_waiting(Waits what, long long which) {
    fibers_[static_cast<std::size_t>(current_)].waiting = {what, which};
}

void Fibers::leave() {
    const transfer_t again = jump_fcontext(scheduler_, nullptr);
    scheduler_ = again.fctx;
}

void Fibers::make_ready(int thread) {
    fibers_[static_cast<std::size_t>(thread)].waiting = {};
    ready_.push_back(thread);
}

void Fibers::wake(Waits what, long long which) {
    for (int thread = 0; thread < count(); ++thread)
        if (waiting(thread).what == what && waiting(thread).which == which) make_ready(thread);
}

void Fibers::fail(const std::string& message) {
    fail(message, current_);
}

void Fibers::fail(const std::string& message, int thread) {
    if (!fault_) fault_ = {message, block_, thread, inside_ ? kernel_place() : KernelPlace(), {}};
    if (inside_) leave();
}

}  // namespace napkin
