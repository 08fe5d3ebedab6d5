// Powers of infinities and zeros: every target computes what the reference does.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"

namespace napkin {

TEST_CASE("powers: at infinities and zero they are the reference's on every target") {
    struct Run {
        std::string what;
        State state;
        EmittedProgram program;
    };
    std::vector<Run> runs;
    std::vector<EmittedKernel> kernels;
    for (const char* exponent :
         {"0", "1", "2", "3", "9", "20", "-1", "-2", "-3", "-9", "0.5", "-0.5", "1.5", "-1.5"})
        for (const char* target : {"simt", "sm_80"}) {
            const State state = test::derive(
                test::load(fmt::format(
                    "diagram powers {{ axis n = 5, d = 24\n input X[n, d] : f32\n"
                    "output Y[n, d] : f32 = (if d == 0 then -inf else (if d == 1 then inf else "
                    "(if d == 2 then 0 else abs(X[n, d]) + 0.5))) ^ ({}) }}",
                    exponent)),
                "group n by 4");
            const Result<TileProgram> tiles = expand(state);
            REQUIRE(tiles.has_value());
            EmitOptions options;
            options.target = target;
            const Result<EmittedProgram> program = emit(state, *tiles, options);
            REQUIRE(program.has_value());
            kernels.push_back(program->kernels.front());
            const bool by_logarithm = std::string(exponent).ends_with("1.5");
            CHECK_EQ(kernels.back().source.find("powf(") != std::string::npos, by_logarithm);
            runs.push_back({fmt::format("{}, {}", exponent, target), state, *program});
        }
    CHECK_EQ(test::compile_together(kernels), "");
    for (const Run& run : runs) {
        INFO(run.what);
        CHECK_EQ(test::wrong_with(run.state, run.program, 1), "");
    }
}

}  // namespace napkin
