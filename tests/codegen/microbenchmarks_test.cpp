// The kernels that `calibrate` measures with compile for every machine, and hold in registers what
// they measure.
#include "codegen/run/microbenchmarks.h"

#include <doctest/doctest.h>

#include <set>

#include "codegen/run/compile.h"
#include "tests/support/provided.h"

namespace napkin {

TEST_CASE("nvrtc: the kernels that measure a machine compile, and spill nothing") {
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    for (const char* architecture : {"sm_80", "sm_89", "sm_90", "sm_120"}) {
        CompileOptions options;
        options.architecture = architecture;
        for (const Microbenchmark& each : microbenchmarks(architecture)) {
            INFO(architecture, " ", each.name);
            const Result<CompiledKernel> compiled = compile(each.kernel, options);
            REQUIRE(compiled);
            CHECK_EQ(compiled->spill_stores.value_or(1), 0);
            CHECK_EQ(compiled->stack.value_or(1), 0);
        }
    }
}

TEST_CASE("kernels that measure: each architecture has its instructions, each once") {
    const auto names = [](const char* architecture) {
        std::set<std::string> found;
        for (const Microbenchmark& each : microbenchmarks(architecture))
            CHECK(found.insert(each.name).second);
        return found;
    };
    CHECK(names("sm_80").contains("mma m16n8k16 bf16"));
    CHECK_FALSE(names("sm_80").contains("mma m16n8k32 e4m3"));
    CHECK(names("sm_89").contains("mma m16n8k32 e4m3"));
    CHECK(names("sm_90").contains("wgmma m64n256k16 bf16"));
    CHECK_FALSE(names("sm_100").contains("wgmma m64n256k16 bf16"));
    const std::vector<Microbenchmark> all = microbenchmarks("sm_90");
    CHECK_EQ(find_microbenchmark(all, "wgmma m64n256k16 bf16")->work, 8 * 2.0 * 64 * 256 * 16);
    CHECK_EQ(find_microbenchmark(all, "mma m16n8k16 bf16")->work, 8 * 2.0 * 16 * 8 * 16);
    CHECK_EQ(find_microbenchmark(all, "none"), nullptr);
}

}  // namespace napkin
