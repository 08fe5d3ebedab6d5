// What is chosen of how a region is carried out, as one plain value: a person writes any of it, a
// planner completes it or says why not, kernels are lowered from exactly it and print it.
//
// A choice is a member of the struct and a line of the table in region_schedule.cpp; texts, files
// and commands are read and printed by that table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "derive/accumulator.h"

namespace napkin::schedule {

/// Every member may be left out. Names are those that `emit --as schedule` prints; the empty name
/// stands for all that have none of their own.
struct RegionSchedule {
    std::optional<std::int64_t> warps;         ///< of a block
    std::optional<std::int64_t> warps_down;    ///< that share its rows
    std::optional<std::int64_t> warps_across;  ///< that share its columns
    std::optional<bool> repeated;              ///< whether these compute other columns again
    std::optional<bool> persistent;            ///< whether a block takes tile after tile
    std::optional<bool> turns;             ///< whether warp groups start products one after another
    std::optional<std::int64_t> resident;  ///< blocks that a multiprocessor runs at once
    std::optional<std::int64_t> band;      ///< tiles of the slower group, side by side; 1: none
    std::map<std::string, std::int64_t> stages;
    std::map<std::string, std::int64_t> leads;
    std::map<std::string, std::int64_t>
        order;  ///< places in a turn, of operations that keep to one
    std::map<std::string, bool> fetched;
    std::map<std::string, bool> staged;
    std::map<std::string, bool> deferred;
    std::map<std::string, bool> stale;
    bool operator==(const RegionSchedule&) const = default;
};

/// One choice as it is written: `stages.K = 3`.
struct SettingName {
    std::string field;
    std::string of;  ///< the ring, operation, product or array; empty where it is of the region
    auto operator<=>(const SettingName&) const = default;
};
using SettingValue = std::variant<std::int64_t, bool>;
struct Setting {
    SettingName name;
    SettingValue value;
    bool operator==(const Setting&) const = default;
};

/// What can be chosen.
struct Field {
    template <class Value>
    using One = std::optional<Value> RegionSchedule::*;
    template <class Value>
    using Many = std::map<std::string, Value> RegionSchedule::*;
    std::string_view name;
    std::string_view of;  ///< what its names are; empty where there is one choice for the region
    std::string_view meaning;
    std::string_view targets;  ///< those that know it
    std::variant<One<std::int64_t>, One<bool>, Many<std::int64_t>, Many<bool>> member;
    std::int64_t least = 1;  ///< of numbers
    [[nodiscard]] bool is_flag() const;
    [[nodiscard]] bool is_of(std::string_view target) const;
};
[[nodiscard]] std::span<const Field> all_fields();
[[nodiscard]] const Field* find_field(std::string_view name);

/// `stages.K`, as messages name it.
[[nodiscard]] std::string text_of(const SettingName& name);
/// Everything that is chosen, in the order of the table, then by name.
[[nodiscard]] std::vector<Setting> settings_of(const RegionSchedule& schedule);
/// Puts one choice in, one for all in place of those with names; the reason where it is none.
[[nodiscard]] std::optional<NotApplicable> set(RegionSchedule& schedule, const Setting& setting);
/// The same with nothing chosen for a field.
[[nodiscard]] RegionSchedule without(RegionSchedule schedule, std::string_view field);
/// A table of a file that `--schedule` reads, a line each; no line is longer than 88 characters
/// that needs not be.
[[nodiscard]] std::vector<std::string> print(const RegionSchedule& schedule,
                                             const std::string& region);

/// Why a region is not scheduled: at all, or with one of the choices that were asked for.
struct Refusal {
    std::string reason;
    std::string help;
    std::optional<SettingName> setting;
    bool operator==(const Refusal&) const = default;
};
/// The first choice that a target does not know.
[[nodiscard]] std::optional<SettingName> unknown_to(const RegionSchedule& schedule,
                                                    std::string_view target);

/// The choice for one name: its own, or the one for all.
template <class Value>
[[nodiscard]] std::optional<Value> choice_of(const std::map<std::string, Value>& choices,
                                             const std::string& name) {
    for (const std::string& key : {name, std::string()})
        if (const auto found = choices.find(key); found != choices.end()) return found->second;
    return std::nullopt;
}

}  // namespace napkin::schedule
