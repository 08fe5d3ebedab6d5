// Integers that 32 bits do not hold: small diagrams whose constants take index arithmetic past
// 2^31, in the emulator against the reference.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"

namespace napkin {
namespace {

struct Wide {
    std::string integer;  ///< in t, d and L[t], of which conditions and values are made
    std::string sizes = "axis t = 40, d = 24";
};

struct Form {
    std::string output;
    std::string derivation;
};

/// Masks of single elements, and of a sum, which make guards and ranges of chunks too.
const Form kForms[] = {
    {"output Z[t, d] : f32 = if ({}) % 1000 < 400 then X[t, d] else -X[t, d]", "group t by 16"},
    {"output Y[t] : f32 = sum(d) (if ({}) % 7 < 3 or d < 2 then X[t, d] else 0)",
     "group t by 16\nstream d by 8"},
};

State state_of(const Wide& each, const Form& form) {
    const std::string diagram =
        fmt::format("diagram wide {{ {}\n input X[t, d] : f32, L[t] : i32\n{} }}", each.sizes,
                    fmt::format(fmt::runtime(form.output), each.integer));
    return test::derive(test::load(diagram, {}), form.derivation);
}

const std::vector<Wide>& table() {
    static const std::vector<Wide> list = {
        {"(t * size(d) + d) * 75661000"},
        {"(t * size(d) + d) * 75661000 - 4000000000"},
        {"-(t * 100000000) - d * 99999999"},
        {"t * 53687091 + d"},
        {"t * 55063683 + 13"},
        {"2147483647 + t - d"},
        {"2147483648 - t * d"},
        {"(t * 70000) * (d * 70000)"},
        {"(t - 20) * (d - 12) * 99999989"},
        {"(t * 100000007) // (d + 1)"},
        {"-(t * 100000007) // 1000"},
        {"(d - t * 900000001) % 1000003"},
        {"abs(d - t * 900000001)"},
        {"min(t * 400000009, d * 300000007)"},
        {"max(-t * 400000009, d * 300000007 - 5000000000)"},
        {"if t < d then t * 400000009 else d"},
        {"(t * 2000 + d) ^ 3"},
        {"(L[t] % 1000 + 1000) * 4294967311 + d"},
        {"L[t] * 65536 * (d + 1)"},
        {"(t * size(d) + d) * 75661000", "axis t = 40 dynamic, d = 24 dynamic"},
        {"t * size(t) * size(d) * 999983 + d", "axis t = 40 dynamic, d = 24"},
        {"size(d) * 1000000007 - t * d", "axis t = 40, d = 24 dynamic"},
    };
    return list;
}

}  // namespace

TEST_CASE("wide integers: kernels of every target compute what the reference does") {
    struct Run {
        std::string what;
        State state;
        EmittedProgram program;
    };
    std::vector<Run> runs;
    std::vector<EmittedKernel> kernels;
    for (const Wide& each : table())
        for (const Form& form : kForms)
            for (const char* target : {"simt", "sm_80"}) {
                const std::string what = fmt::format("{}, {}, {}, {}", each.integer, each.sizes,
                                                     form.derivation, target);
                INFO(what);
                const State state = state_of(each, form);
                const Result<TileProgram> tiles = expand(state);
                REQUIRE(tiles.has_value());
                EmitOptions options;
                options.target = target;
                const Result<EmittedProgram> program = emit(state, *tiles, options);
                REQUIRE(program.has_value());
                for (const EmittedKernel& kernel : program->kernels) {
                    CHECK_NE(kernel.source.find("i64("), std::string::npos);
                    kernels.push_back(kernel);
                }
                runs.push_back({what, state, *program});
            }
    CHECK_EQ(test::compile_together(kernels), "");
    for (const Run& run : runs) {
        INFO(run.what);
        CHECK_EQ(test::wrong_with(run.state, run.program, 1), "");
    }
}

TEST_CASE(
    "wide integers: a kernel made at a small size computes what the language says at a large") {
    const auto at = [](std::int64_t size) {
        return test::derive(test::load("diagram grows { axis q = 4 dynamic, k = 2\n"
                                       "input W[q, k] : i32, V[q, k] : i8\n"
                                       "output I[q] = q * 100000 - size(q)\n"
                                       "L[q] = q * 100000\noutput M[q] = L[q] - V[q, 0]\n"
                                       "output E[k] = sum(q) W[q, k]\n"
                                       "output C[k] = sum(q) q * V[q, k] }",
                                       {{"q", size}}),
                            "group q by 64 in I\nfuse L, M\ngroup q by 64 in M\n"
                            "stream q by 64 in E\nstream q by 64 in C");
    };
    const State small = at(4);
    const Result<TileProgram> tiles = expand(small);
    REQUIRE(tiles.has_value());
    const Result<EmittedProgram> program = emit(small, *tiles, {});
    REQUIRE(program.has_value());
    CHECK_EQ(test::wrong_with(at(4), *program, 1), "");
    CHECK_EQ(test::wrong_with(at(30000), *program, 1), "");
}

TEST_CASE("wide integers: a kernel says how long axes of run-time size may be") {
    const auto limit = [](const char* integer) {
        const Wide each{integer, "axis t = 40 dynamic, d = 24 dynamic"};
        const State state = state_of(each, kForms[0]);
        const Result<TileProgram> tiles = expand(state);
        REQUIRE(tiles.has_value());
        const Result<EmittedProgram> program = emit(state, *tiles, {});
        REQUIRE(program.has_value());
        return program->kernels.front().at_most.at("t");
    };
    CHECK_EQ(limit("t + d"), kMostRunTimeSize);
    CHECK_EQ(limit("t * size(d) + d"), std::int64_t{1} << 26);
    CHECK_EQ(limit("t * size(d) * size(d) + d"), std::int64_t{1} << 17);
}

}  // namespace napkin
