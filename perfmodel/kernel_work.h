// The work of a region's kernel: how many blocks of how many warps, what a processor holds of them
// at once, and what one block keeps each unit busy with, before, in and after its loops.
//
// Where a target has tensor cores the numbers are read off the scheduled program that the kernel is
// printed from; else, and for search, they follow from the region's cost alone.
#pragma once

#include <memory>
#include <variant>

#include "derive/tile_program.h"
#include "perfmodel/block_time.h"
#include "perfmodel/cost.h"
#include "schedule/limits.h"
#include "schedule/region_schedule.h"

namespace napkin {

/// For what a kernel is made, and what is chosen of it.
struct KernelRequest {
    /// `simt`, or the newest with tensor cores whose kernel is wanted; warps that multiply alone
    /// where empty.
    std::string target;
    schedule::RegionSchedule schedule;
    schedule::Limits limits;
    /// Where nobody asks for a target: by what kernels of several are compared.
    std::shared_ptr<const BlockClock> best = {};
};

/// The work of a region's kernel for the tensor core, or the reason why it has none.
[[nodiscard]] std::variant<KernelWork, schedule::Refusal> tensor_work(const RegionProgram& region,
                                                                      const RegionCost& cost,
                                                                      const KernelRequest& request);
/// Transfers, bytes and blocks, as the region's cost has them.
void add_transfers(const RegionCost& cost, KernelWork& work);
/// As if a good schedule for the tensor core were known: means over all blocks.
[[nodiscard]] KernelWork general_work(const RegionCost& cost);
/// Likewise of a kernel of which transfers and blocks are known, and the bytes that a block holds.
[[nodiscard]] KernelWork general_work(KernelWork moving, const ArithmeticCost& arithmetic,
                                      double held);

}  // namespace napkin
