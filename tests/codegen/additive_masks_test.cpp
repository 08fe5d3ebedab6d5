// Masks that come as numbers, added to scores: -inf hides, in any pattern, as it does in an `if`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"

namespace napkin {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// Hides whole rows, whole chunks at the begin and the end of others, and every other key.
void hide(Tensors& inputs, const std::string& array, const Diagram& diagram) {
    Tensor& tensor = inputs.at(*find_array(diagram, array));
    const std::int64_t columns = tensor.extents.back();
    for (std::size_t at = 0; at < tensor.values.size(); ++at) {
        const auto row = static_cast<std::int64_t>(at) / columns;
        const std::int64_t column = static_cast<std::int64_t>(at) % columns;
        const bool hidden = (row % 5 == 0) || (row % 5 == 1 && column < 32) ||
                            (row % 5 == 2 && column >= 20) || (row % 5 == 3 && column % 2 == 0);
        if (hidden) tensor.values[at] = kHidden;
    }
}

}  // namespace

TEST_CASE("additive masks of -inf hide on every target, whole rows too") {
    const std::string attention =
        "diagram biased { axis q = 130, x = 70, d = 16\n input Q[q, d], K[x, d], V[x, d] : bf16\n"
        " input B[q, x] : f32\n S[q, x] = sum(d) Q[q, d] * K[x, d] + B[q, x]\n P[q, x] = "
        "softmax[x](S[q, x])\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d] }";
    const std::string rows =
        "diagram rows { axis q = 40, x = 70\n input B[q, x] : f32\n"
        " output P[q, x] : f32 = softmax[x](B[q, x])\n"
        " output L[q] : f32 = logsumexp[x](B[q, x]) }";
    struct Case {
        std::string diagram;
        std::string derivation;
        std::vector<std::string> targets;
    };
    const std::vector<std::string> all = {"simt", "sm_80", "sm_90a"};
    std::vector<test::Emission> made;
    for (const Case& each :
         std::vector<Case>{{attention, "fuse all\ngroup q by 16", {"simt", "sm_80"}},
                           {attention, "fuse all\ngroup q by 64", all},
                           {attention, "fuse all\ngroup q by 64\nstream x by 16", all},
                           {attention,
                            "fuse all\ngroup q by 64\nstream x by 16\nschedule stale = true",
                            {"sm_90a"}},
                           {rows, "fuse all\ngroup q by 8", {"simt", "sm_80"}}})
        for (const std::string& target : each.targets) {
            const test::TensorWorkload workload{"", each.diagram, {}, each.derivation};
            const State state = test::state_of(workload);
            EmitOptions options;
            options.target = target;
            const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
            INFO(target, ": ", each.derivation);
            REQUIRE(program);
            made.push_back({target + ": " + each.derivation, state, *program});
        }
    CHECK_EQ(test::compile_together(made), "");
    for (const auto& [name, state, program] : made) {
        INFO(name);
        const Diagram& diagram = state.diagram;
        CHECK_EQ(test::wrong_with(state, program, 1,
                                  [&](Tensors& inputs) { hide(inputs, "B", diagram); }),
                 "");
    }
}

}  // namespace napkin
