#include "schedule/region_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "diagrams/nearest.h"
#include "diagrams/overloaded.h"

namespace napkin::schedule {
namespace {

// clang-format off
constexpr std::array kFields = {
    Field{"warps", "", "warps of a block", "simt sm_80 sm_90a", &RegionSchedule::warps},
    Field{"warps_down", "", "warps that share a block's rows", "sm_80 sm_90a", &RegionSchedule::warps_down},
    Field{"warps_across", "", "warps that share a block's columns", "sm_80 sm_90a", &RegionSchedule::warps_across},
    Field{"repeated", "", "whether warps across compute again what lies along other columns", "sm_90a", &RegionSchedule::repeated},
    Field{"persistent", "", "whether a block takes one tile after another", "sm_90a", &RegionSchedule::persistent},
    Field{"turns", "", "whether warp groups start their products one group after another", "sm_90a", &RegionSchedule::turns},
    Field{"resident", "", "blocks that a multiprocessor runs at once, each with its part of registers and shared memory", "sm_90a", &RegionSchedule::resident},
    Field{"band", "", "tiles of the slower of the two fastest groups that are computed side by side; under a causal mask, of all other groups together", "sm_80 sm_90a", &RegionSchedule::band},
    Field{"stages", "ARRAY", "chunks of a loaded array that are held at once", "sm_80 sm_90a", &RegionSchedule::stages},
    Field{"leads", "OPERATION", "chunks by which an operation runs ahead of its loop", "sm_80 sm_90a", &RegionSchedule::leads, 0},
    Field{"order", "OPERATION", "its place among those of a turn that have one", "sm_80 sm_90a", &RegionSchedule::order, 0},
    Field{"fetched", "ARRAY", "whether a product's first operands come to registers before its turn", "sm_80", &RegionSchedule::fetched},
    Field{"staged", "ARRAY", "whether a result is saved through shared memory", "sm_80 sm_90a", &RegionSchedule::staged},
    Field{"deferred", "ARRAY", "whether a block saves it while it computes its next tile", "sm_90a", &RegionSchedule::deferred},
    Field{"stale", "GAUGE", "whether a maximum stays as it is while what is relative to it keeps in range", "sm_90a", &RegionSchedule::stale},
};
// clang-format on

/// So that no product with bytes overflows.
constexpr std::int64_t kMostNumber = 1 << 20;

/// A key of TOML, in quotes where it needs them.
std::string key_of(const std::string& name) {
    const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    });
    return bare ? name : "\"" + name + "\"";
}

std::string text_of(const SettingValue& value) {
    return std::visit(overloaded{[](std::int64_t number) { return std::to_string(number); },
                                 [](bool flag) { return std::string(flag ? "true" : "false"); }},
                      value);
}

/// Sees every value of a field, with its name.
template <class Visit>
void for_values(const Field& field, const RegionSchedule& schedule, const Visit& visit) {
    const auto one = [&](const auto& value) {
        if (value) visit(std::string(), SettingValue(*value));
    };
    const auto many = [&](const auto& values) {
        for (const auto& [name, value] : values) visit(name, SettingValue(value));
    };
    std::visit(overloaded{[&](Field::One<std::int64_t> member) { one(schedule.*member); },
                          [&](Field::One<bool> member) { one(schedule.*member); },
                          [&](Field::Many<std::int64_t> member) { many(schedule.*member); },
                          [&](Field::Many<bool> member) { many(schedule.*member); }},
               field.member);
}

std::vector<std::string> field_names() {
    std::vector<std::string> names;
    for (const Field& field : kFields) names.emplace_back(field.name);
    return names;
}

NotApplicable no_field(const std::string& name) {
    const std::vector<std::string> names = field_names();
    if (const std::optional<std::string> near = nearest(name, names))
        return {fmt::format("a schedule has no `{}`", name),
                fmt::format("did you mean `{}`?", *near)};
    return {fmt::format("a schedule has no `{}`", name),
            fmt::format("choices are {}", fmt::join(names, ", "))};
}

}  // namespace

bool Field::is_flag() const {
    return std::holds_alternative<One<bool>>(member) || std::holds_alternative<Many<bool>>(member);
}

bool Field::is_of(std::string_view target) const {
    return (" " + std::string(targets) + " ").find(" " + std::string(target) + " ") !=
           std::string::npos;
}

std::span<const Field> all_fields() {
    return kFields;
}

const Field* find_field(std::string_view name) {
    const auto found = std::find_if(kFields.begin(), kFields.end(),
                                    [&](const Field& field) { return field.name == name; });
    return found == kFields.end() ? nullptr : &*found;
}

std::string text_of(const SettingName& name) {
    return name.of.empty() ? name.field : name.field + "." + key_of(name.of);
}

std::vector<Setting> settings_of(const RegionSchedule& schedule) {
    std::vector<Setting> settings;
    for (const Field& field : kFields)
        for_values(field, schedule, [&](const std::string& name, SettingValue value) {
            settings.push_back({{std::string(field.name), name}, value});
        });
    return settings;
}

std::optional<NotApplicable> set(RegionSchedule& schedule, const Setting& setting) {
    const Field* field = find_field(setting.name.field);
    if (field == nullptr) return no_field(setting.name.field);
    if (field->of.empty() && !setting.name.of.empty())
        return NotApplicable{
            fmt::format("`{}` is one choice for the region, `{}` has none of its own", field->name,
                        setting.name.of),
            fmt::format("write `{} = ...`", field->name)};
    if (field->name == "order" && setting.name.of.empty())
        return NotApplicable{"one place for all operations is no order",
                             "write `order of OPERATION = ...`, or `order.\"OPERATION\" = ...`"};
    const bool* flag = std::get_if<bool>(&setting.value);
    const std::int64_t* number = std::get_if<std::int64_t>(&setting.value);
    const bool fits = field->is_flag()
                          ? flag != nullptr
                          : number != nullptr && *number >= field->least && *number <= kMostNumber;
    if (!fits)
        return NotApplicable{field->is_flag()
                                 ? fmt::format("`{}` is `true` or `false`", field->name)
                                 : fmt::format("`{}` is a whole number from {} to {}", field->name,
                                               field->least, kMostNumber),
                             ""};
    const auto put = [&](auto& values, const auto& value) {
        if (setting.name.of.empty()) values.clear();
        values[setting.name.of] = value;
    };
    std::visit(overloaded{[&](Field::One<std::int64_t> member) { schedule.*member = *number; },
                          [&](Field::One<bool> member) { schedule.*member = *flag; },
                          [&](Field::Many<std::int64_t> member) { put(schedule.*member, *number); },
                          [&](Field::Many<bool> member) { put(schedule.*member, *flag); }},
               field->member);
    return std::nullopt;
}

RegionSchedule without(RegionSchedule schedule, std::string_view field) {
    std::visit([&](auto member) { schedule.*member = {}; }, find_field(field)->member);
    return schedule;
}

std::vector<std::string> print(const RegionSchedule& schedule, const std::string& region) {
    constexpr std::size_t kWidth = 88;
    std::vector<std::string> lines = {"[" + key_of(region) + "]"};
    for (const Field& field : kFields) {
        std::vector<std::string> entries;
        std::string all;
        bool for_all = true;
        for_values(field, schedule, [&](const std::string& name, const SettingValue& value) {
            for_all = entries.empty() && name.empty();
            entries.push_back(key_of(name) + " = " + text_of(value));
            if (for_all) all = text_of(value);
        });
        if (entries.empty()) continue;
        const std::string line =
            for_all ? fmt::format("{} = {}", field.name, all)
                    : fmt::format("{} = {{ {} }}", field.name, fmt::join(entries, ", "));
        if (for_all || line.size() <= kWidth)
            lines.push_back(line);
        else
            for (const std::string& entry : entries)
                lines.push_back(fmt::format("{}.{}", field.name, entry));
    }
    return lines;
}

std::optional<SettingName> unknown_to(const RegionSchedule& schedule, std::string_view target) {
    for (const Setting& setting : settings_of(schedule))
        if (!find_field(setting.name.field)->is_of(target)) return setting.name;
    return std::nullopt;
}

}  // namespace napkin::schedule
