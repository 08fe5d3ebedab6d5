// Bounds that another region saved: S - L is never above zero of the L that was computed, but where
// L is saved in a short type it may be far above, and the exponential infinite.
#include <algorithm>

#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

/// The weights of an attention from a saved log-sum-exp.
std::string backward(const std::string& inputs, const std::string& saved) {
    return "diagram backward {\n  axis q = 8, x = 24, d = 3, e = d\n"
           "  input Q[q, d], K[x, d], V[x, e]" +
           inputs + "\n  S[q, x] = sum(d) Q[q, d] * K[x, d]\n  L[q]" + saved +
           " = logsumexp[x](S[q, x])\n  P[q, x] = exp(S[q, x] - L[q])\n"
           "  output O[q, e] : f32 = sum(x) P[q, x] * V[x, e]\n}";
}

struct SavedCase {
    const char* name;
    const char* inputs;
    const char* saved;
    const char* steps;
};

const std::vector<SavedCase>& cases() {
    static const std::vector<SavedCase> kAll = {
        {"inputs in f32", "", "", "recompute S in P\nfuse P, O\nstream x by 8 in O"},
        {"inputs in bf16", " : bf16", "", "recompute S in P\nfuse P, O\nstream x by 8 in O"},
        {"a log-sum-exp in f32 of inputs in bf16", " : bf16", " : f32",
         "recompute S in P\nfuse P, O\nstream x by 8 in O"},
        {"scores saved beside it", " : bf16", " : f32", "fuse S, L\nfuse P, O\nstream x by 8 in O"},
        {"a log-sum-exp in bf16", "", " : bf16", "recompute S in P\nfuse P, O\nstream x by 8 in O"},
        {"a log-sum-exp in e4m3", "", " : e4m3", "recompute S in P\nfuse P, O\nstream x by 8 in O"},
        {"retyped to f16", "", "",
         "retype L to f16\nrecompute S in P\nfuse P, O\nstream x by 8 in O"},
        {"retyped to bf16 later", "", "",
         "recompute S in P\nfuse P, O\nstream x by 8 in O\nretype L to bf16"},
        {"retyped to f32", " : bf16", "",
         "recompute S in P\nfuse P, O\nstream x by 8 in O\nretype L to f32"},
    };
    return kAll;
}

}  // namespace

TEST_CASE("saved bounds: rounded to a short type they bound nothing") {
    std::string text;
    for (const SavedCase& each : cases()) {
        const Diagram diagram = load(backward(each.inputs, each.saved));
        const State state = derive(diagram, each.steps);
        text += std::string("== ") + each.name + "\n";
        for (const std::string& hazard : state.steps.back().hazards)
            text += "unsafe step: " + hazard + "\n";
        for (const RegionProgram& region : program_of(state).regions)
            if (region.accumulator)
                for (const Obligation& obligation : region.accumulator->obligations)
                    text += print(obligation) + "\n";
    }
    check_golden("separation/saved_bounds.txt", text);
}

TEST_CASE("saved bounds: the example is one") {
    const Diagram diagram = load(backward("", " : bf16"));
    const State state = derive(diagram, "recompute S in P\nfuse P, O\nstream x by 8 in O");
    Tensors inputs = random_inputs(diagram, 3);
    // Every score is 32859, and so is their log-sum-exp but for log(24).
    for (auto& [array, tensor] : inputs)
        for (std::size_t i = 0; i < tensor.values.size(); ++i)
            tensor.values[i] = diagram[array].name == "V" ? 1 : i % 3 == 0 ? 181.27 : 0;
    const Result<Interpretation> run =
        interpret(state.diagram, program_of(state), inputs, Arithmetic::Storage);
    REQUIRE(run.has_value());
    CHECK(run->outputs.begin()->second.values.front() > 1e30);
}

}  // namespace napkin::test
