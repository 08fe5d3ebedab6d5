// Products of a warp group (wgmma), as the emulator keeps and carries them out: once for all of the
// group's threads, when the last has started it and before the first ends its wait.
//
// Registers are the kernel's variables, known by address. While a product is in flight its results
// are poison; that nobody writes them is seen at the wait, and that a fence stood between what
// wrote a register and the product that reads it by what the register held at the fence.
//
// Products of 2-byte elements are exact, and summed in f32. Of 8 bits a sum of 32 of them and of
// what they are added to is cut off 13 bits after the largest exponent, towards zero, as published
// models of the H100 have it (Khattak and Mikaitis, arXiv 2512.07004).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <vector>

#include "codegen/prelude/emulator/interface.h"
#include "codegen/run/emulated_barriers.h"

namespace napkin {

inline constexpr int kGroupThreads = 128;

/// How an operand lies in shared memory, decoded.
struct OperandLayout {
    long long start = 0;  ///< bytes from the start of shared memory
    long long panels_apart = 0;
    long long rows_apart = 0;
    int swizzle = 0;
    bool transposed = false;  ///< what runs along k in memory is not
    int element_bytes = 2;

    /// Of one instruction, along k.
    [[nodiscard]] int depth() const { return 32 / element_bytes; }
    /// The place of an element: its number along rows or columns, and along k.
    [[nodiscard]] long long place(int across, int k) const;
};
/// The operand, or what is wrong with it: `size` rows or columns of it are inside shared memory.
[[nodiscard]] Misuse decode(std::uint64_t operand, bool transposed, nk::emulator::Format format,
                            int size, long long shared_bytes, OperandLayout& layout);

/// 64 x 8 across results while products add to them.
struct ResultsInFlight {
    int across = 0;
    std::vector<float> at;  ///< rows of 8 across
    int ended = 0;          ///< threads that have them in their registers again
};

struct StartedProduct {
    nk::emulator::GroupProduct what;
    OperandLayout left;
    OperandLayout right;
    ResultsInFlight* results = nullptr;
    std::vector<std::uint32_t> held;  ///< four words a thread
    int threads = 0;                  ///< that have started it
    int ended = 0;                    ///< and waited for it
    std::vector<Knowledge> checked;   ///< what threads knew for whom its operands were checked
    bool carried_out = false;
    [[nodiscard]] bool whole() const { return threads == kGroupThreads; }
};

/// The products of one warp group. A thread is its number in the group.
class GroupProducts {
public:
    GroupProducts(unsigned char* shared, long long shared_bytes)
        : shared_(shared), shared_bytes_(shared_bytes), threads_(kGroupThreads) {}

    /// Registers of functions that have returned are forgotten: those below `frame`.
    void fence(int thread, const void* frame);
    [[nodiscard]] Misuse start(int thread, const nk::emulator::GroupProduct& product);
    void commit(int thread);
    /// How many products, from the kernel's first on, the wait is for.
    [[nodiscard]] std::int64_t covered(int thread, int pending) const;
    /// The number of the group that the thread's next products are of, from 1 on.
    [[nodiscard]] std::uint64_t open_group(int thread) const {
        return threads_[static_cast<std::size_t>(thread)].commits + 1;
    }
    /// How many groups the thread has waited for.
    [[nodiscard]] std::uint64_t ended_groups(int thread) const {
        const Thread& of = threads_[static_cast<std::size_t>(thread)];
        return of.commits - of.groups.size();
    }
    /// Whether all threads have started that many.
    [[nodiscard]] bool whole(std::int64_t products) const;
    /// Gives the thread the results of the first so many products.
    [[nodiscard]] Misuse end(int thread, std::int64_t products);
    /// The thread uses registers, so many words, from here on.
    [[nodiscard]] Misuse settle(int thread, const void* registers, int words) const;
    /// Carries out what all threads have started.
    void hurry();
    [[nodiscard]] bool none(int thread) const;
    /// The last product that the thread started.
    [[nodiscard]] StartedProduct& last(int thread);

private:
    /// Registers that a product in flight writes or reads.
    struct Busy {
        float* results = nullptr;
        int across = 0;
        ResultsInFlight* values = nullptr;
        int products = 0;  ///< in flight
    };
    /// What registers held when the thread last fenced, or a product last left there.
    struct Known {
        const void* registers = nullptr;
        std::vector<std::uint32_t> words;
    };
    struct Thread {
        std::int64_t started = 0;
        std::int64_t ended = 0;
        std::deque<std::int64_t> groups;  ///< products started at each commit
        std::uint64_t commits = 0;
        std::vector<Busy> busy;
        std::vector<const unsigned*> held;  ///< of the products in flight
        std::vector<Known> known;
        bool fenced = false;  ///< since its last wait
    };

    [[nodiscard]] StartedProduct& at(std::int64_t product) {
        return queue_[static_cast<std::size_t>(product - first_)];
    }
    Misuse begin(const nk::emulator::GroupProduct& product);
    Misuse take_registers(int thread, StartedProduct& started,
                          const nk::emulator::GroupProduct& product);
    Misuse end_one(int thread, StartedProduct& product);
    static Misuse check_fenced(Thread& of, const void* registers, int words);
    static void know(Thread& of, const void* registers, int words);
    [[nodiscard]] float element(const OperandLayout& layout, int across, int k,
                                nk::emulator::Format format) const;
    [[nodiscard]] float left_element(const StartedProduct& product, int row, int k) const;
    [[nodiscard]] std::vector<float> right_elements(const StartedProduct& product) const;
    void carry_out(StartedProduct& product) const;
    void drop_ended();

    unsigned char* shared_;
    long long shared_bytes_;
    std::vector<Thread> threads_;
    std::deque<StartedProduct> queue_;
    std::int64_t first_ = 0;  ///< product in the queue
    std::list<ResultsInFlight> results_;
};

}  // namespace napkin
