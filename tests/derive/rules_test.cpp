// Each rule: a golden of what it changes, with the law and the conditions that it checked.
#include <algorithm>

#include "derive/state.h"
#include "diagrams/compare.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin::test {

namespace {

constexpr const char* kDiagram = R"(
diagram attention {
  axis q = 64, x = 32, d = 16
  input Q[q, d], K[x, d], V[x, d] : bf16
  S[q, x] = sum(d) Q[q, d] * K[x, d] * rsqrt(size(d))
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]
  weave h = 2
}
)";

/// Probabilities from a saved log-sum-exp, used in two regions.
constexpr const char* kValuesBackward = R"(
diagram backward {
  axis q = 12, x = 20, d = 4
  input Q[q, d], K[x, d], dO[q, d] : bf16
  input L[q] : f32
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = exp(S[q, x] - L[q])
  output dV[x, d] = sum(q) P[q, x] * dO[q, d]
  output R[q, d] = sum(x) P[q, x] * K[x, d]
}
)";

/// A softmax without a maximum, products of three, a sum of two.
constexpr const char* kAlgebra = R"(
diagram algebra {
  axis q = 6, x = 10, d = 4, e = d
  input Q[q, d], K[x, d], V[x, e], B[x, e], c[q]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  l[q] = sum(x) exp(S[q, x])
  output L[q] = log(l[q])
  output O[q, e] = (sum(x) exp(S[q, x]) * V[x, e]) / l[q]
  output R[q, e] = sum(x) S[q, x] * V[x, e]
  output T[q, e] = sum(x) c[q] * (V[x, e] + B[x, e]) * S[q, x]
}
)";

std::string picture(const State& state) {
    return print(state.diagram) + print(state.diagram, state.relabelling);
}

struct Case {
    std::string rule;
    std::string before;
    std::string step;
    const char* text = kDiagram;
};

}  // namespace

TEST_CASE("what each rule changes") {
    const std::vector<Case> cases = {
        {"fuse", "", "fuse S, P"},
        {"unfuse", "fuse all", "unfuse O"},
        {"group", "fuse all", "group q by 16"},
        {"ungroup", "fuse all\ngroup q by 16", "ungroup q"},
        {"stream", "fuse all\ngroup q by 16", "stream x by 8"},
        {"unstream", "fuse all\ngroup q by 16\nstream x by 8", "unstream x"},
        {"recolour", "fuse all", "recolour S at tensor-core"},
        {"retype", "fuse all", "retype P to bf16"},
        {"split-axis", "", "split-axis q as r by 8"},
        {"join-axes", "split-axis q as r by 8", "join-axes q, r as q"},
        {"layout", "", "layout V[d, h, x] as Vt"},
        {"split-stream", "fuse all\ngroup q by 16\nstream x by 8", "split-stream x by 16"},
        {"recompute", "fuse S, P, R", "recompute S, P in dV", kValuesBackward},
        {"extract", "", "extract V, B as U in T", kAlgebra},
        {"absorb-normaliser", "", "absorb-normaliser P as L"},
        {"stabilise", "", "stabilise l as m", kAlgebra},
        {"distribute", "", "distribute T as U, W", kAlgebra},
        {"commute", "", "commute d, x in R as U", kAlgebra},
        {"reassociate", "", "reassociate K, V as M in R", kAlgebra},
        {"set", "", "set q = 64"},
        {"schedule", "fuse all", "schedule stages of K = 3 in S"},
    };
    CHECK_EQ(cases.size(), all_rules().size());
    for (const Case& example : cases) {
        const Diagram diagram = load(example.text);
        const State before = derive(diagram, example.before);
        const State after = derive(diagram, example.before + "\n" + example.step);
        const Step& step = after.steps.back();
        std::string text =
            picture(before) + "\n==> " + print(step.command) + "\n    law: " + step.law + "\n";
        for (const std::string& condition : step.conditions)
            text += "    checked: " + condition + "\n";
        for (const std::string& hazard : step.hazards) text += "    unsafe: " + hazard + "\n";
        check_golden("derive/" + example.rule + ".txt", text + "\n" + picture(after));
        check_against_reference(after);
        check_same_meaning(diagram, after);
    }
}

TEST_CASE("a rule and its inverse give back the relabelling") {
    const Diagram diagram = load(kDiagram);
    const auto relabelling = [&](const std::string& text) {
        return derive(diagram, text).relabelling;
    };
    CHECK(relabelling("fuse all\nunfuse O") == relabelling(""));
    CHECK(relabelling("fuse all\ngroup q by 16\nungroup q") == relabelling("fuse all"));
    CHECK(relabelling("fuse all\nstream x by 16\nunstream x") == relabelling("fuse all"));
    CHECK(derive(diagram, "split-axis q as r by 8\njoin-axes q, r as q").relabelling ==
          relabelling(""));
}

TEST_CASE("derivation files: what is printed is read back") {
    for (const std::string text : {"fuse S, P, O",
                                   "fuse all",
                                   "unfuse O",
                                   "group q by 128 at l1 in O",
                                   "group q by 16 at l2 in O",
                                   "ungroup q",
                                   "stream x by 64 at l1 in O",
                                   "unstream x",
                                   "recolour S at tensor-core",
                                   "retype P to f16",
                                   "split-axis q as q1 by 16",
                                   "join-axes a, b as c",
                                   "layout A[c, i, k] as A_c in O",
                                   "layout S[x, q]",
                                   "recompute S, P in dV",
                                   "split-stream x as p, y by 64 in O",
                                   "set q = 8192",
                                   "schedule warps = 8",
                                   "schedule stages of K = 3 in O",
                                   "schedule staged of S'' = false",
                                   "schedule leads of fetch the first operands of S = 0",
                                   "group of by 4 in of"}) {
        const std::vector<Command> parsed = commands(text);
        REQUIRE_EQ(parsed.size(), 1);
        CHECK_EQ(print(parsed.front()), text);
    }
}

TEST_CASE("a clause that a rule does not take is refused") {
    const Diagram diagram = load(kDiagram);
    for (const auto& [steps, reason] : {
             std::pair{"fuse all in ZZ",
                       "`fuse` takes no `in`; write `fuse ARRAY, ARRAY... | fuse "
                       "all`"},
             std::pair{"fuse all by 7", "`fuse` takes no `by`"},
             std::pair{"fuse S, P in P", "`fuse` takes no `in`"},
             std::pair{"unfuse S at l1", "`unfuse` takes no `at`; write `unfuse ARRAY`"},
             std::pair{"unfuse in S", "`unfuse` takes no `in`"},
             std::pair{"unfuse S, P", "it takes one array"},
             std::pair{"retype S to bf16 by 7", "`retype` takes no `by`"},
             std::pair{"group q by 64 to bf16", "`group` takes no `to`"},
             std::pair{"group q by 64 as foo", "`group` takes no `as`"},
             std::pair{"group q by 64 as 9", "`group` takes no `as`"},
             std::pair{"stream x by 8 as chunk in O", "streaming names nothing"},
             std::pair{"split-stream x by 8 at l1 in O", "`split-stream` takes no `at`"},
             std::pair{"split-axis q as q1 by 16 in O", "`split-axis` takes no `in`"},
             std::pair{"set q = 512 in O", "`set` takes no `in`; write `set AXIS = SIZE`"},
             std::pair{"layout S[h, x, q] in O", "`in` says which region reads the copy"},
             std::pair{"commute P, V in O as W", "leave `as` out"},
             std::pair{"schedule stages by 3 in O", "`schedule` takes no `by`"},
         }) {
        const std::string said = refusal(diagram, steps);
        INFO(steps, " said: ", said);
        CHECK(said.find(reason) != std::string::npos);
    }
}

TEST_CASE("a rule takes the clauses that its usage names, and no others") {
    struct Clause {
        std::string word;
        std::vector<std::string> spelled;
        void (*add)(Command&);
    };
    const std::vector<Clause> clauses = {
        {"[...]", {"ARRAY[AXIS"}, [](Command& c) { c.axes = {"d"}; }},
        {"of", {" of ", "[of "}, [](Command& c) { c.of = "K"; }},
        {"=", {"= VALUE"}, [](Command& c) { c.value = "3"; }},
        {"as", {" as ", "[as "}, [](Command& c) { c.as = {"fresh"}; }},
        {"by", {" by ", "= SIZE"}, [](Command& c) { c.size = 4; }},
        {"at", {" at ", "[at "}, [](Command& c) { c.at = "l1"; }},
        {"to", {" to "}, [](Command& c) { c.to = "bf16"; }},
        {"in", {" in ", "[in "}, [](Command& c) { c.in = "O"; }},
    };
    const State state = initial_state(load(kDiagram));
    for (const Rule& rule : all_rules())
        for (const Clause& clause : clauses) {
            Command command = commands(std::string(rule.example)).front();
            clause.add(command);
            INFO(print(command));
            const bool takes = std::any_of(
                clause.spelled.begin(), clause.spelled.end(),
                [&](const std::string& text) { return rule.usage.find(text) != text.npos; });
            const Outcome outcome = apply(state, command);
            const NotApplicable* const refused = std::get_if<NotApplicable>(&outcome);
            const std::string said = "`" + std::string(rule.name) + "` takes no `" + clause.word;
            CHECK_EQ(refused != nullptr && refused->reason == said + "`", !takes);
        }
}

TEST_CASE("derivation files: commands are on lines of their own, or apart by semicolons") {
    const Diagram diagram = load(kDiagram);
    const State lines = derive(diagram, "fuse all\ngroup q by 16\nstream x by 8");
    for (const char* text : {"fuse all; group q by 16; stream x by 8",
                             "fuse all;group q by 16;;  # tiles; of rows\nstream x by 8;\n;"}) {
        INFO(text);
        const State state = derive(diagram, text);
        CHECK(state.relabelling == lines.relabelling);
        CHECK_EQ(state.steps.size(), lines.steps.size());
    }
}

TEST_CASE("derivation files: every error, with its place") {
    const std::string text =
        "fuse all  # a comment\n"
        "group q by\n"
        "group q by zero\n"
        "stream x by 0\n"
        "group q by 4 at l1 at l2\n"
        "fuse S,\n"
        "group q ! by 4\n"
        "\n"
        "group q by 99999999999999999999\n";
    SourceMap sources;
    const std::uint32_t file = sources.add("wrong.drv", text);
    const Result<std::vector<Command>> parsed = parse_derivation(sources, file);
    REQUIRE_FALSE(parsed.has_value());
    check_golden("derive/wrong_derivation.txt", rendered(parsed.error(), sources));
}

TEST_CASE("arrays are laid out by all of their axes; the caller's in a copy") {
    const Diagram diagram = load(R"(diagram laid {
  axis q = 4, x = 6, d = 3
  input Q[q, d], K[x, d], idle[q, d] : f32
  input pick[q, x] : i32
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  T[q] = sum(x) S[pick[q, x], x]
  output O[q, x] = S[q, x] + T[q]
})");
    for (const auto& [steps, reason] : {
             std::pair{"layout K[d] as L", "names each axis of `K` once"},
             std::pair{"layout K[d, d] as L", "names each axis of `K` once"},
             std::pair{"layout K[x, d] as L", "lies in that order already"},
             std::pair{"layout T[q]", "fewer than two axes"},
             std::pair{"layout K[d, x]", "how `K` lies is the caller's"},
             std::pair{"layout K[d, x] as Q", "`Q` is in use already"},
             std::pair{"layout S[x, q] as L", "needs no copy"},
             std::pair{"layout pick[x, q] as L", "holds indices"},
             std::pair{"layout idle[d, q] as L", "is not read there"},
             std::pair{"layout K[d, x] as L in O", "is not read there"},
             std::pair{"fuse all\nlayout S[x, q]", "stays inside its region"},
         }) {
        const std::string said = refusal(diagram, steps);
        INFO(steps, " said: ", said);
        CHECK(said.find(reason) != std::string::npos);
    }
    for (const char* steps : {"layout K[d, x] as L", "layout S[x, q]", "layout O[x, q] as L",
                              "fuse all\nlayout O[x, q] as L\ngroup q by 3 in O"}) {
        INFO(steps);
        const State after = derive(diagram, steps);
        check_against_reference(after);
        check_same_meaning(diagram, after);
    }
}

TEST_CASE("a laid out copy loses nothing") {
    const Diagram diagram = load(R"(diagram copied {
  axis n = 4, d = 6
  input X[n, d] : bf16
  output Y[n] = sum(d) X[n, d]
})");
    const State plain = derive(diagram, "");
    const State laid = derive(diagram, "layout X[d, n] as Z");
    const auto stored = [](const State& state) {
        return precision_of(state.diagram, state.relabelling).stored;
    };
    CHECK_EQ(stored(laid).count(*find_array(laid.diagram, "Z")), 0);
    CHECK_EQ(stored(laid).size(), stored(plain).size());
}

TEST_CASE("an output that rounds is read rounded when it is laid out otherwise") {
    const Diagram diagram = load(R"(diagram rounded {
  axis n = 5, d = 7
  input X[n, d] : f32
  output S[n, d] : bf16 = sqrt(1 + X[n, d] ^ 2)
  output Y[n] : f32 = sum(d) S[n, d] * S[n, d]
})");
    const State after = derive(diagram, "layout S[d, n] as S_laid");
    check_against_reference(after);
    check_same_meaning(diagram, after);
    const std::string said = refusal(diagram, "fuse all\nlayout S[d, n] as S_laid");
    CHECK(said.find("data would leave a region and come back") != std::string::npos);
}

TEST_CASE("what nothing uses is not split into parts") {
    const Diagram diagram = load(R"(diagram idle {
  axis n = 5, d = 8
  input X[n, d] : f32
  S[n] = sum(d) X[n, d]
  output Y[n] : f32 = X[n, 0]
})");
    CHECK(refusal(diagram, "split-stream d by 4 in S").find("nothing uses what it computes") !=
          std::string::npos);
}

TEST_CASE("integers that an output rounds are no copy of real numbers") {
    const Diagram diagram = load(R"(diagram picked {
  axis n = 5, m = 3, d = 7
  input X[n, m, d] : f32
  output I[n, m] : bf16 = argmax(d) X[n, m, d]
})");
    CHECK(refusal(diagram, "layout I[m, n] as J").find("rounds integers to bf16") !=
          std::string::npos);
}

TEST_CASE("tiles that share nothing go as they lie in memory, outermost") {
    const Diagram diagram = load(R"(diagram batched {
  axis i = 64, j = 64, k = 32, c = 16
  input A[c, i, k], B[c, j, k] : bf16
  output O[i, j, c] : bf16 = sum(k) A[c, i, k] * B[c, j, k]
})");
    const State state = derive(diagram, "group i by 16\ngroup j by 16\ngroup c by 1");
    const Result<TileProgram> program = expand(state);
    REQUIRE(bool(program));
    const Parallel* outer = std::get_if<Parallel>(&program->regions.front().body.front().node);
    REQUIRE(outer != nullptr);
    CHECK_EQ(diagram[outer->axis].name, "c");
}

TEST_CASE("ranks of a selection stay whole where it is streamed, split or joined") {
    const Diagram diagram = load(R"(diagram routing {
  axis n = 5, e = 13, k = 4
  input G[n, e]
  val[n, k], idx[n, k] = topk[e](G[n, e])
  output W[n] = sum(k) val[n, k] * idx[n, k]
})");
    const std::string stream = "stream e by 3 in idx\n";
    for (const auto& [steps, reason] :
         {std::pair{stream + "group k by 2 in idx", "all ranks are kept"},
          std::pair{std::string("group k by 2 in idx\n") + stream, "all ranks are kept"},
          std::pair{std::string("fuse all\nsplit-stream k by 2"), "ranks along `k`"}}) {
        const std::string said = refusal(diagram, steps);
        INFO(steps, " said: ", said);
        CHECK(said.find(reason) != std::string::npos);
    }
    const Diagram adjacent = load(R"(diagram adjacent {
  axis n = 5, e = 13, k = 4
  input G[e]
  output val[n, k], idx[n, k] = topk[e](G[e] * n)
})");
    CHECK_EQ(refusal(adjacent, "join-axes n, k as m").rfind("a selection is ranked along", 0), 0);
}

}  // namespace napkin::test
