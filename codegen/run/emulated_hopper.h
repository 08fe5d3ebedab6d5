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

namespace napkin {

class EmulatedHopper {
public:
    EmulatedHopper(nk::emulator::Context& context, Fibers& fibers,
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
        CopiesInFlight copies;
    };
    using InFlight = std::variant<StartedBulk, LateArrival>;
    struct NamedBarrier {
        int arrived = 0;
        int threads = 0;
        int round = 0;
    };
    struct Stores {
        std::vector<StartedBulk> open;
        std::deque<std::vector<StartedBulk>> groups;
    };

    void start_barrier(long long place, int arrivals);
    void arrive(long long place, int bytes);
    void arrive_after_copies(long long place);
    void wait_barrier(long long place, int parity);
    void named_barrier(int number, int threads);
    void start_bulk_copy(const nk::emulator::BulkCopy& copy);
    void commit_stores();
    void wait_stores_read(int pending);
    void set_registers(int registers, bool more);
    void start_product(const nk::emulator::GroupProduct& product);
    void wait_products(int pending);

    /// What a phase has brought about, or done wrong.
    void settle(long long place, std::uint64_t phases_before, const Misuse& wrong, int thread);
    void need_barrier(long long place);
    void mark(const StartedBulk& bulk, bool begins);
    void check_operands(const StartedProduct& product);
    GroupProducts& group();
    void fail_if(const Misuse& wrong);
    static EmulatedHopper& of(nk::emulator::Context* context);

    nk::emulator::Context& context_;
    Fibers& fibers_;
    std::vector<CopiesInFlight>& copies_;
    PhaseBarriers barriers_;
    std::vector<InFlight> in_flight_;
    std::array<NamedBarrier, 16> named_;
    std::vector<Stores> stores_;  ///< of each thread
    std::vector<int> registers_;  ///< of each thread
    long long spare_registers_ = 0;
    std::vector<GroupProducts> groups_;
};

}  // namespace napkin
