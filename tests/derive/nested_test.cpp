// Axes streamed inside each other's chunks: what stands there, what it costs, and what is refused.
// The forms nested_*.ncd are streamed, executed and proved with the others
// (tests/separation/forms).
#include "derive/accumulator_text.h"
#include "tests/derive/programs.h"

namespace napkin::test {
namespace {

const std::string kLoss =
    "diagram loss {\n"
    "  axis n = 6, v = 20, d = 12\n"
    "  input X[n, d], W[v, d] : bf16\n"
    "  input label[n] : i32\n"
    "  Z[n, v] = sum(d) X[n, d] * W[v, d]\n"
    "  T[n] = sum(v) if v == label[n] then Z[n, v] else 0\n"
    "  output nll[n] : f32 = logsumexp[v](Z[n, v]) - T[n]\n"
    "}\n";

std::string nested(const std::string& statements) {
    return "diagram nested {\n"
           "  axis n = 6, v = 20, d = 12, e = 3\n"
           "  input X[n, d], W[v, d], V[v, e], Y[n, e] : bf16\n" +
           statements + "}\n";
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("nested: a contraction is summed up inside a chunk, and its result is its state") {
    const Diagram diagram = load(kLoss);
    const State state = derive(diagram, "fuse all\ngroup n by 2\nstream v by 8\nstream d by 5");
    const TileProgram program = program_of(state);
    const Accumulator& outer = program.regions.front().accumulator.value();
    REQUIRE_EQ(outer.inside.size(), 1);
    CHECK(outer.inside.front().tail.empty());
    CHECK(says(explain(state.diagram, outer),
               "  inside    Z = 0\n"
               "            over d: Z = Z + sum(d) X * W\n"
               "  body      nll_max_new = max(nll_max, max(v) Z)\n"));
    check_against_reference(state);
}

TEST_CASE("nested: every group and chunk around loads it again, and one chunk of each is held") {
    const Diagram diagram = load(kLoss);
    const std::string steps = "fuse all\ngroup n by 2\nstream v by 10\nstream d by 4";
    const Counters counted = check_against_reference(derive(diagram, steps)).front();
    // X and W for each of 3 groups and 2 chunks, labels and results once.
    CHECK_EQ(counted.transferred.at(Level::Block), 3 * 2 * (2 * 12 + 10 * 12) + 6 + 6);
}

TEST_CASE("nested: below other groups, unstreamed, and with other sizes it computes the same") {
    const Diagram diagram = load(kLoss);
    for (const std::string more : {"group n by 1 at l2", "unstream d", "unstream v",
                                   "stream n by 1", "split-stream v by 8", "recolour Z at l1"}) {
        INFO(more);
        State state = derive(diagram, "fuse all\ngroup n by 2\nstream v by 4\nstream d by 5");
        Outcome outcome = apply(state, commands(more).front());
        if (State* next = std::get_if<State>(&outcome)) state = std::move(*next);
        check_against_reference(state);
    }
}

TEST_CASE("nested: groups below the streams keep what a chunk loads for the loops inside it") {
    const Diagram diagram = load(
        "diagram t {\n"
        "  axis q = 5, h = 6, x = 12, d = 8\n"
        "  input Q[q, h, d], K[x, d], g[q, h], c[q] : f32, W[x, h] : f32\n"
        "  input label[q] : i32\n"
        "  S[q, h, x] = sum(d) Q[q, h, d] * K[x, d] * c[q] + W[label[q], h]\n"
        "  output O[q, h] : f32 = logsumexp[x](S[q, h, x]) * g[q, h]\n"
        "}\n");
    for (const std::string steps :
         {"group h by 2 at l2\nstream q by 2\nstream x by 4",
          "group h by 2 at l2\nstream q by 2\nstream x by 4\nstream d by 3",
          "group h by 4\ngroup h by 2 at l2\nstream q by 2\nstream x by 4",
          "group h by 4\ngroup h by 2 at thread\nstream q by 2 at l2\nstream x by 4 at l2"}) {
        INFO(steps);
        check_against_reference(derive(diagram, "fuse all\n" + steps));
    }
}

TEST_CASE("nested: what only another region reads of an inner fold is kept") {
    const Diagram diagram = load(
        "diagram parts {\n"
        "  axis n = 4, e = 8\n"
        "  input G[n, e] : f16\n"
        "  output best[n] = argmax(e) G[n, e]\n"
        "}\n");
    check_against_reference(
        derive(diagram, "stream n by 1\nsplit-stream e by 4\nstream e_in by 2 in best_at_part"));
}

TEST_CASE("nested: one inner fold may be two arrays") {
    const Diagram diagram = load(
        "diagram chain {\n"
        "  axis i = 2, j = 6, k = 5, l = 3\n"
        "  input A[i, j], B[j, k], C[k, l], D[i, k]\n"
        "  T[i, k] = sum(j) A[i, j] * B[j, k]\n"
        "  output Y[i, l] = sum(k) T[i, k] * C[k, l]\n"
        "  output Z[i] = sum(k) T[i, k] * D[i, k]\n"
        "}\n");
    check_against_reference(
        derive(diagram, "recompute T in Y\nfuse all\nstream k by 2\nstream j by 4"));
}

TEST_CASE("nested: what does not lie inside a chunk is refused, with the way out") {
    struct Case {
        std::string diagram;
        std::string steps;
        std::vector<std::string> said;
    };
    const std::vector<Case> table = {
        {kLoss,
         "fuse all\nstream d by 4\nstream v by 5",
         {"`unstream d` first, then `stream v`, `stream d`"}},
        {kLoss, "fuse all\nstream v by 5\nstream d by 4 at l2", {"stream them at one level"}},
        {nested("  R[n] = sum(d) X[n, d] * X[n, d]\n  Z[n, v] = sum(d) X[n, d] * W[v, d] / R[n]\n"
                "  output O[n] = max(v) Z[n, v]\n"),
         "fuse all\nstream v by 5\nstream d by 4",
         {"d"}},
        {nested("  Z[n, v] = sum(d) X[n, d] * W[v, d]\n"
                "  output O[n, d] = sum(v) exp(Z[n, v]) * W[v, d]\n"),
         "fuse all\nstream v by 5\nstream d by 4",
         {"`O_sum` runs along `d` and is kept beyond a chunk of `v`"}},
        {nested("  output A[v, d] = W[v, d] * 2\n  Z[n, v] = sum(d) X[n, d] * A[v, d]\n"
                "  output O[n] = max(v) Z[n, v]\n"),
         "fuse all\nstream v by 5\nstream d by 4",
         {"d"}}};
    for (const Case& each : table) {
        const std::string said = refusal(load(each.diagram), each.steps);
        INFO(said);
        CHECK(said != "applied");
        for (const std::string& part : each.said) CHECK(says(said, part));
    }
}

TEST_CASE("nested: a state that is the same along an axis is no copy of an array that has it") {
    const char* text = R"(diagram alike {
  axis n = 6, l = 2
  input A[l], B[n, l]
  output T[l] = sum(l, n) A[l] * 3
  output U[l] = sum(n) (if l <= n then 1 else B[n, l])
})";
    const std::string steps = "fuse all\nsplit-stream n by 4 in U\nfuse all\nstream n_in by 2 in U";
    check_against_reference(derive(load(text), steps));
    CHECK(says(refusal(load(text), steps + "\nstream n_part by 1 in U"),
               "runs along `n_part` and is kept beyond a chunk of `n_in`"));
}

}  // namespace napkin::test
