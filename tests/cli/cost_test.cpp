// What `cost` says of kernels is what `emit` prints of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/transcript.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

nlohmann::json output_of(const std::string& command) {
    return nlohmann::json::parse(run_command({command, ""}), nullptr, false);
}

/// The diagram with the longest name that the derivation's begins with.
std::filesystem::path diagram_of(const std::filesystem::path& derivation) {
    std::string stem = derivation.stem().string();
    const auto path = [&] { return derivation.parent_path() / (stem + ".ncd"); };
    while (!std::filesystem::exists(path())) {
        REQUIRE_FALSE(stem.empty());
        stem.pop_back();
    }
    return path();
}

/// The files of every derivation of the examples, as arguments.
std::vector<std::string> derivations() {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR))
        if (entry.path().extension() == ".drv")
            all.push_back(" '" + diagram_of(entry.path()).string() + "' --drv '" +
                          entry.path().string() + "'");
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

TEST_CASE("cost --target says what emit prints") {
    int kernels = 0;
    int refused = 0;
    for (const std::string& files : derivations()) {
        const std::string rest = files + " --target sm_80 --json 2> /dev/null";
        INFO(rest);
        const nlohmann::json cost = output_of("napkin cost" + rest);
        const nlohmann::json emitted = output_of("napkin emit --as schedule" + rest);
        CHECK_EQ(cost.is_discarded(), emitted.is_discarded());
        if (cost.is_discarded()) {
            ++refused;
            continue;
        }
        REQUIRE_EQ(cost["kernels"].size(), emitted["kernels"].size());
        for (std::size_t i = 0; i < cost["kernels"].size(); ++i, ++kernels) {
            const nlohmann::json& told = cost["kernels"][i];
            for (const char* member : {"region", "threads", "shared_bytes", "choices"})
                CHECK_EQ(told[member], emitted["kernels"][i][member]);
            CHECK_EQ(told["warps"].get<int>() * 32, told["threads"].get<int>());
        }
    }
    CHECK_GT(kernels, 15);
    CHECK_GT(refused, 0);
}

TEST_CASE("times are of the kernels that emit makes where no target is asked for") {
    std::map<std::string, int> kernels;
    for (const std::string& files : derivations())
        for (const auto& [machine, arch] :
             {std::pair{"H200", "sm_90"}, std::pair{"A100", "sm_80"}}) {
            const nlohmann::json cost =
                output_of("napkin cost" + files + " --json 2> /dev/null --machine " + machine);
            const nlohmann::json emitted = output_of("napkin emit --as cuda --unproved" + files +
                                                     " --json 2> /dev/null --arch " + arch);
            INFO(files, " on ", machine);
            if (emitted.is_discarded()) continue;
            REQUIRE_EQ(cost["regions"].size(), emitted["kernels"].size());
            for (std::size_t i = 0; i < emitted["kernels"].size(); ++i) {
                const nlohmann::json& told = cost["regions"][i];
                CHECK_EQ(told["name"], emitted["kernels"][i]["region"]);
                CHECK_EQ(told["target"], emitted["kernels"][i]["target"]);
                ++kernels[told["target"].dump()];
            }
        }
    CHECK_GT(kernels["\"sm_90a\""], 5);
    CHECK_GT(kernels["\"sm_80\""], 20);
    CHECK_GT(kernels["\"simt\""], 5);
}

TEST_CASE("what binds is the same in words and as JSON, waiting too") {
    int waiting = 0;
    for (const std::string& files : derivations()) {
        const std::string rest = files + " --machine H200";
        INFO(rest);
        const nlohmann::json cost = output_of("napkin cost" + rest + " --json 2> /dev/null");
        if (cost.is_discarded()) continue;
        const std::string text = run_command({"napkin cost" + rest + " 2> /dev/null", ""});
        std::size_t at = 0;
        for (const nlohmann::json& region : cost["regions"]) {
            if (region["binds"].is_null()) continue;
            const std::string binds = region["binds"];
            at = text.find("bound by " + binds, at);
            CHECK_NE(at, std::string::npos);
            waiting += binds == "waiting" ? 1 : 0;
        }
    }
    CHECK_GT(waiting, 0);
}

}  // namespace napkin::test
