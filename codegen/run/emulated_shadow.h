// Who touched each byte of an emulated block's shared memory last, so that two accesses which no
// synchronisation orders, one of them a write, are found whatever the order in which threads run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/run/emulated_clocks.h"
#include "codegen/run/emulated_places.h"

namespace napkin {

/// Readers of a byte since it was last written: nobody, one event, or a set of them.
using Readers = std::uint32_t;

class ReaderSets {
public:
    /// The readers and one more, without those that come before what `thread` does now.
    [[nodiscard]] Readers with(Readers readers, Epoch reader, int thread, const Clocks& clocks);
    /// A reader for which `clocks` has no order, or 0.
    template <class Ordered>
    [[nodiscard]] Epoch unordered(Readers readers, const Ordered& ordered) const {
        if (readers == 0) return 0;
        if (!is_set(readers)) return ordered(readers) ? 0 : readers;
        const Epoch* set = members_.data() + index_of(readers);
        for (Epoch i = 1; i <= set[0]; ++i)
            if (!ordered(set[i])) return set[i];
        return 0;
    }
    [[nodiscard]] bool full() const { return members_.size() > kMost; }
    /// Keeps those that `keep` is called with, which gives them new names.
    template <class EachReaders>
    void collect(const EachReaders& each);
    void clear();

private:
    static constexpr std::size_t kMost = 900'000;
    static bool is_set(Readers readers) { return readers >> kCountBits == kMostAgents; }
    static std::size_t index_of(Readers readers) { return readers & kMostCounts; }
    Readers add(const std::vector<Epoch>& set);

    struct Added {
        Readers before = 0;
        Epoch reader = 0;
        Readers after = 0;
    };
    std::vector<Epoch> members_;  ///< of each set, after their number
    std::array<Added, 4096> added_{};
    std::vector<Epoch> now_;
};

/// An access to a part of shared memory.
struct SharedAccess {
    enum class By { Read, Write, Copy, BulkLoad, BulkStore, Product };
    By by = By::Read;
    int thread = 0;       ///< whose order counts
    Epoch as = 0;         ///< who reads or writes
    long long place = 0;  ///< bytes from the start of shared memory
    long long bytes = 0;

    [[nodiscard]] bool writes() const {
        return by == By::Write || by == By::Copy || by == By::BulkLoad;
    }
    /// Through the proxy of bulk copies and products.
    [[nodiscard]] bool asynchronous() const { return by >= By::BulkLoad; }
};

/// Why an access may not be.
struct Conflict {
    enum class What { NeverWritten, Unfenced, Wrote, Reads };
    What what = What::NeverWritten;
    Epoch other = 0;
    long long place = 0;  ///< in shared memory
};
[[nodiscard]] std::string explain(const Conflict& conflict, const SharedAccess& access,
                                  const char* name, long long index, const Clocks& clocks);

class SharedShadow {
public:
    SharedShadow(const Clocks& clocks, long long bytes);
    void clear();
    /// Checks the access, and keeps it.
    [[nodiscard]] std::optional<Conflict> touch(const SharedAccess& access);
    /// The same of 16 bytes each, from these places on, which are multiples of it.
    [[nodiscard]] std::optional<Conflict> touch(const SharedAccess& access,
                                                std::span<const long long> places);
    /// Whether there are more sets of readers than can be told apart.
    [[nodiscard]] bool exhausted() const { return exhausted_; }
    /// Who wrote a byte.
    [[nodiscard]] Epoch written(long long place) const;

private:
    struct Cell {
        Epoch written = 0;
        Readers readers = 0;
        bool operator==(const Cell&) const = default;
    };
    static constexpr long long kUnit = 16;  ///< bytes that are mostly touched as one

    std::optional<Conflict> touch(Cell& cell, const SharedAccess& access);
    std::optional<Conflict> touch_bytes(std::size_t unit, long long first, long long last,
                                        const SharedAccess& access);
    std::optional<Conflict> check(const Cell& cell, const SharedAccess& access) const;
    void split(std::size_t unit);
    void collect();

    const Clocks& clocks_;
    std::vector<Cell> units_;
    std::vector<bool> split_;
    std::vector<Cell> bytes_;  ///< of units that are split
    ReaderSets sets_;
    bool exhausted_ = false;
};

/// An event at a byte, whose place in the kernel is asked for.
struct Watch {
    Epoch event = 0;
    long long place = 0;
    KernelPlace seen;
};

/// Shared memory as far as order goes.
struct SharedOrder {
    Clocks clocks;
    SharedShadow shadow;
    bool checked = true;
    Watch* watch = nullptr;
    std::optional<Conflict> conflict;  ///< that ended the launch
    SharedOrder(int threads, long long bytes) : clocks(threads), shadow(clocks, bytes) {}
    void restart() {
        clocks.restart();
        shadow.clear();
    }
    /// Checks the access and keeps it; or tells that it may not be.
    [[nodiscard]] bool touch(const SharedAccess& access);
    /// The same of 16 bytes each.
    [[nodiscard]] bool touch(const SharedAccess& access, std::span<const long long> places);
    /// Why the last access may not be, which is of element `index` of an array.
    [[nodiscard]] std::string wrong(const SharedAccess& access, const char* name,
                                    long long index) const;

private:
    void note_watched(const SharedAccess& access);
};

}  // namespace napkin
