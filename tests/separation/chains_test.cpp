// Statements that read the one before them twice, thirty times over: what they are made of is a
// tree of a thousand million parts, and a graph of thirty.
#include "derive/proof/safety.h"
#include "tests/derive/programs.h"

namespace napkin::test {
namespace {

struct Chain {
    const char* first;  ///< the elements that the chain begins with
    const char* next;   ///< each from the one before, A
    const char* outcome;
};

constexpr Chain kChains[] = {
    {"X[n, x]", "A * A", "applied"},
    {"X[n, x]", "A * (1 - A)", "applied"},
    {"0.5 * X[n, x]", "A * (2 - X[n, x] * A)", "applied"},
    {"X[n, x]", "exp(A) + A", "applied"},
    {"X[n, x]", "if A > 0 then A else 0.5 * A", "applied"},
    {"exp(X[n, x] - m[n])", "A * A", "applied"},
    {"exp(X[n, x] - m[n])", "A + A * 3", "applied"},
    {"exp(X[n, x] - m[n])", "A * (1 - A)", "more than 64 products"},
    {"exp(X[n, x] - m[n])", "A * tanh(A)", "is not a sum of products"},
    {"exp(X[n, x] - m[n])", "max(A, 1 - A)", "no accumulator found"},
    {"exp(X[n, x] - m[n])", "if A > 0.5 then A else 0.5 * A", "no accumulator found"},
    {"exp(X[n, x] - m[n])", "if x > 3 then A else 0.5 * A", "applied"},
};

std::string element(int step) {
    return "A" + std::to_string(step) + "[n, x]";
}

/// The chain, then a sum, then the same of the sum.
Diagram diagram_of(const Chain& chain) {
    constexpr int kSteps = 30;
    std::string text =
        "diagram chain {\n  axis n = 3, x = 8\n  input X[n, x] : f32\n  m[n] = max(x) X[n, x]\n  " +
        element(0) + " = " + chain.first + "\n";
    for (int step = 0; step < kSteps; ++step) {
        std::string value;
        for (const char c : std::string(chain.next))
            value += c == 'A' ? element(step) : std::string(1, c);
        text += "  " + element(step + 1) + " = " + value + "\n";
    }
    return load(text + "  output Y[n] = sum(x) " + element(kSteps) + "\n}\n");
}

}  // namespace

TEST_CASE("separation: what many read is looked at once") {
    for (const Chain& chain : kChains) {
        INFO(std::string(chain.first), "; ", std::string(chain.next));
        const Diagram diagram = diagram_of(chain);
        const char* const steps = "fuse all\nstream x by 4 at l1";
        const std::string outcome = refusal(diagram, steps);
        CAPTURE(outcome);
        CHECK(outcome.find(chain.outcome) != std::string::npos);
        if (outcome != "applied") continue;
        const Result<TileProgram> program = expand(derive(diagram, steps));
        CHECK_FALSE(proof::check_safety(diagram, *program, 1).arrays.empty());
        CHECK_EQ(refusal(diagram, std::string(steps) + "\nsplit-stream x by 4"), "applied");
    }
}

}  // namespace napkin::test
