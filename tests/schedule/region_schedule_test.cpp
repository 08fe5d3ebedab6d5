// Choices as values and as texts.
#include "schedule/region_schedule.h"

#include <doctest/doctest.h>

#include "schedule/requests.h"

namespace napkin::schedule {
namespace {

std::string text_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

/// What is read, printed again; or the messages.
std::string read(const std::string& text) {
    SourceMap sources;
    const Result<std::vector<Request>> requests =
        read_schedule(sources, sources.add("test.toml", text));
    std::string result;
    if (!requests)
        for (const Diagnostic& error : requests.error().list)
            result += sources.describe(error.primary.span) + ": " + error.message + "\n";
    else
        for (const Request& request : *requests)
            result += text_of(print(request.schedule, request.region));
    return result;
}

RegionSchedule everything() {
    RegionSchedule schedule;
    for (const Field& field : all_fields()) {
        const std::vector<std::string> names =
            field.of.empty() ? std::vector<std::string>{""}
                             : std::vector<std::string>{"K", "publish S'_left", "x-2"};
        for (const std::string& name : names) {
            Setting setting{{std::string(field.name), name}, std::int64_t{4}};
            if (field.is_flag()) setting.value = true;
            REQUIRE_FALSE(set(schedule, setting));
        }
    }
    return schedule;
}

}  // namespace

TEST_CASE("everything that can be chosen is printed and read again") {
    const RegionSchedule all = everything();
    const std::string text = text_of(print(all, "dV''"));
    for (const Field& field : all_fields()) {
        INFO(std::string(field.name));
        CHECK_NE(text.find("\n" + std::string(field.name)), std::string::npos);
        CHECK_NE(without(all, field.name), all);
        CHECK_FALSE(field.meaning.empty());
    }
    CHECK_EQ(read(text), text);
    CHECK(text.starts_with("[\"dV''\"]\n"));
    CHECK_EQ(settings_of(everything()), settings_of(all));
}

TEST_CASE("a schedule as it may be written, and as it is printed") {
    const std::pair<const char*, const char*> cases[] = {
        {"", ""},
        {"[O]", "[O]\n"},
        {"[O]\nstages = 3", "[O]\nstages = 3\n"},
        {"[O]\nstages.K = 3\nstages.V = 2", "[O]\nstages = { K = 3, V = 2 }\n"},
        {"[O.stages]\n'' = 3\nK = 2", "[O]\nstages = { \"\" = 3, K = 2 }\n"},
        {"[O]\nwarps = 0x8 # eight", "[O]\nwarps = 8\n"},
        {"[b]\nwarps = 1\n[a]\nstaged = { x = false }",
         "[a]\nstaged = { x = false }\n[b]\nwarps = 1\n"},
        {"warps = 4", "test.toml:1:1: `warps` stands outside the table of a region\n"},
        {"[O]\nwarpz = 4", "test.toml:2:1: a schedule has no `warpz`\n"},
        {"[O]\nwarps.K = 4",
         "test.toml:2:7: `warps` is one choice for the region, `K` has none of its own\n"},
        {"[O]\nstages = 0", "test.toml:2:1: `stages` is a whole number from 1 to 1048576\n"},
        {"[O]\nstages = 2.5", "test.toml:2:1: `stages` is a whole number from 1 to 1048576\n"},
        {"[O]\nstages = true", "test.toml:2:1: `stages` is a whole number from 1 to 1048576\n"},
        {"[O]\nstages = [3]", "test.toml:2:1: `stages` is a whole number from 1 to 1048576\n"},
        {"[O]\nstages = 9223372036854775807",
         "test.toml:2:1: `stages` is a whole number from 1 to 1048576\n"},
        {"[O]\nstages.K.x = 1", "test.toml:2:8: `stages` is a whole number from 1 to 1048576\n"},
        {"[O]\nleads.x = -1", "test.toml:2:7: `leads` is a whole number from 0 to 1048576\n"},
        {"[O]\nstaged.O = 1\nwarp = 2",
         "test.toml:2:8: `staged` is `true` or `false`\ntest.toml:3:1: a schedule has no `warp`\n"},
    };
    for (const auto& [text, expected] : cases) {
        INFO(text);
        CHECK_EQ(read(text), expected);
    }
}

TEST_CASE("one choice for all takes the place of those with names") {
    RegionSchedule schedule;
    REQUIRE_FALSE(set(schedule, {{"stages", "K"}, std::int64_t{2}}));
    REQUIRE_FALSE(set(schedule, {{"stages", ""}, std::int64_t{3}}));
    CHECK_EQ(choice_of(schedule.stages, "K"), 3);
    REQUIRE_FALSE(set(schedule, {{"stages", "V"}, std::int64_t{4}}));
    CHECK_EQ(choice_of(schedule.stages, "K"), 3);
    CHECK_EQ(choice_of(schedule.stages, "V"), 4);
    CHECK_FALSE(choice_of(schedule.leads, "V"));
}

TEST_CASE("an order is of operations") {
    RegionSchedule schedule;
    CHECK(set(schedule, {{"order", ""}, std::int64_t{2}}));
    CHECK_FALSE(set(schedule, {{"order", "multiply S"}, std::int64_t{2}}));
}

TEST_CASE("a target knows some choices") {
    RegionSchedule schedule;
    schedule.warps = 4;
    CHECK_FALSE(unknown_to(schedule, "simt"));
    schedule.stages["K"] = 2;
    CHECK_EQ(unknown_to(schedule, "simt"), SettingName{"stages", "K"});
    CHECK_FALSE(unknown_to(schedule, "sm_80"));
    CHECK_EQ(unknown_to(schedule, "sm_8"), SettingName{"warps", ""});
}

}  // namespace napkin::schedule
