#include "codegen/run/emulated_hopper.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagrams/overloaded.h"

namespace napkin {
namespace {

using nk::emulator::BulkCopy;
using nk::emulator::Context;
using nk::emulator::GroupProduct;

constexpr int kRegisters = 65536;  ///< of a multiprocessor
constexpr int kMostRegisters = 255;

/// What a compiler may give each thread where so many share a multiprocessor.
int registers_at_launch(int threads) {
    return std::min(kRegisters / threads, kMostRegisters) / 8 * 8;
}

}  // namespace

EmulatedHopper::EmulatedHopper(Context& context, Fibers& fibers, SharedOrder& order,
                               std::vector<CopiesInFlight>& copies)
    : context_(context), fibers_(fibers), order_(order), copies_(copies) {
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
    calls.test_barrier = [](Context* c, long long place, int parity) {
        return of(c).test_barrier(place, parity);
    };
    calls.named_barrier = [](Context* c, int number, int threads, bool waits) {
        of(c).named_barrier(number, threads, waits);
    };
    calls.fence_async = [](Context* c) { of(c).order_.clocks.fence(c->thread); };
    calls.start_bulk_copy = [](Context* c, const BulkCopy* copy) { of(c).start_bulk_copy(*copy); };
    calls.commit_stores = [](Context* c) { of(c).commit_stores(); };
    calls.wait_stores_read = [](Context* c, int pending) { of(c).wait_stores_read(pending); };
    calls.set_registers = [](Context* c, int registers, bool more) {
        of(c).set_registers(registers, more);
    };
    calls.fence_products = fence_products;
    calls.start_product = [](Context* c, const GroupProduct* product) {
        of(c).start_product(*product);
    };
    calls.commit_products = [](Context* c) {
        of(c).group().products.commit(c->thread % kGroupThreads);
    };
    calls.settle = [](Context* c, const void* registers, int words) {
        of(c).fail_if(of(c).group().products.settle(c->thread % kGroupThreads, registers, words));
    };
    calls.wait_products = [](Context* c, int pending) { of(c).wait_products(pending); };
}

// What is below this frame is of no function of the kernel that still runs.
void EmulatedHopper::fence_products(Context* c) {
    of(c).group().products.fence(c->thread % kGroupThreads, __builtin_frame_address(0));
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
    registers_.assign(threads, registers_at_launch(context_.threads * context_.resident));
    spare_registers_ = 0;
    groups_.clear();
    for (std::size_t group = 0; group < threads / kGroupThreads; ++group)
        groups_.push_back({GroupProducts(context_.shared, context_.shared_bytes),
                           order_.clocks.add_agents(AgentKind::Products, kGroupThreads / 32,
                                                    static_cast<long long>(group))});
}

void EmulatedHopper::fail_if(const Misuse& wrong) {
    if (wrong) fibers_.fail(*wrong);
}

EmulatedHopper::Group& EmulatedHopper::group() {
    const auto which = static_cast<std::size_t>(context_.thread / kGroupThreads);
    if (which >= groups_.size()) fibers_.fail("a product by less than a warp group");
    return groups_[which];
}

PhaseBarrier& EmulatedHopper::barrier(long long place) {
    if (!barriers_.contains(place)) fibers_.fail("a barrier that was never started");
    PhaseBarrier& barrier = barriers_.at(place);
    if (!order_.clocks.ordered(barrier.started, context_.thread))
        fibers_.fail("a barrier that another thread starts, and nothing since orders that");
    for (const long long half : {place, place + 4})
        if (order_.shadow.written(half) != barrier.started)
            fibers_.fail("a barrier whose memory was written since it was started");
    return barrier;
}

void EmulatedHopper::settle(long long place, std::uint64_t phases_before, const Misuse& wrong,
                            int thread) {
    if (wrong) return fibers_.fail(*wrong, thread);
    PhaseBarrier& barrier = barriers_.at(place);
    if (barrier.phases == phases_before) return;
    barrier.arriving.counts.emplace_back(barrier.agent, barrier.phases);
    barrier.arrived = order_.clocks.join(barrier.arriving);
    barrier.arriving = {};
    fibers_.wake(Waits::Barrier, place);
}

void EmulatedHopper::start_barrier(long long place, int arrivals) {
    const int agent = order_.clocks.add_agents(AgentKind::BulkLoads, 1, place);
    fail_if(barriers_.start(place, arrivals, order_.clocks.now(context_.thread), agent));
}

void EmulatedHopper::arrive(long long place, int bytes) {
    PhaseBarrier& at = barrier(place);
    const std::uint64_t before = at.phases;
    order_.clocks.release(context_.thread, at.arriving);
    settle(place, before, at.arrive(bytes), context_.thread);
}

void EmulatedHopper::arrive_after_copies(long long place) {
    static_cast<void>(barrier(place));
    CopiesInFlight& mine = copies_[static_cast<std::size_t>(context_.thread)];
    in_flight_.push_back(LateArrival{context_.thread, place, mine.announce()});
}

bool EmulatedHopper::test_barrier(long long place, int parity) {
    PhaseBarrier& at = barrier(place);
    if (parity != 0 && parity != 1) fibers_.fail(fmt::format("a barrier's parity is {}", parity));
    if (!at.pass(parity)) return false;
    order_.clocks.acquire(context_.thread, at.arrived);
    return true;
}

void EmulatedHopper::wait_barrier(long long place, int parity) {
    while (!test_barrier(place, parity)) fibers_.wait(Waits::Barrier, place);
}

void EmulatedHopper::named_barrier(int number, int threads, bool waits) {
    if (number < 1 || number > 15)
        fibers_.fail(fmt::format("named barrier {}: they are 1 to 15", number));
    if (threads < 32 || threads % 32 != 0 || threads > context_.threads)
        fibers_.fail(fmt::format("a named barrier of {} threads", threads));
    NamedBarrier& barrier = named_[static_cast<std::size_t>(number)];
    if (barrier.arrived > 0 && barrier.threads != threads)
        fibers_.fail(fmt::format("threads come to named barrier {} as one of {} and of {}", number,
                                 barrier.threads, threads));
    barrier.threads = threads;
    barrier.came.resize(static_cast<std::size_t>(context_.threads));
    if (barrier.came[static_cast<std::size_t>(context_.thread)])
        fibers_.fail(fmt::format("comes to named barrier {} twice before all have come", number));
    barrier.came[static_cast<std::size_t>(context_.thread)] = true;
    order_.clocks.release(context_.thread, barrier.arriving);
    if (++barrier.arrived < threads) {
        if (!waits) return;
        fibers_.wait(Waits::Named, number);
    } else {
        barrier.together = order_.clocks.join(barrier.arriving);
        barrier.arriving = {};
        barrier.arrived = 0;
        barrier.came.clear();
        fibers_.wake(Waits::Named, number);
    }
    if (waits) order_.clocks.acquire(context_.thread, barrier.together);
}

/// A store does not read what is outside the array.
void EmulatedHopper::touch(const StartedBulk& bulk, SharedAccess access) {
    std::vector<long long> whole;
    for_each_unit(bulk, [&](const BulkUnit& unit) {
        access.place = unit.place + unit.first;
        access.bytes = unit.last - unit.first;
        if (bulk.loads() || access.bytes == 16)
            whole.push_back(unit.place);
        else if (access.bytes > 0 && !order_.touch(access))
            fibers_.fail(order_.wrong(access, bulk.copy.tile, 0));
    });
    if (!order_.touch(access, whole)) fibers_.fail(order_.wrong(access, bulk.copy.tile, 0));
}

void EmulatedHopper::start_bulk_copy(const BulkCopy& copy) {
    using By = SharedAccess::By;
    const int thread = context_.thread;
    const StartedBulk bulk(copy, thread);
    fail_if(check_map(bulk.map));
    if (bulk.loads()) {
        PhaseBarrier& at = barrier(copy.barrier);
        fail_if(at.expect_copy(thread));
        touch(bulk, {By::BulkLoad, thread, epoch_of(at.agent, at.phases + 1)});
        in_flight_.emplace_back(bulk);
        return;
    }
    Stores& mine = stores_[static_cast<std::size_t>(thread)];
    if (mine.agent == 0) mine.agent = order_.clocks.add_agents(AgentKind::BulkStores, 1, thread);
    touch(bulk, {By::BulkStore, thread, epoch_of(mine.agent, mine.commits + 1)});
    mine.open.push_back(bulk);
}

void EmulatedHopper::land() {
    const std::size_t which = fibers_.random()() % in_flight_.size();
    InFlight one = std::move(in_flight_[which]);
    in_flight_[which] = std::move(in_flight_.back());
    in_flight_.pop_back();
    const auto complete = [&](long long place, int thread, const auto& count) {
        PhaseBarrier& at = barriers_.at(place);
        const std::uint64_t before = at.phases;
        settle(place, before, count(at), thread);
    };
    std::visit(overloaded{
                   [&](const StartedBulk& bulk) {
                       carry_out(bulk, context_.shared);
                       complete(bulk.copy.barrier, bulk.thread,
                                [&](PhaseBarrier& at) { return at.complete_copy(bulk.bytes()); });
                   },
                   [&](const LateArrival& late) {
                       copies_[static_cast<std::size_t>(late.thread)].land(late.copies,
                                                                           fibers_.random());
                       complete(late.place, late.thread, [&](PhaseBarrier& at) {
                           const Epoch copies = order_.clocks.copies(late.thread, late.copies);
                           at.arriving.counts.emplace_back(agent_of(copies), count_of(copies));
                           return at.arrive(0);
                       });
                   },
               },
               one);
}

void EmulatedHopper::commit_stores() {
    Stores& mine = stores_[static_cast<std::size_t>(context_.thread)];
    mine.groups.push_back(std::move(mine.open));
    mine.open.clear();
    ++mine.commits;
}

void EmulatedHopper::wait_stores_read(int pending) {
    Stores& mine = stores_[static_cast<std::size_t>(context_.thread)];
    std::vector<StartedBulk> ended;
    for (; mine.groups.size() > static_cast<std::size_t>(pending); mine.groups.pop_front())
        ended.insert(ended.end(), mine.groups.front().begin(), mine.groups.front().end());
    std::shuffle(ended.begin(), ended.end(), fibers_.random());
    for (const StartedBulk& store : ended) carry_out(store, context_.shared);
    if (mine.agent != 0)
        order_.clocks.learn(context_.thread, mine.agent, mine.commits - mine.groups.size());
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

void EmulatedHopper::check_operand(const OperandLayout& layout, int size) {
    const Group& mine = group();
    const std::uint64_t number = mine.products.open_group(context_.thread % kGroupThreads);
    std::vector<long long> units;
    for (int across = 0; across < size; across += layout.transposed ? 8 : 1)
        for (int k = 0; k < layout.depth(); k += layout.transposed ? 1 : layout.depth() / 2)
            units.push_back(layout.place(across, k) / 16 * 16);
    const SharedAccess access{SharedAccess::By::Product, context_.thread,
                              epoch_of(mine.agent, number)};
    if (!order_.touch(access, units)) fibers_.fail(order_.wrong(access, "", 0));
}

/// Threads who know the same are one to operands.
void EmulatedHopper::check_operands(StartedProduct& product) {
    const Knowledge& known = order_.clocks.knowledge(context_.thread);
    if (std::find(product.checked.begin(), product.checked.end(), known) != product.checked.end())
        return;
    product.checked.push_back(known);
    if (product.what.held == nullptr) check_operand(product.left, 64);
    check_operand(product.right, 8 * product.what.across);
}

void EmulatedHopper::start_product(const GroupProduct& product) {
    GroupProducts& mine = group().products;
    const int thread = context_.thread % kGroupThreads;
    fail_if(mine.start(thread, product));
    StartedProduct& started = mine.last(thread);
    check_operands(started);
    if (!started.whole()) return;
    if (fibers_.random()() % 4 == 0) mine.hurry();
    fibers_.wake(Waits::Products, context_.thread / kGroupThreads);
}

void EmulatedHopper::wait_products(int pending) {
    Group& mine = group();
    const int thread = context_.thread % kGroupThreads;
    const std::int64_t covered = mine.products.covered(thread, pending);
    while (!mine.products.whole(covered))
        fibers_.wait(Waits::Products, context_.thread / kGroupThreads);
    fail_if(mine.products.end(thread, covered));
    order_.clocks.learn(context_.thread, mine.agent + thread / 32,
                        mine.products.ended_groups(thread));
}

void EmulatedHopper::check_end(int thread) {
    const auto which = static_cast<std::size_t>(thread);
    const Stores& mine = stores_[which];
    if (!mine.open.empty() || !mine.groups.empty())
        fibers_.fail("ends with a bulk store in flight");
    if (which / kGroupThreads < groups_.size() &&
        !groups_[which / kGroupThreads].products.none(thread % kGroupThreads))
        fibers_.fail("ends with a product in flight");
}

void EmulatedHopper::check_block_end() {
    for (std::size_t number = 0; number < named_.size(); ++number)
        if (named_[number].arrived > 0)
            fibers_.fail(fmt::format("the block ends and named barrier {} has {} of {} threads",
                                     number, named_[number].arrived, named_[number].threads));
    if (const std::optional<int> thread = barriers_.unwaited())
        fibers_.fail("the block ends and nobody has waited for its bulk copies", *thread);
}

std::string EmulatedHopper::describe(const Fibers::Waiting& waiting) const {
    if (waiting.what == Waits::Barrier)
        return fmt::format("at the barrier at byte {} of shared memory, whose {}", waiting.which,
                           barriers_.at(waiting.which).lacking());
    if (waiting.what == Waits::Named) {
        const NamedBarrier& named = named_[static_cast<std::size_t>(waiting.which)];
        return fmt::format("at named barrier {}, to which {} of {} threads came", waiting.which,
                           named.arrived, named.threads);
    }
    if (waiting.what == Waits::Products)
        return "for products that not all threads of its warp group have started";
    return fmt::format("for registers, of which {} are left over", spare_registers_);
}

}  // namespace napkin
