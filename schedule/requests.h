// Schedules as a person asks for them: files of `--schedule`, and the `schedule` lines of a
// derivation. Every choice remembers where it stands, for the planner's refusals.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "derive/state.h"
#include "diagrams/result.h"
#include "schedule/region_schedule.h"

namespace napkin::schedule {

/// What is asked for of one region.
struct Request {
    std::string region;  ///< an array that it computes; empty for the only one
    Span place;
    RegionSchedule schedule;
    std::map<SettingName, Span> places;
    bool operator==(const Request&) const = default;
};

/// The tables of a TOML file, one a region:
///
///     [O]
///     warps = 8
///     stages = { K = 3, V = 3 }  # or for all of them `stages = 3`
///
/// Reports every mistake.
[[nodiscard]] Result<std::vector<Request>> read_schedule(const SourceMap& sources,
                                                         std::uint32_t file);
/// What is wrong with a command as a choice; nothing with one of another rule.
[[nodiscard]] Diagnostics wrong_with(const Command& command);
/// What is asked for, by the names of the state's regions: by its derivation, then by `others`, of
/// which the last word counts.
[[nodiscard]] Result<std::map<std::string, Request>> requests_of(
    const State& state, const std::vector<Request>& others = {});

}  // namespace napkin::schedule
