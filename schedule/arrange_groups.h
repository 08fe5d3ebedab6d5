// How the warp groups of a block share a region's rows and columns, and the registers of a
// multiprocessor.
#pragma once

#include <optional>

#include "schedule/plan.h"
#include "schedule/program.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// As `arrange`, in warp groups of 64 rows and one more that copies; also whether a block takes one
/// tile after another, and how many blocks share a multiprocessor.
[[nodiscard]] std::optional<Refusal> arrange_groups(const RegionProgram& region,
                                                    const Limits& limits,
                                                    const RegionSchedule& wanted, Plan& plan);

/// What a thread of the group that copies keeps where bulk copies bring everything, where it looks
/// at data to know which, and where it copies itself.
inline constexpr std::int64_t kCopyRegisters = 24;
inline constexpr std::int64_t kMarkRegisters = 40;
inline constexpr std::int64_t kOwnCopyRegisters = 80;

/// Registers that each thread may take where so many warp groups of a block compute, one copies and
/// keeps so many, and so many blocks share a multiprocessor.
[[nodiscard]] std::int64_t registers_of_group(std::int64_t groups, std::int64_t resident = 1,
                                              std::int64_t of_copies = kCopyRegisters);

/// The same of a program with rings.
[[nodiscard]] std::int64_t registers_of_copies(const Program& program);
[[nodiscard]] std::int64_t registers_of_group(const Program& program);
/// Of them, what a thread needs beside its buffers.
inline constexpr std::int64_t kRegistersBesideBuffers = 24;

}  // namespace napkin::schedule
