// Random cascades: a prelude of statistics and a random body that uses them. Whatever is accepted
// must agree with direct evaluation; whatever is refused is compared with the rank of its values.
#include <string>

#include "tests/separation/cases.h"

namespace napkin::test {
namespace {

class Bodies {
public:
    explicit Bodies(std::uint64_t seed) : random_(seed) {}

    std::string expression(int depth) {
        if (depth == 0 || pick(6) == 0) return leaf();
        const std::string a = expression(depth - 1);
        switch (pick(14)) {
        case 0:
        case 1: return "(" + a + " + " + expression(depth - 1) + ")";
        case 2: return "(" + a + " - " + expression(depth - 1) + ")";
        case 3:
        case 4:
        case 5: return "(" + a + " * " + expression(depth - 1) + ")";
        case 6: return "(" + a + " / (1 + " + a_square() + "))";
        case 7: return "(" + a + ") ^ 2";
        case 8: return "abs(" + a + ")";
        case 9: return "exp(-abs(" + a + "))";
        case 10: return "max(" + a + ", " + (pick(2) == 0 ? "0" : expression(depth - 1)) + ")";
        case 11: return "(if " + condition() + " then " + a + " else 0)";
        case 12: return "(if " + condition() + " then " + a + " else " + leaf() + ")";
        default: return "sqrt(abs(" + a + "))";
        }
    }

private:
    std::mt19937_64 random_;

    std::size_t pick(std::size_t count) { return random_() % count; }
    std::string leaf() {
        static const char* const kLeaves[] = {"S[q, x]", "Y[q, x]", "P[q, x]", "P[q, x]",
                                              "m[q]",    "n[q]",    "t[q]",    "W[x]",
                                              "C[q]",    "2",       "0.5",     "mean[q]"};
        return kLeaves[pick(std::size(kLeaves))];
    }
    std::string a_square() { return "(" + leaf() + ") ^ 2"; }
    std::string condition() {
        static const char* const kConditions[] = {"x <= q", "x % 3 == 1", "t[q] > 0", "x + q < 9"};
        return kConditions[pick(std::size(kConditions))];
    }
};

std::string diagram_of(const std::string& fold, const std::string& body) {
    return "diagram cascade {\n"
           "  axis q = 3, x = 11\n"
           "  input S[q, x], Y[q, x], W[x], C[q]\n"
           "  m[q] = max(x) S[q, x]\n"
           "  l[q] = sum(x) exp(S[q, x] - m[q])\n"
           "  P[q, x] = exp(S[q, x] - m[q]) / l[q]\n"
           "  n[q] = sum(x) Y[q, x] ^ 2\n"
           "  t[q] = sum(x) Y[q, x]\n"
           "  mean[q] = t[q] / size(x)\n"
           "  output O[q] = " +
           fold + "(x) (" + body + ")\n}\n";
}

/// Folds over two axes of values that run along either of them or both.
class Reductions {
public:
    explicit Reductions(std::uint64_t seed) : random_(seed) {}

    std::string diagram() {
        const std::string body = expression(3);
        return "diagram reduction {\n"
               "  axis x = 9, c = 4\n"
               "  input A[x], w[c], M[x, c]\n"
               "  output s = " +
               fold(body) + "\n}\n";
    }

private:
    std::mt19937_64 random_;

    std::size_t pick(std::size_t count) { return random_() % count; }
    std::string fold(const std::string& body) {
        switch (pick(4)) {
        case 0: return "sum(x, c) (" + body + ")";
        case 1: return "sum(x, c) exp(" + body + ")";
        case 2: return "max(x, c) (" + body + ")";
        default: return "logsumexp[c, x](" + body + ")";
        }
    }
    std::string leaf() {
        static const char* const kLeaves[] = {"A[x]", "w[c]", "M[x, c]", "2", "0.5"};
        return kLeaves[pick(std::size(kLeaves))];
    }
    std::string expression(int depth) {
        if (depth == 0 || pick(5) == 0) return leaf();
        const std::string a = expression(depth - 1);
        switch (pick(11)) {
        case 0:
        case 1: return "(" + a + " + " + expression(depth - 1) + ")";
        case 2:
        case 3: return "(" + a + " - " + expression(depth - 1) + ")";
        case 4:
        case 5: return "(" + a + " * " + expression(depth - 1) + ")";
        case 6: return "(" + a + " / " + leaf() + ")";
        case 7: return "(" + a + ") ^ 2";
        case 8: return "abs(" + a + ")";
        case 9: return "exp(" + leaf() + ")";
        default: return "log(1 + abs(" + a + "))";
        }
    }
};

struct Tally {
    int accepted = 0;
    int refused = 0;
    int low_rank = 0;

    /// What is derived agrees with direct evaluation, what is refused says why.
    void judge(const std::string& text, int trial, double scale, int runs, double tolerance) {
        CAPTURE(text);
        const Loaded loaded = load(text, "x");
        const auto result = derive(loaded);
        if (const NotApplicable* no = std::get_if<NotApplicable>(&result)) {
            ++refused;
            CHECK_FALSE(no->reason.empty());
            if (std::getenv("NAPKIN_SHOW_LOW_RANK") != nullptr) MESSAGE(no->reason);
            low_rank += no->reason.find("rule may be missing") != std::string::npos ? 1 : 0;
            return;
        }
        ++accepted;
        const Agreement agreement = compare(loaded, std::get<Accumulator>(result),
                                            5 + static_cast<std::uint64_t>(trial), scale, runs);
        CAPTURE(agreement.where);
        CHECK(agreement.worst < tolerance);
    }
};

}  // namespace

TEST_CASE("separation: random reductions over two axes agree, or are refused with a reason") {
    Reductions reductions(20261129);
    Tally tally;
    for (int trial = 0; trial < 400; ++trial)
        tally.judge(reductions.diagram(), trial, 0.5, 2, 1e-6);
    CHECK(tally.accepted > 100);
    CHECK(tally.refused > 20);
    MESSAGE(tally.accepted, " accepted, ", tally.refused, " refused");
}

TEST_CASE("separation: random cascades agree, and refusals have full rank") {
    Bodies bodies(20261121);
    Tally tally;
    for (int trial = 0; trial < 600; ++trial)
        tally.judge(diagram_of(trial % 5 == 0 ? "max" : "sum", bodies.expression(3)), trial, 1, 3,
                    1e-7);
    // Were nothing accepted or refused, the property would say nothing.
    CHECK(tally.accepted > 300);
    CHECK(tally.refused > 60);
    CHECK(tally.low_rank == 0);
    MESSAGE(tally.accepted, " accepted, ", tally.refused, " refused, ", tally.low_rank,
            " of them of low rank");
}

}  // namespace napkin::test
