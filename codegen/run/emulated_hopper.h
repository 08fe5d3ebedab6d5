// What target sm_90a adds to the emulated block: barriers that count bytes, named barriers, bulk
// copies, products of warp groups, register budgets.
#pragma once

#include <array>
#include <deque>
#include <variant>
#include <vector>

#include "codegen/prelude/emulator/interface.h"
#include "codegen/run/emulated_barriers.h"
#include "codegen/run/emulated_bulk.h"
#include "codegen/run/emulated_fibers.h"
#include "codegen/run/emulated_memory.h"
#include "codegen/run/emulated_products.h"
#include "codegen/run/emulated_shadow.h"

namespace napkin {

class EmulatedHopper {
public:
    EmulatedHopper(nk::emulator::Context& context, Fibers& fibers, SharedOrder& order,
                   std::vector<CopiesInFlight>& copies);

    void start_block();
    /// Whether something in flight can end now.
    [[nodiscard]] bool in_flight() const { return !in_flight_.empty(); }
    /// Ends something that is in flight, whatever comes.
    void land();
    /// What a thread that ends has left undone.
    void check_end(int thread);
    void check_block_end();
    /// What a thread waits for, in words.
    [[nodiscard]] std::string describe(const Fibers::Waiting& waiting) const;

private:
    /// An arrival that comes when copies are through.
    struct LateArrival {
        int thread = 0;
        long long place = 0;
        std::uint64_t copies = 0;  ///< their number
    };
    using InFlight = std::variant<StartedBulk, LateArrival>;
    struct NamedBarrier {
        int arrived = 0;
        int threads = 0;
        std::vector<bool> came;  ///< which threads
        Release arriving;
        Knowledge together;  ///< of those whom it last let go
    };
    /// Bulk stores of one thread, numbered by groups from 1 on.
    struct Stores {
        std::vector<StartedBulk> open;
        std::deque<std::vector<StartedBulk>> groups;
        std::uint64_t commits = 0;
        int agent = 0;  ///< 0 before the first
    };
    struct Group {
        GroupProducts products;
        int agent = 0;  ///< of its first warp
    };

    void start_barrier(long long place, int arrivals);
    void arrive(long long place, int bytes);
    void arrive_after_copies(long long place);
    void wait_barrier(long long place, int parity);
    [[nodiscard]] bool test_barrier(long long place, int parity);
    void named_barrier(int number, int threads, bool waits);
    void start_bulk_copy(const nk::emulator::BulkCopy& copy);
    void commit_stores();
    void wait_stores_read(int pending);
    void set_registers(int registers, bool more);
    void start_product(const nk::emulator::GroupProduct& product);
    void wait_products(int pending);

    /// Wakes who waits for a phase, if it was completed.
    void settle(long long place, std::uint64_t phases_before, const Misuse& wrong, int thread);
    PhaseBarrier& barrier(long long place);
    void touch(const StartedBulk& bulk, SharedAccess access);
    void check_operands(StartedProduct& product);
    void check_operand(const OperandLayout& layout, int size);
    Group& group();
    void fail_if(const Misuse& wrong);
    static EmulatedHopper& of(nk::emulator::Context* context);
    static void fence_products(nk::emulator::Context* c);

    nk::emulator::Context& context_;
    Fibers& fibers_;
    SharedOrder& order_;
    std::vector<CopiesInFlight>& copies_;
    PhaseBarriers barriers_;
    std::vector<InFlight> in_flight_;
    std::array<NamedBarrier, 16> named_;
    std::vector<Stores> stores_;  ///< of each thread
    std::vector<int> registers_;  ///< of each thread
    long long spare_registers_ = 0;
    std::vector<Group> groups_;
};

}  // namespace napkin
