// Wires stored in a type of their own while their axis is streamed: what is rounded is the factor
// of a folded product, never the unfinished wire.
#include <set>
#include <string>

#include "derive/accumulator_text.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin::test {

namespace {

constexpr const char* kAttentionWithSums = R"(
diagram attention {
  axis q = 5, x = 23, d = 4
  input Q[q, d], K[x, d], V[x, d]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] = sum(x) P[q, x] * V[x, d]
  output Z[q] = sum(x) P[q, x]
}
)";

constexpr const char* kScoresBackward = R"(
diagram backward {
  axis q = 5, x = 23, d = 4
  input S[q, x], dP[q, x], K[x, d]
  P[q, x] = softmax[x](S[q, x])
  D[q] = sum(x) P[q, x] * dP[q, x]
  dS[q, x] = P[q, x] * (dP[q, x] - D[q])
  output dQ[q, d] = sum(x) dS[q, x] * K[x, d]
}
)";

constexpr const char* kSpherical = R"(
diagram spherical {
  axis q = 5, x = 23, d = 4
  input S[q, x], V[x, d]
  n[q] = sum(x) S[q, x] ^ 2
  A[q, x] = if x % 4 != 1 then S[q, x] * rsqrt(n[q]) else 0
  output O[q, d] = sum(x) A[q, x] * V[x, d]
}
)";

/// The largest difference from the reference, relative to the largest value, with every tile
/// rounded to its type.
double rounded_error(const State& state) {
    const Tensors inputs = random_inputs(state.diagram, 5);
    const Tensors expected = *evaluate_outputs(state.diagram, inputs);
    const Result<Interpretation> result =
        interpret(state.diagram, program_of(state), inputs, Arithmetic::Storage);
    REQUIRE(result.has_value());
    double worst = 0;
    double largest = 0;
    for (const auto& [array, tensor] : expected)
        for (std::size_t i = 0; i < tensor.values.size(); ++i) {
            const double got = result->outputs.at(array).values[i];
            worst = std::max(worst, std::abs(got - tensor.values[i]));
            largest = std::max(largest, std::abs(tensor.values[i]));
        }
    return worst / largest;
}

}  // namespace

TEST_CASE("a stored wire rounds the streamed factor of every product that reads it") {
    std::string texts;
    for (const auto& [text, wire] :
         {std::pair(kAttentionWithSums, "P"), std::pair(kScoresBackward, "dS"),
          std::pair(kSpherical, "A")}) {
        const Diagram diagram = load(text);
        const State plain = derive(diagram, "fuse all\nstream x by 7");
        const std::string retype = "retype " + std::string(wire) + " to bf16";
        const State stored = derive(diagram, "fuse all\n" + retype + "\nstream x by 7");
        check_against_reference(stored);
        CHECK(rounded_error(plain) < 1e-5);
        CHECK(rounded_error(stored) > 1e-4);  // bf16 keeps 8 bits
        CHECK(rounded_error(stored) < 2e-2);
        const State later = derive(diagram, "fuse all\nstream x by 7\n" + retype);
        CHECK(program_of(later) == program_of(stored));
        const TileProgram program = program_of(stored);
        texts += "== " + diagram.name + "\n" +
                 explain(diagram, *program.regions.front().accumulator) + "\n";
    }
    check_golden("derive/stored.txt", texts);
}

TEST_CASE("the sum that normalises does not read the stored weights unless it was written so") {
    const Diagram diagram = load(kAttentionWithSums);
    const State stored = derive(diagram, "fuse all\nretype P to e5m2\nstream x by 7");
    const Tensors inputs = random_inputs(diagram, 5);
    const Result<Interpretation> result =
        interpret(diagram, program_of(stored), inputs, Arithmetic::Storage);
    REQUIRE(result.has_value());
    // Z = sum(x) P reads the wire, P's own denominator does not: their ratio shows the rounding.
    double worst = 0;
    for (const double z : result->outputs.at(*find_array(diagram, "Z")).values)
        worst = std::max(worst, std::abs(z - 1));
    CHECK(worst > 1e-3);
    CHECK(worst < 0.25);
}

TEST_CASE("a stored wire without a streamed factor to store is refused") {
    const Diagram diagram = load(R"(
diagram squares {
  axis q = 5, x = 23, d = 4
  input S[q, x], V[x, d]
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] = sum(x) P[q, x] ^ 2 * V[x, d]
}
)");
    const std::string expected =
        "`P` is stored in bf16, but depends on folds over `x` that are final only after the last "
        "chunk, and nothing that is folded has its streamed part as a factor; take back `retype "
        "P`, or keep `P` in a region of its own";
    CHECK_EQ(refusal(diagram, "fuse all\nretype P to bf16\nstream x by 7"), expected);
    CHECK_EQ(refusal(diagram, "fuse all\nstream x by 7\nretype P to bf16"), expected);
}

TEST_CASE("a stored wire that is final too late for what is folded is refused") {
    const Diagram diagram = load(R"(
diagram variance {
  axis q = 5, x = 23
  input X[q, x]
  m[q] = (sum(x) X[q, x]) / size(x)
  output V[q] = (sum(x) (X[q, x] - m[q]) ^ 2) / size(x)
}
)");
    CHECK_EQ(refusal(diagram, "fuse all\nretype m to bf16\nstream x by 7"),
             "`m` is stored in bf16, but is final only after the last chunk of `x`, and what is "
             "folded is formed without its rounded value; take back `retype m`, or keep `m` in a "
             "region of its own");
}

namespace {

/// Targets of what runs on the tensor core.
void on_tensor_core(const RegionProgram& region, const std::vector<TileStatement>& body,
                    std::set<std::string>& names) {
    for (const TileStatement& each : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&each.node))
            on_tensor_core(region, parallel->body, names);
        if (const Loop* loop = std::get_if<Loop>(&each.node))
            on_tensor_core(region, loop->body, names);
        const Compute* compute = std::get_if<Compute>(&each.node);
        if (compute == nullptr || !compute->tensor_core) continue;
        for (const ArrayId target : compute->statement.targets)
            names.insert(region.arrays[target.index()].name);
    }
}

}  // namespace

TEST_CASE("recolour: what streaming makes of a contraction stays at its place") {
    const State state = derive(load(R"(diagram attention {
  axis q = 32, x = 32, d = 16, e = d
  input Q[q, d], K[x, d], V[x, e] : bf16
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = softmax[x](S[q, x])
  output O[q, e] : bf16 = sum(x) P[q, x] * V[x, e]
})"),
                               "fuse all\nrecolour S at tensor-core\nrecolour O at tensor-core\n"
                               "group q by 16\nstream x by 16");
    std::set<std::string> names;
    for (const RegionProgram& region : program_of(state).regions)
        on_tensor_core(region, region.body, names);
    std::string text;
    for (const std::string& name : names) text += name + " ";
    CHECK_EQ(text, "O_sum S ");
}

}  // namespace napkin::test
