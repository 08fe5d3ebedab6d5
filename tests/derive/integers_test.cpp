// Integers stay integers: through every rule that rewrites what is computed, and in the states of
// every accumulator, no array of a program is one of reals, and what it computes in the types of
// its tiles is exact, with inputs of which an f32 has not all.
#include "derive/proof/kept_integers.h"
#include "tests/derive/programs.h"
#include "tests/support/random_integers.h"
#include "tests/support/trial.h"

namespace napkin::test {
namespace {

struct Subject {
    const char* statements;
    const char* steps;
};

const std::vector<Subject> kSubjects = {
    // literals that a rule writes
    {"output Y[n, k] = X[n, k] + k % 2", "split-axis k as k1 by 4"},
    {"output Y[n, k] = X[n, k] + k // 2 * 16777217", "split-axis k as k1 by 4"},
    {"output Y[n, k] = bit_and(X[n, k], k % 4 + 1)", "split-axis k as k1 by 2"},
    {"output Y[n, k] = X[n, k] + k * 16777217 + n // 2", "join-axes n, k as r"},
    // states of sums: a factor, a sign, conditions, powers, what is constant beside the elements
    {"output U[n] = sum(k) 3 * X[n, k]", "stream k by 2"},
    {"output U[n] = sum(k) 3 * X[n, k]", "stream k by 3"},
    {"output U[n] = sum(k) (-X[n, k])", "stream k by 2"},
    {"output U[n] = sum(k) p[n] * X[n, k]", "stream k by 2"},
    {"output U[n] = sum(k) X[n, k] * p[k] * 2", "stream k by 2"},
    {"output U[n] = sum(k) (X[n, k] // 2) * 2", "stream k by 2"},
    {"output U[n] = sum(k) p[n] // 2 * X[n, k]", "stream k by 2"},
    {"output U[n] = sum(k) X[n, k] * (if p[n] > 2 then 1 else 3)", "stream k by 2"},
    {"output U[n] = sum(k) (if k <= n then X[n, k] * p[n] else 0)", "stream k by 2"},
    {"output U[n] = sum(k) (if X[n, k] > 2 then p[n] else 0)", "stream k by 2"},
    {"output U[n] = sum(k) X[n, k] * (sum(k) p[k])", "fuse all; stream k by 2"},
    {"output U[n] = sum(k) (X[n, k] - (max(k) X[n, k]))", "fuse all; stream k by 2"},
    {"output U[n] = sum(k) (X[n, k] % 1000 - (max(k) X[n, k] % 1000)) ^ 2",
     "fuse all; stream k by 2"},
    {"output U[n] : f32 = sum(k) 3 * X[n, k]", "stream k by 2"},
    {"output U[n] : f32 = sum(k) X[n, k]", "stream k by 2"},
    // other folds
    {"output U[n] = max(k) 3 * X[n, k]", "stream k by 2"},
    {"output U[n] = min(k) (X[n, k] + p[n] - 5)", "stream k by 2"},
    {"output U[n] = max(k) X[n, k] * p[n]", "stream k by 2"},
    {"C[n, k] = scan[k] sum X[n, k]\n  output U[n] = max(k) C[n, k]", "fuse all; stream k by 2"},
    {"I[n] = argmax(k) X[n, k]\n  output U[n] = 2 * X[n, I[n]] + I[n]", "fuse all; stream k by 2"},
    {"output V[n] = sum(k) (sum(l) X[n, k] * B[k, l])", "fuse all; stream l by 2 in V"},
    // rules that make arrays
    {"output U[n] = sum(k) 3 * X[n, k]", "split-stream k by 2"},
    {"output U[n] = sum(k) p[n] * X[n, k]", "split-stream k by 3"},
    // what stands beyond the end of an axis has the least or the greatest of integers
    {"output U[n] = max(k) X[n, k]", "split-stream k by 5"},
    {"output U[n] = max(k) X[n, k]", "stream k by 2; split-stream k by 5"},
    {"output U[n] = max(k) X[n, k]", "split-stream k by 5; stream k_in by 2 in U_max_part"},
    {"output U[n] = min(k) 3 * X[n, k]", "split-stream k by 5; stream k_in by 2 in U_min_part"},
    {"output U[n] = min(k) X[n, k] * p[n]", "split-stream k by 3; stream k_in by 2 in U_min_part"},
    {"output U[n] = max(k) (if k < p[n] then X[n, k] else p[k])",
     "split-stream k by 5; stream k_in by 2 in U_max_part"},
    {"output U[n] = max(k) X[n, k]",
     "split-stream k by 5; split-stream k_in by 3 in U_max_part; stream k_in2 by 2 in "
     "U_max_part_max_part"},
    {"I[n] = argmax(k) X[n, k]\n  output U[n] = 2 * I[n]",
     "fuse all; stream k by 2; "
     "split-stream k by 5"},
    {"output U[n] = sum(k) (X[n, k] + p[k]) * p[n]", "distribute U"},
    {"output U[n] : i32 = sum(k) (X[n, k] - 5 * p[k])", "distribute U"},
    {"output U[n] = max(k) max(X[n, k], p[n] - 3)", "distribute U"},
    {"output U[n, l] = sum(k) (X[n, k] % 1000 - B[k, l]) ^ 2",
     "distribute U; fuse all; stream k by 2"},
    {"output Y[n] = sum(k, l) X[n, k] * B[k, l] * p[l]", "reassociate B, p as AB in Y"},
    {"output Y[n] = sum(k, l) X[n, k] * B[k, l]", "commute k, l in Y"},
};

std::string text_of(const Subject& subject) {
    return std::string(
               "diagram integers {\n  axis n = 3, k = 8, l = 4, j = k\n"
               "  input X[n, k] : i32\n  input p[j], B[j, l] : i8\n  ") +
           subject.statements + "\n}\n";
}

}  // namespace

TEST_CASE("integers stay integers") {
    for (const Subject& subject : kSubjects) {
        INFO(subject.statements, "; ", subject.steps);
        const Diagram plain = load(text_of(subject));
        const State state = derive(plain, subject.steps);
        const TileProgram program = program_of(state);
        INFO(print(program, {}));
        for (const RegionProgram& region : program.regions)
            for (const Variable& variable : region.variables) {
                const Array& array = region.arrays[variable.array.index()];
                CHECK_MESSAGE((!is_floating(variable.type) || array.rounds), array.name);
            }
        CHECK_EQ(proof::integers_in_reals(plain, program), std::nullopt);
        Trial trial{text_of(subject), {}, 1};
        for (const Step& step : state.steps) trial.steps.push_back(print(step.command));
        CHECK_EQ(failure_of(trial, Depth::Verify), std::nullopt);
    }
}

TEST_CASE("integers that a program computes as reals are not proved") {
    const Subject& subject = kSubjects[4];
    const Diagram plain = load(text_of(subject));
    TileProgram program = program_of(derive(plain, subject.steps));
    RegionProgram& region = program.regions.front();
    for (Array& array : region.arrays)
        if (array.name == "U_sum") array.type = ElementType::F32;
    CHECK_EQ(proof::integers_in_reals(plain, program), "U");
}

}  // namespace napkin::test
