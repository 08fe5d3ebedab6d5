// What a kernel does on one processor, in the units that its time is made of.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diagrams/element_type.h"
#include "schedule/region_schedule.h"

namespace napkin {

/// Of one block.
struct UnitWork {
    std::map<ElementType, double> products;  ///< tensor core operations, by their operands
    /// Of these what a warp group waits for at once, so that nothing of its own hides it.
    std::map<ElementType, double> awaited;
    double exponentials = 0;
    double instructions = 0;  ///< of a thread each: issue slots of a lane
    double shared = 0;        ///< bytes to and from shared memory, of operands and copies
    double turns = 0;         ///< of the memory beside a processor, for warps' reads of elements
    /// One after the other, each waited for before the next: products, or instructions of a thread
    /// of a plain kernel that has no others to run meanwhile.
    double steps = 0;
    double barriers = 0;
    double loaded = 0;  ///< bytes, from wherever they are
    double saved = 0;
    /// Of a thread, one after the other: instructions of copies where an agent makes them itself,
    /// and trips to memory of copies that no thread goes on beside.
    double own_instructions = 0;
    double own_trips = 0;
    UnitWork& operator+=(const UnitWork& other);
};
[[nodiscard]] UnitWork operator*(double factor, UnitWork work);

/// What one agent copies for another, chunk after chunk, in as many places as stages: a place is
/// asked for again when it has been read and `held` turns more are over.
struct RingWork {
    double loaded = 0;  ///< bytes of a chunk
    std::int64_t stages = 1;
    std::int64_t held = 0;
};

/// A loop over chunks, its own and those of loops within it.
struct LoopWork {
    UnitWork chunk;
    std::int64_t stages = 1;  ///< chunks whose copies are on their way at most
    bool loads = false;       ///< whether what a chunk works on comes from device memory
    bool is_masked = false;   ///< some of its chunks may be left out
    double chunks = 0;        ///< of one block, were none left out
    double mask = 0;          ///< instructions more where a mask cuts a chunk
    /// Whether threads read what it works on themselves, and go on when it is there.
    bool waits = false;
    /// Whether its agent asks for what a turn begins with when the one before is done.
    bool late = false;
    /// Every copy that there is one place for, and the products that read it, which it follows.
    std::vector<UnitWork> alone = {};
    UnitWork copied = {};              ///< of a chunk's, what an agent does whose threads copy
    std::vector<RingWork> rings = {};  ///< that have several places
};

/// How many chunks of the masked loop a block visits, and how many of them the mask cuts.
struct Visits {
    double chunks = 0;
    double cut = 0;
};

/// Blocks that follow each other, with the share of the masked chunks that each visits.
struct KernelWork {
    std::string name;
    std::string target;        ///< that the kernel is made for; empty where none is known
    bool tensor_core = false;  ///< made for a target with tensor cores; otherwise plain SIMT
    std::int64_t warps = 8;    ///< of a block
    std::int64_t groups = 0;   ///< of warps that multiply together; 0 where each warp does alone
    double shared_bytes = 0;
    double register_bytes = 0;  ///< of a thread
    /// Registers that a thread has too few of where a loop's buffers take most.
    std::int64_t missing_registers = 0;
    [[nodiscard]] bool spills() const { return missing_registers > 0; }
    std::int64_t blocks = 1;
    UnitWork edges;     ///< before and after the loops
    UnitWork deferred;  ///< what of them goes on beside the loops of a block's next tile
    std::vector<LoopWork> loops;
    /// Chunks of the masked loop by block, in the order in which blocks start, as a pattern that
    /// repeats; empty where all visit as many.
    std::vector<Visits> pattern;
    std::int64_t together =
        0;                  ///< of graded tiles that several blocks go through: TileOrder::together
    double values = 0;      ///< loaded and saved
    double loaded = 0;      ///< bytes, of all blocks
    double saved = 0;       ///< likewise
    double sectors = 0;     ///< bytes more that memory gives with these, in whole sectors
    double apart = 0;       ///< bytes whose time device memory takes more, for short pieces
    double compulsory = 0;  ///< bytes of every array that it touches, once
    bool data_decides = false;
    schedule::RegionSchedule choices;  ///< that make it, where it is for the tensor core
};

}  // namespace napkin
