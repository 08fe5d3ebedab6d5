// What `cost --target` says of kernels is what `emit` prints of them.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

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

}  // namespace

TEST_CASE("cost --target says what emit prints") {
    int kernels = 0;
    int refused = 0;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR)) {
        const std::filesystem::path drv = entry.path();
        if (drv.extension() != ".drv") continue;
        const std::filesystem::path ncd = diagram_of(drv);
        const std::string rest = " '" + ncd.string() + "' --drv '" + drv.string() +
                                 "' --target sm_80 --json 2> /dev/null";
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

}  // namespace napkin::test
