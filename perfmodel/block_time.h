// How long the blocks of a kernel take on a machine, in plain seconds: what time.h explains, asked
// often.
//
// A processor holds as many blocks as shared memory, registers and threads allow. One block's work
// takes the root of the sum of its pipelines' powers, of which two that are as long take longer
// than one by a share that is a figure of the machine; several warp groups hide more of each other.
// Its loads join in the same way, by a share of their own. Blocks that share a processor take
// turns, so that a chunk takes n times as long where n of them are held; a block's own chain of
// waits hides behind that, all but a share. Before its first chunk and after its last a block waits
// for what it loads and saves.
//
// Blocks start in their order, each where one ends first, with as many chunks as its mask leaves; a
// block that takes several tiles goes through them there and back.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "perfmodel/energy.h"
#include "perfmodel/machine.h"
#include "perfmodel/work.h"

namespace napkin {

/// Seconds of one processor on each pipeline.
struct Busy {
    double tensor = 0;
    double operands = 0;  ///< of the memory beside the processor, as the following
    double elements = 0;
    double exponentials = 0;
    double arithmetic = 0;
    [[nodiscard]] double shared() const { return operands + elements; }
    [[nodiscard]] double sum() const;
};

/// A machine's figures, looked up once.
class BlockClock {
public:
    explicit BlockClock(const Machine& machine);

    /// Of a kernel: from its launch to its end, low and high as far as data decides.
    struct Times {
        double low = 0;
        double high = 0;
    };
    [[nodiscard]] Times times_of(const KernelWork& work) const;
    /// With the model's spread; endless where the machine does not say how fast its memory is, or
    /// no block fits a processor.
    [[nodiscard]] Times interval_of(const KernelWork& work) const;
    [[nodiscard]] Seconds middle_of(const KernelWork& work) const {
        const Times times = interval_of(work);
        return Seconds{0.5 * (times.low + times.high)};
    }

    /// Blocks that one processor holds at once; one where it has too little for any.
    [[nodiscard]] std::int64_t resident_blocks(const KernelWork& work) const;
    /// What one block takes of a processor, however many it holds.
    struct Taken {
        const char* what = "";
        double amount = 0;
        double least = 0;  ///< that a compiler can make do with
        double there = 0;  ///< of the processor; 0 where the machine does not say
        [[nodiscard]] bool fits() const { return there <= 0 || least <= there; }
    };
    [[nodiscard]] std::array<Taken, 3> taken_by_block(const KernelWork& work) const;
    /// Bytes that device memory delivers: all arrays once, and again what the cache has lost.
    [[nodiscard]] double from_device(const KernelWork& work) const;
    /// How many times as long it takes for them, as pieces lie apart that it gives once.
    [[nodiscard]] double slowed(const KernelWork& work) const;
    [[nodiscard]] Busy busy(const UnitWork& work, const KernelWork& kernel) const;

private:
    /// What instructions of one kind of kernel reach.
    struct Kind {
        double reached = 1;
        double fetched = 1;
        double issued = 1;
        double exposed = 0;
        double step = 0;
    };
    struct Tiles;

    [[nodiscard]] const Kind& kind_of(const KernelWork& kernel) const;
    [[nodiscard]] double exposed(const KernelWork& kernel) const;
    [[nodiscard]] double computed(const UnitWork& work, const KernelWork& kernel) const;
    [[nodiscard]] double moved_byte(const KernelWork& kernel) const;
    [[nodiscard]] double alone(const UnitWork& work, const KernelWork& kernel) const;
    [[nodiscard]] double copied(const UnitWork& work) const;
    [[nodiscard]] bool leaves_idle(const KernelWork& kernel) const;
    [[nodiscard]] double lone(const UnitWork& work, const KernelWork& kernel) const;
    [[nodiscard]] double waits(const UnitWork& work, const KernelWork& kernel) const;
    [[nodiscard]] double chain(const UnitWork& work, const KernelWork& kernel) const;
    [[nodiscard]] double chain(const LoopWork& loop, const KernelWork& kernel) const;
    [[nodiscard]] double arrives(const LoopWork& loop, const KernelWork& kernel) const;
    [[nodiscard]] double tested(const LoopWork& loop, const KernelWork& kernel) const;
    [[nodiscard]] double apart(const LoopWork& loop, const KernelWork& kernel) const;
    [[nodiscard]] double ramp(const KernelWork& work) const;
    [[nodiscard]] double throttled(const KernelWork& work, double seconds) const;
    [[nodiscard]] Tiles tiles_of(const KernelWork& work) const;
    [[nodiscard]] double time_of(const KernelWork& work) const;
    [[nodiscard]] double last_end(const KernelWork& work, const Tiles& tiles) const;

    bool has_times_ = true;
    std::int64_t processors_ = 1;
    std::map<ElementType, double> tensor_;  ///< seconds of a processor for an operation
    double fused_ = 0;                      ///< for a multiply-add, or an issued instruction
    double shared_ = 0;                     ///< for a byte, as the following two
    double port_ = 0;
    double device_ = 0;  ///< of all processors
    double cache_ = 0;   ///< likewise
    double exponential_ = 0;
    Kind warps_;
    Kind groups_;
    Kind plain_;
    double exposed_ = 0;  ///< share of a block's waits that blocks beside it do not hide
    double overlapped_ = 0;
    double copied_ = 0;  ///< share of loads, or of what hides them, that is exposed
    double barrier_ = 0;
    double fill_ = 0;
    double load_ = 0;  ///< until what is loaded is there
    double copy_ = 0;  ///< until what is copied into a ring is there, and seen
    double start_ = 0;
    double cached_ = 0;  ///< bytes; 0 where there is no cache
    double thread_bytes_ = 0;
    double register_bytes_ = 0;
    double threads_ = 0;
    std::optional<double> most_blocks_;
    double shared_bytes_ = 0;
    double block_bytes_ = 0;
    double reserved_ = 0;
    double spread_ = 0;
    EnergyFigures energies_;
    double allowed_ = 0;  ///< watts beside an idle board's
};

}  // namespace napkin
