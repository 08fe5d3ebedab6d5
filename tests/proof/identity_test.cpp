// What rung 2 decides, and what it does not: the cases that naive versions get wrong.
#include <set>

#include "derive/proof/certificate.h"
#include "derive/proof/field_trial.h"
#include "derive/proof/provenance.h"
#include "tests/golden.h"
#include "tests/proof/subjects.h"

namespace napkin::test {
namespace {

using proof::Choices;

constexpr const char* kTwoLayers = R"(diagram two_layers {
  axis q = 5, x = 6, d = 3, y = 7, e = d
  input Q[q, d], K[x, d], V[x, e], L[y, e], W[y, d]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = softmax[x](S[q, x])
  O[q, e] = sum(x) P[q, x] * V[x, e]
  T[q, y] = sum(e) O[q, e] * L[y, e]
  R[q, y] = softmax[y](T[q, y])
  output Z[q, d] = sum(y) R[q, y] * W[y, d]
})";

/// Proves a diagram at the sizes it is written with.
proof::ProgramProof prove_at(const std::string& diagram, const std::string& derivation) {
    const Diagram plain = load(diagram);
    const State state = derive(plain, derivation);
    return proof::prove_program(plain, state.diagram, program_of(state), {});
}

const proof::Identity& identity_of(const proof::ProgramProof& proof, const std::string& output) {
    for (const proof::Identity& each : proof.identities)
        if (each.output == output) return each;
    FAIL("no output ", output);
    return proof.identities.front();
}

}  // namespace

TEST_CASE("a streamed log-sum-exp is a formal pair") {
    for (const char* form : {"max(x) S[q, x] + log(sum(x) exp(S[q, x] - max(x) S[q, x]))",
                             "log(sum(x) exp(S[q, x]))"}) {
        const proof::ProgramProof proof = prove_at(std::string(R"(diagram lse {
  axis q = 3, x = 11
  input S[q, x]
  output L[q] = )") + form + "\n}",
                                                   "stream x by 4");
        INFO(describe(proof));
        REQUIRE(proof.ok());
        const proof::Identity& identity = identity_of(proof, "L");
        CHECK_EQ(identity.settings, (proof::FieldSettings{Choices::Gauges, true}));
        CHECK(identity.degree.has_value());
    }
}

TEST_CASE("a polynomial whose degree leaves no bound is tried more often") {
    const auto squared = [](int times) {
        std::string text = "diagram deep {\n  axis n = 3\n  input X0[n]\n";
        for (int i = 0; i < times; ++i)
            text += "  X" + std::to_string(i + 1) + "[n] = X" + std::to_string(i) + "[n] * X" +
                    std::to_string(i) + "[n] + 1\n";
        return prove_at(text + "  output Y[n] = 2 * X" + std::to_string(times) + "[n]\n}",
                        "fuse all");
    };
    const proof::ProgramProof few = squared(20);
    REQUIRE(few.ok());
    CHECK(few.identities.front().degree.has_value());
    const proof::ProgramProof many = squared(50);
    REQUIRE(many.ok());
    CHECK(!many.identities.front().degree);
    CHECK_GT(many.identities.front().trials.size(), few.identities.front().trials.size());
}

TEST_CASE("stacked attentions nest exponentials") {
    const proof::ProgramProof proof = prove_at(kTwoLayers, R"(fuse S, P, O
fuse T, R, Z
group q by 2 in O
stream x by 4 in O
group q by 3 in Z
stream y by 3 in Z
)");
    INFO(describe(proof));
    REQUIRE(proof.ok());
    CHECK(identity_of(proof, "Z").degree.has_value());
}

TEST_CASE("an exponential that leaves a streamed sum stays a factor in the exponent") {
    for (const char* outer : {"exp", "sigmoid", "tanh"})
        for (const char* inner : {"exp", "sigmoid", "tanh"}) {
            const std::string diagram = std::string("diagram gated {\n") +
                                        "  axis q = 4, x = 2, d = 3\n"
                                        "  input A[x], B[d, q]\n"
                                        "  E[x] = " +
                                        inner + "(A[x])\n" + "  T[x, d] = sum(q) E[x] * B[d, q]\n" +
                                        "  output N[x, d] = " + outer + "(T[x, d])\n}\n";
            const proof::ProgramProof proof = prove_at(diagram, "fuse all\nstream q by 2");
            INFO(diagram, describe(proof));
            CHECK(proof.ok());
            CHECK(identity_of(proof, "N").settings.nested == proof::Nested::Factored);
            CHECK(identity_of(proof, "N").degree.has_value());
        }
}

TEST_CASE("a gate behind attention is an exponent that is known whole") {
    for (const char* gate : {"tanh", "sigmoid", "silu", "gelu_tanh"}) {
        const std::string diagram = std::string("diagram gated {\n") +
                                    "  axis q = 3, x = 5, d = 2\n"
                                    "  input Q[q, d], K[x, d], V[x, d]\n"
                                    "  P[q, x] = softmax[x](sum(d) Q[q, d] * K[x, d])\n"
                                    "  output O[q, d] = " +
                                    gate + "(sum(x) P[q, x] * V[x, d])\n}\n";
        const proof::ProgramProof proof = prove_at(diagram, "fuse all\nstream x by 2");
        INFO(diagram, describe(proof));
        CHECK(proof.ok());
        CHECK(identity_of(proof, "O").settings.nested == proof::Nested::Whole);
    }
}

TEST_CASE("top-k and argmax") {
    const std::string diagram = R"(diagram routing {
  axis n = 3, e = 11, k = 3, d = 4
  input X[n, d], W[e, d]
  G[n, e] = sum(d) X[n, d] * W[e, d]
  output val[n, k], idx[n, k] = topk[e](G[n, e])
  output best[n] = argmax(e) G[n, e]
})";
    SUBCASE("over what is whole: the free monoid tells, with a bound") {
        const proof::ProgramProof proof =
            prove_at(diagram, "fuse all\ngroup n by 2\nstream d by 3");
        INFO(describe(proof));
        REQUIRE(proof.ok());
        CHECK(identity_of(proof, "val").degree.has_value());
    }
    SUBCASE("over what is streamed: the merge compares, so cells tell, without a bound") {
        const proof::ProgramProof proof =
            prove_at(diagram, "fuse all\ngroup n by 2\nstream e by 4");
        INFO(describe(proof));
        REQUIRE(proof.ok());
        CHECK_EQ(identity_of(proof, "idx").settings.choices, Choices::Cells);
        CHECK(!identity_of(proof, "idx").degree.has_value());
    }
}

TEST_CASE("a maximum that is an output is proved in the free monoid, with a bound") {
    const proof::ProgramProof proof = prove_at(R"(diagram largest {
  axis q = 3, x = 11
  input S[q, x]
  output m[q] = max(x) S[q, x]
})",
                                               "stream x by 4");
    INFO(describe(proof));
    REQUIRE(proof.ok());
    CHECK_EQ(identity_of(proof, "m").settings.choices, Choices::FreeMonoids);
    CHECK(identity_of(proof, "m").degree.has_value());
}

TEST_CASE("logarithms beside products: entropies, divergences, moments of log-probabilities") {
    const std::string head =
        "diagram logarithms {\naxis n = 4, v = 11\n"
        "input A[n, v], B[n, v] : f32\n"
        "P[n, v] = softmax[v](A[n, v])\nL[n, v] = logsoftmax[v](A[n, v])\n";
    for (const std::string outputs : {
             "output D[n] : f32 = sum(v) P[n, v] * L[n, v]",
             "output D[n] = sum(v) P[n, v] * L[n, v]",
             "output D[n] : f32 = sum(v) P[n, v] * (L[n, v] - logsoftmax[v](B[n, v]))",
             "output D[n] : f32 = sum(v) L[n, v] ^ 2 * B[n, v]",
             "output D[n] : f32 = sum(v) L[n, v] ^ 3 * B[n, v]",
             "h[n] = sum(v) P[n, v] * L[n, v]\n"
             "output D[n] : f32 = sum(v) P[n, v] * (L[n, v] - h[n]) ^ 2",
             "h[n] = sum(v) P[n, v] * A[n, v]\n"
             "output D[n] : f32 = sum(v) P[n, v] * (A[n, v] - h[n]) ^ 2",
             "h[n] = sum(v) P[n, v] * A[n, v]\n"
             "output D[n] : f32 = sum(v) P[n, v] * (A[n, v] - h[n]) ^ 3",
         }) {
        const proof::ProgramProof proof =
            prove_at(head + outputs + "\n}", "fuse all\nstream v by 4");
        CAPTURE(outputs);
        INFO(describe(proof));
        CHECK(proof.ok());
    }
}

TEST_CASE("nothing is claimed of rows on which nothing is visible") {
    const std::string diagram = R"(diagram rows {
  axis q = 6, x = 7, d = 2
  input Q[q, d], K[x, d], V[x, d]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  T[q, x] = if q % 3 != 0 then S[q, x] else -inf
  P[q, x] = softmax[x](T[q, x])
  output O[q, d] = sum(x) P[q, x] * V[x, d]
})";
    const proof::ProgramProof proof = prove_at(diagram, "fuse all\ngroup q by 4\nstream x by 3");
    INFO(describe(proof));
    REQUIRE(proof.ok());
    CHECK_EQ(identity_of(proof, "O").elements, 12);
    CHECK_EQ(identity_of(proof, "O").unclaimed, 4);

    // A sum over such rows too is claimed: they add nothing.
    const proof::ProgramProof weighed = prove_at(R"(diagram values {
  axis q = 6, x = 7, d = 2
  input Q[q, d], K[x, d], dO[q, d]
  S[q, x] = sum(d) Q[q, d] * K[x, d]
  P[q, x] = softmax[x](if x < q then S[q, x] else -inf)
  output dV[x, d] = sum(q) P[q, x] * dO[q, d]
})",
                                                 "fuse all\nstream q by 4");
    INFO(describe(weighed));
    CHECK(weighed.ok());
    CHECK_LE(identity_of(weighed, "dV").unclaimed, 4);

    std::string nowhere = diagram;
    nowhere.replace(nowhere.find("q % 3 != 0"), 10, "q % 3 == 9");
    const proof::ProgramProof empty = prove_at(nowhere, "fuse all\nstream x by 3");
    CHECK(!identity_of(empty, "O").proved);
    CHECK_EQ(identity_of(empty, "O").counterexample, "nothing is visible anywhere");
}

TEST_CASE("provenance: what is read and does not matter is no leak") {
    // Where all that `seg == 1` leaves is masked, 0 is divided by 0 in either, and nothing matters.
    const proof::ProgramProof proof = prove_at(R"(diagram renormalised {
  axis q = 5, x = 7
  input S[q, x], V[x]
  input seg[x], own[q] : i32
  P[q, x] = softmax[x](if seg[x] == own[q] then S[q, x] else -inf)
  N[q, x] = (if seg[x] == 1 then 1 else 0) * P[q, x]
  output O[q] = (sum(x) N[q, x] * V[x]) / sum(x) N[q, x]
})",
                                               "fuse all\nstream x by 3");
    INFO(describe(proof));
    CHECK(proof.ok());
}

TEST_CASE(
    "provenance: a summand that rounding swallows when other values are tried is not missed") {
    // What all elements have in common chooses nothing; it is a product of nine sums.
    const proof::ProgramProof proof = prove_at(R"(diagram shifted {
  axis x = 9, d = 2
  input A[d, x]
  T = prod(x) sum(d) A[d, x]
  output C = argmax(d) (sqrt(1 + T ^ 2) + 0.37 * d)
})",
                                               "fuse all\nstream d by 6");
    INFO(describe(proof));
    CHECK(proof.ok());
}

TEST_CASE("provenance: a part of which nothing is visible has the inputs that hide it") {
    const Diagram plain = load(R"(diagram hidden {
  axis s = 13
  input A[s], V[s] : f32
  Z[s] = if A[s] > 0 then 1 else -inf
  output Y : f32 = (sum(s) exp(Z[s] - max(s) Z[s]) * V[s]) / (1 + sum(s) exp(Z[s] - max(s) Z[s]))
})");
    const State state = derive(plain, "fuse all\nsplit-stream s by 4");
    for (std::uint64_t seed = 1; seed <= 8; ++seed)
        for (const bool gauges : {true, false}) {
            INFO(seed, gauges);
            const proof::Provenance found = proof::compare_provenance(
                plain, state.diagram, program_of(state), seed, {"Y"}, gauges);
            CHECK_MESSAGE(found.same(), found.first);
        }
}

TEST_CASE("roots: congruence with a bound, products of roots without") {
    const std::string head =
        "diagram roots {\n  axis q = 4, x = 9, d = 3\n  input S[q, x], V[x, d]\n";
    const proof::ProgramProof norm = prove_at(head + R"(
  n[q] = sum(x) S[q, x] ^ 2
  output O[q, d] = sum(x) S[q, x] * rsqrt(n[q]) * V[x, d]
})",
                                              "fuse all\nstream x by 4");
    INFO(describe(norm));
    REQUIRE(norm.ok());
    CHECK(identity_of(norm, "O").degree.has_value());

    const proof::ProgramProof powers = prove_at(head + R"(
  P[q, x] = softmax[x](S[q, x])
  output O[q, d] = sum(x) sqrt(P[q, x]) * V[x, d]
})",
                                                "fuse all\nstream x by 4");
    INFO(describe(powers));
    REQUIRE(powers.ok());
    CHECK(!identity_of(powers, "O").settings.strict);
    CHECK(!identity_of(powers, "O").degree.has_value());
}

TEST_CASE("roots: a size that is split beside a constant is one product of roots") {
    for (const int size : {4, 12, 16, 24})
        for (const char* scaled : {"rsqrt(size(d)) / tau", "tau * sqrt(size(d))"}) {
            const proof::ProgramProof split =
                prove_at("diagram scaled {\n  axis m = 4, n = 5, d = " + std::to_string(size) +
                             "\n  input A[m, d], B[n, d]\n  param tau : f32 = 0.2\n"
                             "  S[m, n] = (sum(d) A[m, d] * B[n, d]) * " +
                             scaled + "\n  output Y[m] = logsumexp[n](S[m, n])\n}",
                         "split-axis d as e by 2\nfuse all\nstream n by 2");
            INFO("d = ", size, ": ", describe(split));
            CHECK(split.ok());
        }
}

TEST_CASE("roots: that of a size is the product of those of the sizes it is split into") {
    for (const int size : {8, 24, 30}) {
        const proof::ProgramProof split =
            prove_at("diagram scaled {\n  axis m = 4, d = " + std::to_string(size) +
                         "\n  input A[m, d], B[m, d]\n"
                         "  output Y[m] = sum(d) A[m, d] * B[m, d] * rsqrt(size(d))\n}",
                     "split-axis d as e by 2\nstream d by 2");
        INFO("d = ", size, ": ", describe(split));
        CHECK(split.ok());
    }
}

TEST_CASE(
    "monoids of the user's: their rules are computed, their order is kept, their laws tried") {
    const auto fold = [](const char* monoid) {
        return std::string("monoid two(a, b; c, d) = ") + monoid + R"(

diagram folded {
  axis t = 7, c = 2
  input A[t, c], B[t, c]
  P[c], H[c] = two(t) (A[t, c], B[t, c])
  output Y[c] = H[c] + P[c]
})";
    };
    const proof::ProgramProof affine = prove_at(
        fold("(a * c, b * c + d) identity (1, 0) noncommutative"), "fuse all\nstream t by 3");
    INFO(describe(affine));
    CHECK(affine.ok());
    CHECK_EQ(identity_of(affine, "Y").settings.choices, Choices::Gauges);

    // Folding chunk by chunk combines in the same order, whatever the rule; its laws are another
    // matter: the identity is not neutral for negative numbers.
    const proof::ProgramProof lengths =
        prove_at(fold("(sqrt(a ^ 2 + c ^ 2), b + d) identity (0, 0)"), "fuse all\nstream t by 3");
    INFO(describe(lengths));
    CHECK(identity_of(lengths, "Y").proved);
    CHECK_EQ(lengths.broken_law.find("monoid `two`: its identity changes"), 0);

    const proof::ProgramProof means =
        prove_at(fold("((a + c) / 2, b + d) identity (0, 0)"), "fuse all\nstream t by 3");
    CHECK(!means.ok());
    const proof::ProgramProof order =
        prove_at(fold("(a * c, b * c + d) identity (1, 0)"), "fuse all\nstream t by 3");
    CHECK_EQ(order.broken_law.find("monoid `two`: it is not commutative at"), 0);
    // Parts of an element are of the same inputs, and whether a condition holds is one of them.
    const proof::ProgramProof latest = prove_at(R"(
monoid latest(a, f; b, g) = (if g > 0 then b else a, max(f, g)) identity (0, 0) noncommutative
monoid unused(a; b) = a - b identity 0
diagram folded {
  axis t = 7
  input A[t] : f32
  input there[t] : bool
  P, H = latest(t) (if there[t] then A[t] else 0, if there[t] then 1 else 0)
  output Y = H + P
})",
                                                "fuse all\nstream t by 3");
    CHECK_EQ(latest.broken_law, "");
    const proof::ProgramProof shifted = prove_at(R"(
monoid mix(a, b; c, d) = (a + d, b + c) identity (0, 0)
diagram folded {
  axis t = 7
  input A[t] : f32
  C[t] = A[t] * 2
  P, H = mix(t) (C[t], C[(t + 1) % size(t)])
  output Y = H + P
})",
                                                 "fuse all");
    CHECK_NE(shifted.broken_law.find("monoid `mix`: its identity changes"), std::string::npos);
    // Elements are drawn about as large as the rule's own numbers.
    for (const char* cap : {"1", "300", "1000", "1e6"})
        CHECK_EQ(
            prove_at(
                fold(("(min(a + c, " + std::string(cap) + "), b + d) identity (0, 0)").c_str()),
                "fuse all\nstream t by 3")
                .broken_law.find("monoid `two`: it is not associative at"),
            0);
}

TEST_CASE("what random derivations taught: constants that are left, literals, overflow of a type") {
    struct Taught {
        const char* name;
        const char* outputs;  ///< over E[k, x], F[d]
        const char* derivation;
    };
    const Taught taught[] = {
        {"products of literals mean a fraction", "output O[k] = sum(x) 0.1 * (0.1 * E[k, x])",
         "stream x by 2"},
        {"no literal means the product of two",
         "output O[k] = sum(x) 1.4426950408889634 * (0.08838834764831845 * E[k, x])",
         "stream x by 2"},
        {"a root of what cancels to one",
         "output O[k] = silu(sqrt(1 + (sum(x) E[k, x] - sum(x) E[k, x]) ^ 2))", "stream x by 2"},
        {"rounding of what cancels to two",
         "output O[k] : f16 = (sum(x) exp(E[k, x]) * 2.0) / sum(x) exp(E[k, x])", "stream x by 2"},
        {"rounding of what cancels to a tenth",
         "output O[k] : f16 = (sum(x) exp(E[k, x]) * 0.1) / sum(x) exp(E[k, x])", "stream x by 2"},
        {"the size of a root is the root",
         "output O[k] = abs(sqrt(1 + (sum(x) E[k, x]) ^ 2)) - sum(x) E[k, x]", "stream x by 2"},
        {"probabilities of one element",
         "P[k, x, z] = softmax[z](E[k, x] * Z[z])\n"
         "  output O[k] = sum(x) tanh((sum(z) P[k, x, z]) - E[k, x])",
         "fuse all\nstream x by 2 in O"},
        {"tanh of a literal", "output O[k] = sum(x) tanh(0.3) * E[k, x]", "stream x by 2"},
        {"two equal sums that are rounded",
         "output L[k] : bf16 = sum(x) E[k, x] ^ 2\n  output M[k] : bf16 = sum(x) E[k, x] ^ 2\n"
         "  output O[k, d] = sum(x) E[k, x] / L[k] * F[d]",
         "fuse all\nstream x by 2 in O"},
        {"half precision overflows",
         "m[k] : f16 = sum(x) 1e4 * E[k, x] ^ 2\n"
         "  output O[k] = sum(x) (E[k, x] - m[k]) * rsqrt((E[k, 0] - m[k]) ^ 2 + 0.5)",
         "stream x by 2 in O"},
    };
    for (const Taught& each : taught) {
        CAPTURE(each.name);
        const proof::ProgramProof proof =
            prove_at(std::string("diagram taught {\n  axis k = 2, x = 5, d = 3, z = 1\n"
                                 "  input E[k, x], F[d], Z[z]\n  ") +
                         each.outputs + "\n}",
                     each.derivation);
        INFO(describe(proof));
        CHECK(proof.ok());
    }
}

/// Proves the program of one diagram against another with the same inputs and outputs.
proof::ProgramProof prove_as(const std::string& diagram, const std::string& other,
                             const std::string& derivation = "") {
    const State state = derive(load(other), derivation);
    return proof::prove_program(load(diagram), state.diagram, program_of(state), {});
}

TEST_CASE("what a comparison decides at its boundary is tried there") {
    const std::string left =
        "monoid left(a; b) = if a != 0 then a else b identity 0 "
        "noncommutative\ndiagram d {\n  axis t = 4, u = 6\n"
        "  input A[t, u], B[t, u]\n  ";
    struct Pair {
        const char* name;
        const char* right;
        const char* wrong;
    };
    const Pair pairs[] = {
        {"an order of folding", "output O = left(t, u) A[t, u]", "output O = left(u, t) A[t, u]"},
        {"an order, of what is zero with an input", "output O = left(t, u) A[t, u] * B[t, u]",
         "output O = left(u, t) A[t, u] * B[t, u]"},
        {"an order, of what is written before",
         "C[t, u] = -A[t, u]\n  output O = left(t, u) C[t, u]",
         "C[t, u] = -A[t, u]\n  output O = left(u, t) C[t, u]"},
        {"whether zero is above zero",
         "output O[t, u] = if A[t, u] > 0 then B[t, u] else 2 * B[t, u]",
         "output O[t, u] = if A[t, u] >= 0 then B[t, u] else 2 * B[t, u]"},
        {"whether a literal is below itself",
         "output O[t, u] = if -A[t, u] < 1.5 then B[t, u] else 2 * B[t, u]",
         "output O[t, u] = if -A[t, u] <= 1.5 then B[t, u] else 2 * B[t, u]"},
    };
    for (const Pair& each : pairs) {
        CAPTURE(each.name);
        const std::string right = left + each.right + "\n}";
        const proof::ProgramProof same = prove_as(right, right);
        INFO(describe(same));
        CHECK(same.ok());
        const proof::Identity& identity = same.identities.front();
        CHECK(!identity.degree);
        CHECK(proof::claim_of(identity).find("for points that compare as the drawn ones do") !=
              std::string::npos);
        CHECK(!prove_as(right, left + each.wrong + "\n}").identity());
    }
}

TEST_CASE("a mask of data that hides all at some points leaves the others claimed") {
    const proof::ProgramProof proof = prove_at(
        "diagram d {\n  axis x = 3\n  input S[x], M[x], V[x]\n"
        "  P[x] = softmax[x](if M[x] > 0 then S[x] else -inf)\n"
        "  output O = sum(x) P[x] * V[x]\n}",
        "fuse all\nstream x by 2");
    INFO(describe(proof));
    CHECK(proof.ok());
    CHECK_EQ(proof.identities.front().unclaimed, 0);
}

TEST_CASE("integers of two arrays that compare show something of a single row") {
    for (const char* mask : {"px[x] < pq[q]", "px[x] > pq[q] + 3", "px[x] == pq[q] + 300",
                             "px[x] < pq[q] and px[x] >= 1000"}) {
        CAPTURE(mask);
        const proof::ProgramProof row =
            prove_at(std::string("diagram row {\n  axis q = 1, x = 9\n  input pq[q], px[x] : i32\n"
                                 "  input S[q, x]\n  output Y[q] = logsumexp[x](if ") +
                         mask + " then S[q, x] else -inf)\n}",
                     "fuse all\nstream x by 4");
        INFO(describe(row));
        CHECK(row.ok());
    }
}

TEST_CASE("nothing is said of comparisons where there is none") {
    const proof::ProgramProof proof = prove_at(
        "diagram d {\n  axis t = 4\n  input A[t]\n  output O = sum(t) A[t]\n}", "stream t by 2");
    CHECK_EQ(proof::claim_of(proof.identities.front()), "for any values in place of the maxima");
    CHECK_EQ(proof.identities.front().trials.size(), 3);
}

TEST_CASE("a proof repeats itself, and another seed is another point") {
    const std::vector<proof::Shape> shapes =
        shapes_of(example("attention").diagram, example("attention").derivation);
    const TileProgram program = program_of(shapes[0].state);
    const auto with_seed = [&](std::uint64_t seed) {
        return proof::prove_identity(shapes[0].plain, shapes[0].state.diagram, program,
                                     {3, seed})[0];
    };
    CHECK_EQ(with_seed(1).trials.size(), 3);
    CHECK(with_seed(1).trials == with_seed(1).trials);
    CHECK(with_seed(1).trials[0].digest != with_seed(2).trials[0].digest);
    CHECK(with_seed(1).trials[0].digest != with_seed(1).trials[1].digest);
}

}  // namespace napkin::test
