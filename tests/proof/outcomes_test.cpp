// Every outcome of a test of integers is tried, however few elements decide it: what is wrong in
// one branch alone is refuted, whatever is drawn.
#include "tests/proof/subjects.h"

namespace napkin::test {
namespace {

std::string diagram_of(const std::string& inputs, const std::string& value) {
    return "diagram d {\n  axis n = 2, v = 5\n  input X[n], E[v]\n  input " + inputs +
           "\n  output Y[n] : f32 = " + value + "\n}";
}

/// Whether the program of one diagram is proved to be another.
bool is_proved(const std::string& diagram, const std::string& other, std::uint64_t seed) {
    const State state = derive(load(other), "");
    return proof::prove_program(load(diagram), state.diagram, program_of(state), {3, seed})
        .identity();
}

}  // namespace

TEST_CASE("a branch that one integer decides is compared at every seed") {
    struct Case {
        const char* inputs;
        const char* right;
        const char* wrong;
    };
    const Case cases[] = {
        {"mode : i32", "if mode == 7 then 3 * X[n] else X[n]", "X[n]"},
        {"mode : i32", "if mode == -3 or mode == 900 then 3 * X[n] else X[n]",
         "if mode == -3 then 3 * X[n] else X[n]"},
        {"mode : i32", "if mode != 1 then 3 * X[n] else X[n]", "3 * X[n]"},
        {"mode : i32", "if mode > 40 then if mode < 44 then 3 * X[n] else X[n] else X[n]", "X[n]"},
        {"mode : i32", "if 2 * mode - 1 >= 5 and mode < 6 then 3 * X[n] else X[n]", "X[n]"},
        {"mode : i32", "if n == 0 then (if mode == 7 then 3 * X[n] else X[n]) else X[n]", "X[n]"},
        {"mode : i32", "E[if mode == 7 then 1 else 2]", "E[2]"},
        {"causal : bool", "if causal then 3 * X[n] else X[n]", "3 * X[n]"},
        {"causal : bool", "if causal then 3 * X[n] else X[n]", "X[n]"},
        {"token[n] : i32", "if token[n] == 2 then 0 else E[token[n]]", "E[token[n]]"},
    };
    for (const Case& each : cases) {
        const std::string right = diagram_of(each.inputs, each.right);
        CAPTURE(right);
        const std::string wrong = diagram_of(each.inputs, each.wrong);
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            CAPTURE(seed);
            CHECK(is_proved(right, right, seed));
            CHECK_FALSE(is_proved(right, wrong, seed));
        }
    }
}

}  // namespace napkin::test
