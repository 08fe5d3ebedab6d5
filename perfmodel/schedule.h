// The schedule of a tile program on a target: everything about *how* a kernel runs that changes
// neither what it computes nor what it transfers. Plain data: `search` fills it, the model costs
// it, codegen's passes read it, and it prints as text.
//
// A default-constructed RegionSchedule is the plain one: every warp does the same, one stage,
// scalar arithmetic, blocks in row-major order. What each part is for (sm_90a in brackets): roles
// (producer warps that only issue bulk copies, consumer warp groups that multiply), stagings (ring
// depth, copy mechanism and layout of each loaded or saved tile), products (which instruction a
// contraction becomes and where its operands lie), overlaps (the next scores before the present
// output product; warp groups taking turns), the order of blocks (persistent, longest first), the
// gauge policy of repaired states, and the cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagrams/id.h"

namespace napkin {

/// Warps of a block that do one job.
struct WarpRole {
    enum class Job { Everything, Load, Compute, Store };
    Job job = Job::Everything;
    std::int64_t warps = 4;
    std::int64_t registers =
        0;  ///< per thread, as setmaxnreg gives them; 0 leaves it to the compiler
    bool operator==(const WarpRole&) const = default;
};

/// How a tile gets between device memory and the block.
enum class CopyKind {
    Synchronous,   // through registers
    Asynchronous,  // cp.async
    Bulk,          // bulk tensor copies with a barrier
};
enum class CacheHint { None, EvictFirst, EvictLast };

/// How one tile of the region lies in shared memory or registers and how it is filled or emptied.
struct Staging {
    ArrayId array;
    std::int64_t stages = 1;  ///< ring depth; multiplies the allocation
    CopyKind copy = CopyKind::Synchronous;
    std::int64_t swizzle_bytes = 0;  ///< 0, 32, 64 or 128
    std::int64_t pad_elements = 0;   ///< added to each row instead of a swizzle
    std::int64_t vector_bytes = 0;   ///< bytes a thread moves at once; 0: as alignment allows
    CacheHint hint = CacheHint::None;
    bool in_registers = false;
    bool multicast = false;  ///< one load serves every block of the cluster
    bool operator==(const Staging&) const = default;
};

/// The instruction that a contraction becomes.
enum class ProductKind { Scalar, MmaSync, Wgmma };
struct Product {
    ArrayId result;
    ProductKind kind = ProductKind::Scalar;
    std::int64_t m = 1;
    std::int64_t n = 1;
    std::int64_t k = 1;
    bool left_in_registers = false;
    /// Products of this statement still in flight when the next step begins.
    std::int64_t in_flight = 0;
    bool operator==(const Product&) const = default;
};

/// Computation of one chunk that is issued before an earlier chunk is finished.
struct Overlap {
    ArrayId ahead;            ///< the array computed early: the scores of the next chunk
    std::int64_t chunks = 1;  ///< by how many chunks
    bool operator==(const Overlap&) const = default;
};

/// In which order blocks take tiles.
struct TileOrder {
    enum class Walk { RowMajor, Banded, Hilbert, LongestFirst };
    Walk walk = Walk::RowMajor;
    std::int64_t band = 0;         ///< tiles a band, for Banded
    bool persistent = false;       ///< as many blocks as fit, each takes several tiles
    bool dynamic = false;          ///< taken from a counter instead of in turn
    bool reversed_chunks = false;  ///< streams from the last chunk to the first
    bool operator==(const TileOrder&) const = default;
};

/// Which value a repaired state is kept relative to; each policy has its own safety obligation.
struct GaugePolicy {
    enum class Kind { Running, Conditional, Stale };
    Kind kind = Kind::Running;
    double threshold = 0;  ///< growth, in powers of two, that makes a new gauge
    bool operator==(const GaugePolicy&) const = default;
};

enum class EpilogueKind { Direct, ThroughShared, BulkStore, Deferred };

struct RegionSchedule {
    std::string region;
    std::vector<WarpRole> roles = {WarpRole{}};
    std::vector<Staging> stagings;
    std::vector<Product> products;
    std::vector<Overlap> overlaps;
    bool take_turns = false;  ///< compute roles enter the tensor core in turn
    TileOrder order;
    GaugePolicy gauge;
    std::int64_t cluster = 1;  ///< blocks in a cluster
    std::optional<AxisId> cluster_axis;
    /// Loops of chunks that no mask cuts are separate and carry no test.
    bool splits_masked_chunks = true;
    std::int64_t unroll = 1;
    double exponentials_as_polynomial = 0;  ///< the share computed by multiply-adds
    EpilogueKind epilogue = EpilogueKind::Direct;
    bool early_launch = false;  ///< programmatic dependent launch
    bool operator==(const RegionSchedule&) const = default;

    [[nodiscard]] std::int64_t threads() const {
        std::int64_t warps = 0;
        for (const WarpRole& role : roles) warps += role.warps;
        return 32 * warps;
    }
    /// The staging of an array, the plain one where none is given.
    [[nodiscard]] Staging staging_of(ArrayId array) const {
        for (const Staging& staging : stagings)
            if (staging.array == array) return staging;
        return {.array = array};
    }
};

struct Schedule {
    std::string target = "simt";  ///< `simt`, `sm_80`, `sm_90a`
    std::vector<RegionSchedule> regions;
    bool operator==(const Schedule&) const = default;
};

}  // namespace napkin
