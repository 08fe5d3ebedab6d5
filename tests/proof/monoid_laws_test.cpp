// Laws of monoids on drawn elements: what they refuse, and what they must not.
#include "derive/proof/monoid_laws.h"

#include "tests/proof/subjects.h"

namespace napkin::test {

TEST_CASE("a monoid that tells apart what it compares as equal is not commutative") {
    struct Rule {
        const char* monoid;
        const char* fold;
        bool commutes;
    };
    for (const Rule& rule : {
             Rule{"best(v, i; w, j) = (max(v, w), if w > v then j else i) identity (-inf, -1)",
                  "P, Q = best(t) (A[t], t)", false},
             Rule{"best(v, i; w, j) = (max(v, w), if w > v then j else if w < v then i else "
                  "min(i, j)) identity (-inf, inf)",
                  "P, Q = best(t) (A[t], t)", true},
             Rule{"largest(a; b) = if abs(a) < abs(b) then b else a identity 0",
                  "Q = largest(t) A[t]", false},
             Rule{"largest(a; b) = if abs(a) < abs(b) then b else if abs(a) > abs(b) then a else "
                  "max(a, b) identity 0",
                  "Q = largest(t) A[t]", true},
             // Large numbers that cancel leave rounding as large as they are.
             Rule{"moments(a, n; b, k) = (a + b, n + k) identity (0, 0)",
                  "P, Q = moments(t) (if A[t] > -1e30 then A[t] else 0, 1)", true},
         }) {
        const Diagram diagram = load(std::string("monoid ") + rule.monoid +
                                     "\ndiagram folded {\n axis t = 7\n input A[t] : f32\n " +
                                     rule.fold + "\n output Y = Q + 1\n}");
        CAPTURE(rule.monoid);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const std::string broken = proof::broken_law(diagram, seed);
            CAPTURE(seed);
            CHECK_EQ(broken.empty(), rule.commutes);
            CHECK_EQ(broken.find("it is not commutative at") != std::string::npos, !rule.commutes);
        }
    }
}

TEST_CASE("laws of monoids of integers are tried on integers") {
    struct Rule {
        const char* monoid;
        const char* fold;
        bool holds;
    };
    for (const Rule& rule : {
             Rule{"bor(a; b) = bit_or(a, b) identity 0", "bor(t) A[t]", true},
             Rule{"bor(a; b) = bit_or(a, b) identity 0", "bor(t) i8(X[t] * 100)", true},
             Rule{"bxor(a; b) = bit_xor(a, b) identity 0", "bxor(t) A[t]", true},
             Rule{"bxor(a; b) = bit_xor(a, b) identity 0", "bxor(t) B[t]", true},
             Rule{"band(a; b) = bit_and(a, b) identity -1", "band(t) A[t]", true},
             Rule{"band(a; b) = bit_and(a, b) identity -1", "band(t) U[t]", true},
             Rule{"addm(a; b) = (a + b) % 1009 identity 0", "addm(t) (A[t] % 1009)", true},
             Rule{"mulm(a; b) = a * b % 1009 identity 1", "mulm(t) (A[t] % 1009)", true},
             Rule{"times(a; b) = a * b identity 1", "times(t) A[t]", true},
             // What only large integers, or negative ones, tell.
             Rule{"band(a; b) = bit_and(a, b) identity 65535", "band(t) A[t]", false},
             Rule{"band(a; b) = bit_and(a, b) identity 127", "band(t) B[t]", false},
             Rule{"addm(a; b) = (a + b) % 1009 identity 0", "addm(t) A[t]", false},
             Rule{"less(a; b) = a - b identity 0", "less(t) A[t]", false},
         }) {
        const Diagram diagram =
            load(std::string("monoid ") + rule.monoid +
                 "\ndiagram folded {\n axis t = 7\n input A[t] : i32\n input B[t] : i8\n "
                 "input X[t]\n U[t] : i32 = X[t] * 1000\n output Y = " +
                 rule.fold + "\n}");
        CAPTURE(rule.monoid);
        CAPTURE(rule.fold);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            CAPTURE(seed);
            CHECK_EQ(proof::broken_law(diagram, seed).empty(), rule.holds);
        }
    }
}

}  // namespace napkin::test
