#include "codegen/run/emulated_hopper.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagrams/overloaded.h"

namespace napkin {
namespace {

using nk::emulator::BulkCopy;
using nk::emulator::Context;
using nk::emulator::GroupProduct;
using nk::emulator::Shadow;

constexpr int kRegisters = 65536;  ///< of a multiprocessor
constexpr int kMostRegisters = 255;

/// What a compiler may give each thread of a block that has a multiprocessor for itself.
int registers_at_launch(int threads) {
    return std::min(kRegisters / threads, kMostRegisters) / 8 * 8;
}

}  // namespace

EmulatedHopper::EmulatedHopper(Context& context, Fibers& fibers,
                               std::vector<CopiesInFlight>& copies)
    : context_(context), fibers_(fibers), copies_(copies) {
    nk::emulator::HopperCalls& calls = context.hopper;
    calls.owner = this;
    calls.start_barrier = [](Context* c, long long place, int arrivals) {
        of(c).start_barrier(place, arrivals);
    };
    calls.fence_barriers = [](Context* c) { of(c).barriers_.fence(c->thread); };
    calls.arrive = [](Context* c, long long place, int bytes) { of(c).arrive(place, bytes); };
    calls.arrive_after_copies = [](Context* c, long long place) {
        of(c).arrive_after_copies(place);
    };
    calls.wait_barrier = [](Context* c, long long place, int parity) {
        of(c).wait_barrier(place, parity);
    };
    calls.named_barrier = [](Context* c, int number, int threads) {
        of(c).named_barrier(number, threads);
    };
    calls.fence_async = [](Context*) {};
    calls.start_bulk_copy = [](Context* c, const BulkCopy* copy) { of(c).start_bulk_copy(*copy); };
    calls.commit_stores = [](Context* c) { of(c).commit_stores(); };
    calls.wait_stores_read = [](Context* c, int pending) { of(c).wait_stores_read(pending); };
    calls.set_registers = [](Context* c, int registers, bool more) {
        of(c).set_registers(registers, more);
    };
    calls.fence_products = [](Context* c) { of(c).group().fence(c->thread % kGroupThreads); };
    calls.start_product = [](Context* c, const GroupProduct* product) {
        of(c).start_product(*product);
    };
    calls.commit_products = [](Context* c) { of(c).group().commit(c->thread % kGroupThreads); };
    calls.wait_products = [](Context* c, int pending) { of(c).wait_products(pending); };
}

EmulatedHopper& EmulatedHopper::of(Context* context) {
    return *static_cast<EmulatedHopper*>(context->hopper.owner);
}

void EmulatedHopper::start_block() {
    const auto threads = static_cast<std::size_t>(context_.threads);
    barriers_.clear();
    in_flight_.clear();
    named_.fill({});
    stores_.assign(threads, {});
    registers_.assign(threads, registers_at_launch(context_.threads));
    spare_registers_ = 0;
    groups_.clear();
    for (std::size_t group = 0; group < threads / kGroupThreads; ++group)
        groups_.emplace_back(context_.shared, context_.shared_bytes);
}

void EmulatedHopper::fail_if(const Misuse& wrong) {
    if (wrong) fibers_.fail(*wrong);
}

GroupProducts& EmulatedHopper::group() {
    const auto which = static_cast<std::size_t>(context_.thread / kGroupThreads);
    if (which >= groups_.size()) fibers_.fail("a product by less than a warp group");
    return groups_[which];
}

void EmulatedHopper::need_barrier(long long place) {
    fail_if(barriers_.check(place));
}

void EmulatedHopper::settle(long long place, std::uint64_t phases_before, const Misuse& wrong,
                            int thread) {
    if (wrong) return fibers_.fail(*wrong, thread);
    if (barriers_.phases(place) == phases_before) return;
    ++context_.epoch;
    fibers_.wake(Waits::Barrier, place);
}

void EmulatedHopper::start_barrier(long long place, int arrivals) {
    fail_if(barriers_.start(place, arrivals, context_.thread));
}

void EmulatedHopper::arrive(long long place, int bytes) {
    need_barrier(place);
    const std::uint64_t before = barriers_.phases(place);
    settle(place, before, barriers_.arrive(place, bytes), context_.thread);
}

void EmulatedHopper::arrive_after_copies(long long place) {
    need_barrier(place);
    CopiesInFlight& mine = copies_[static_cast<std::size_t>(context_.thread)];
    mine.commit();
    in_flight_.push_back(LateArrival{context_.thread, place, std::move(mine)});
    mine = {};
}

void EmulatedHopper::wait_barrier(long long place, int parity) {
    need_barrier(place);
    if (parity != 0 && parity != 1) fibers_.fail(fmt::format("a barrier's parity is {}", parity));
    while (!barriers_.pass(place, parity)) fibers_.wait(Waits::Barrier, place);
}

void EmulatedHopper::named_barrier(int number, int threads) {
    if (number < 1 || number > 15)
        fibers_.fail(fmt::format("named barrier {}: they are 1 to 15", number));
    if (threads < 32 || threads % 32 != 0 || threads > context_.threads)
        fibers_.fail(fmt::format("a named barrier of {} threads", threads));
    NamedBarrier& barrier = named_[static_cast<std::size_t>(number)];
    if (barrier.arrived > 0 && barrier.threads != threads)
        fibers_.fail(fmt::format("threads come to named barrier {} as one of {} and of {}", number,
                                 barrier.threads, threads));
    barrier.threads = threads;
    fibers_.set_waiting(Waits::Named, number);
    if (++barrier.arrived == threads) {
        barrier.arrived = 0;
        ++context_.epoch;
        fibers_.wake(Waits::Named, number);
    }
    fibers_.leave();
}

void EmulatedHopper::mark(const StartedBulk& bulk, bool begins) {
    for_each_unit(bulk, [&](const BulkUnit& unit) {
        for (int i = 0; i < 16; ++i) {
            Shadow& cell = context_.shadow[unit.place + i];
            if (begins && cell.copying != 0)
                fibers_.fail(
                    fmt::format("write to what a copy in flight writes: `{}`", bulk.copy.tile));
            cell.copying = begins ? 1 : 0;
            cell.write_epoch = context_.epoch;
            cell.writer = static_cast<unsigned short>(bulk.thread);
        }
    });
}

void EmulatedHopper::start_bulk_copy(const BulkCopy& copy) {
    const StartedBulk bulk(copy, context_.thread);
    fail_if(check_map(bulk.map));
    if (!bulk.loads())
        return stores_[static_cast<std::size_t>(context_.thread)].open.push_back(bulk);
    need_barrier(copy.barrier);
    fail_if(barriers_.expect_copy(copy.barrier));
    mark(bulk, true);
    in_flight_.emplace_back(bulk);
}

void EmulatedHopper::land() {
    const std::size_t which = fibers_.random()() % in_flight_.size();
    InFlight one = std::move(in_flight_[which]);
    in_flight_[which] = std::move(in_flight_.back());
    in_flight_.pop_back();
    std::visit(overloaded{
                   [&](const StartedBulk& bulk) {
                       carry_out(bulk, context_.shared);
                       mark(bulk, false);
                       const long long place = bulk.copy.barrier;
                       const std::uint64_t before = barriers_.phases(place);
                       settle(place, before, barriers_.complete_copy(place, bulk.bytes()),
                              bulk.thread);
                   },
                   [&](LateArrival& late) {
                       late.copies.wait(0, context_, fibers_.random());
                       const std::uint64_t before = barriers_.phases(late.place);
                       settle(late.place, before, barriers_.arrive(late.place, 0), late.thread);
                   },
               },
               one);
}

void EmulatedHopper::commit_stores() {
    Stores& mine = stores_[static_cast<std::size_t>(context_.thread)];
    mine.groups.push_back(std::move(mine.open));
    mine.open.clear();
}

void EmulatedHopper::wait_stores_read(int pending) {
    Stores& mine = stores_[static_cast<std::size_t>(context_.thread)];
    std::vector<StartedBulk> ended;
    for (; mine.groups.size() > static_cast<std::size_t>(pending); mine.groups.pop_front())
        ended.insert(ended.end(), mine.groups.front().begin(), mine.groups.front().end());
    std::shuffle(ended.begin(), ended.end(), fibers_.random());
    for (const StartedBulk& store : ended) carry_out(store, context_.shared);
}

void EmulatedHopper::set_registers(int registers, bool more) {
    int& mine = registers_[static_cast<std::size_t>(context_.thread)];
    if (more ? registers < mine : registers > mine)
        fibers_.fail(fmt::format("a thread that has {} registers {} {}", mine,
                                 more ? "takes" : "gives up all but", registers));
    while (registers - mine > spare_registers_) fibers_.wait(Waits::Registers);
    spare_registers_ -= registers - mine;
    mine = registers;
    if (!more) fibers_.wake(Waits::Registers, 0);
}

void EmulatedHopper::check_operands(const StartedProduct& product) {
    const auto check = [&](const OperandLayout& layout, int size) {
        for (int across = 0; across < size; ++across)
            for (int k = 0; k < 16; ++k) {
                const Shadow& cell = context_.shadow[layout.place(across, k)];
                if (cell.copying != 0) fibers_.fail("a product reads what a copy in flight writes");
                if (cell.write_epoch == 0)
                    fibers_.fail("a product reads shared memory that was never written");
            }
    };
    if (product.what.held == nullptr) check(product.left, 64);
    check(product.right, 8 * product.what.across);
}

void EmulatedHopper::start_product(const GroupProduct& product) {
    GroupProducts& mine = group();
    const int thread = context_.thread % kGroupThreads;
    fail_if(mine.start(thread, product));
    const StartedProduct& started = mine.last(thread);
    if (!started.whole()) return;
    check_operands(started);
    if (fibers_.random()() % 4 == 0) mine.hurry();
    fibers_.wake(Waits::Products, context_.thread / kGroupThreads);
}

void EmulatedHopper::wait_products(int pending) {
    GroupProducts& mine = group();
    const int thread = context_.thread % kGroupThreads;
    const std::int64_t covered = mine.covered(thread, pending);
    while (!mine.whole(covered)) fibers_.wait(Waits::Products, context_.thread / kGroupThreads);
    fail_if(mine.end(thread, covered));
}

void EmulatedHopper::check_end(int thread) {
    const auto which = static_cast<std::size_t>(thread);
    const Stores& mine = stores_[which];
    if (!mine.open.empty() || !mine.groups.empty())
        fibers_.fail("ends with a bulk store in flight");
    if (which / kGroupThreads < groups_.size() &&
        !groups_[which / kGroupThreads].none(thread % kGroupThreads))
        fibers_.fail("ends with a product in flight");
}

void EmulatedHopper::check_block_end() {
    if (!in_flight_.empty()) fibers_.fail("the block ends with a bulk copy in flight");
    if (barriers_.unwaited())
        fibers_.fail("the block ends with a bulk copy that nobody waited for");
}

std::string EmulatedHopper::describe(const Fibers::Waiting& waiting) const {
    if (waiting.what == Waits::Barrier)
        return fmt::format("at the barrier at byte {} of shared memory, whose {}", waiting.which,
                           barriers_.lacking(waiting.which));
    if (waiting.what == Waits::Named) {
        const NamedBarrier& barrier = named_[static_cast<std::size_t>(waiting.which)];
        return fmt::format("at named barrier {}, to which {} of {} threads came", waiting.which,
                           barrier.arrived, barrier.threads);
    }
    if (waiting.what == Waits::Products)
        return "for products that not all threads of its warp group have started";
    return fmt::format("for registers, of which {} are left over", spare_registers_);
}

}  // namespace napkin
