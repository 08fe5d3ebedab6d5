// Features of the language, from text to values.
#include <functional>

#include "examples.h"

using napkin::Tensor;
using napkin::test::Run;

namespace {

/// A diagram with one output Y over one axis i (of size 12), given its lines.
struct Feature {
    std::string lines;
    std::function<double(int i, const Run& run)> expected;
    std::string definitions;
};

double at(const Run& run, int i) {
    return run.in("X")(i);
}

const std::vector<Feature>& cases() {
    static const std::vector<Feature> table = {
        {"output Y[i] = (i - 5) // 3 * 10 + (i - 5) % 3",
         [](int i, const Run&) {
             const int quotient = static_cast<int>(std::floor((i - 5) / 3.0));
             return quotient * 10 + (i - 5 - 3 * quotient);
         },
         ""},
        {"output Y[i] = -X[i] ^ 2 + 2 * X[i] / 4",
         [](int i, const Run& run) { return -at(run, i) * at(run, i) + at(run, i) / 2; }, ""},
        {"output Y[i] = if i < 3 then 1 else if i < 6 and X[i] > 0 then X[i] else -X[i]",
         [](int i, const Run& run) {
             if (i < 3) return 1.0;
             return i < 6 && at(run, i) > 0 ? at(run, i) : -at(run, i);
         },
         ""},
        {"output Y[i] = if i >= 2 and X[i - 2] > X[i] then X[i - 2] else 0",
         [](int i, const Run& run) {
             return i >= 2 && at(run, i - 2) > at(run, i) ? at(run, i - 2) : 0.0;
         },
         ""},
        {"output Y[i] = X[i] - max(i) X[i]",
         [](int i, const Run& run) {
             double top = at(run, 0);
             for (int k = 1; k < 12; ++k) top = std::max(top, at(run, k));
             return at(run, i) - top;
         },
         ""},
        {"output Y[i] = prod(j) (1 + (if j <= i then X[j] / 8 else 0))",
         [](int i, const Run& run) {
             double product = 1;
             for (int j = 0; j <= i; ++j) product *= 1 + at(run, j) / 8;
             return product;
         },
         ""},
        {"output Y[i] = sum(p) X[2 * p + i % 2] * (i + p)",
         [](int i, const Run& run) {
             double sum = 0;
             for (int p = 0; p < 6; ++p) sum += at(run, 2 * p + i % 2) * (i + p);
             return sum;
         },
         ""},
        {"output Y[i] = scan[i] max X[i]",
         [](int i, const Run& run) {
             double top = at(run, 0);
             for (int k = 1; k <= i; ++k) top = std::max(top, at(run, k));
             return top;
         },
         ""},
        {"output Y[i] = bf16(X[i] * 3) + min(X[i], 0.5, i)",
         [](int i, const Run& run) {
             return napkin::round_to(napkin::ElementType::BF16, at(run, i) * 3) +
                    std::min({at(run, i), 0.5, static_cast<double>(i)});
         },
         ""},
        {"T[i] = (argmax(j) X[j] * (j - i))\noutput Y[i] = T[i]",
         [](int i, const Run& run) {
             int best = 0;
             for (int j = 1; j < 12; ++j)
                 if (at(run, j) * (j - i) > at(run, best) * (best - i)) best = j;
             return static_cast<double>(best);
         },
         ""},
        {"low[i], where[i] = least(j) (X[j] + i, j)\noutput Y[i] = low[i] * where[i]",
         [](int i, const Run& run) {
             int best = 0;
             for (int j = 1; j < 12; ++j)
                 if (at(run, j) < at(run, best)) best = j;
             return (at(run, best) + i) * best;
         },
         "monoid least(a, i; b, j) = (min(a, b), if a <= b then i else j) identity (inf, 0)"},
        {"param c : f32 = 0.1\noutput Y[i] = blend(X[i], c) + size(i)",
         [](int i, const Run& run) {
             const double c = napkin::round_to(napkin::ElementType::F32, 0.1);
             return at(run, i) * c + (1 - c) + 12;
         },
         "def blend(u, t) = u * t + (1 - t)"},
        {"let next[i] = min(i + 1, size(i) - 1)\noutput Y[i] = X[next[i]]",
         [](int i, const Run& run) { return at(run, std::min(i + 1, 11)); }, ""},
        {"M[i, j] = if j < i then X[j] else -inf\noutput Y[i] = sum(j) softmax[j](M[i, j]) * X[j]",
         [](int i, const Run& run) {
             double total = 0;
             double sum = 0;
             for (int j = 0; j < i; ++j) {
                 total += std::exp(at(run, j));
                 sum += std::exp(at(run, j)) * at(run, j);
             }
             return i == 0 ? 0 : sum / total;
         },
         ""},
        {"M[i, j] = if j < i then X[j] else -inf\noutput Y[i] = logsumexp[j](M[i, j])",
         [](int i, const Run& run) {
             double total = 0;
             for (int j = 0; j < i; ++j) total += std::exp(at(run, j));
             return std::log(total);
         },
         ""},
        // The same softmax written by hand, as a product with a reciprocal: the empty row agrees.
        {"M[i, j] = if j < i then X[j] else -inf\n"
         "E[i, j] = exp(M[i, j] - max(j) M[i, j])\n"
         "output Y[i] = (sum(j) E[i, j] * X[j]) * (1 / (sum(j) E[i, j]))",
         [](int i, const Run& run) {
             double total = 0;
             double sum = 0;
             for (int j = 0; j < i; ++j) {
                 total += std::exp(at(run, j));
                 sum += std::exp(at(run, j)) * at(run, j);
             }
             return i == 0 ? 0 : sum / total;
         },
         ""},
    };
    return table;
}

}  // namespace

TEST_CASE("language: what each feature means") {
    for (const Feature& entry : cases()) {
        const std::string text = entry.definitions +
                                 "\ndiagram feature {\naxis i = 12, p = 6\naxis j = i\n"
                                 "input X[i] : f32\n" +
                                 entry.lines + "\n}\n";
        INFO(text);
        Run run("feature.ncd", text, {}, 1.0, Run::kWarnings);
        run.evaluate();
        for (int i = 0; i < 12; ++i) run.check("Y", entry.expected(i, run), i);
    }
}

TEST_CASE("language: woven axes, and those over some inputs only") {
    Run run("woven.ncd",
            "diagram woven {\n"
            "  axis i = 3, j = 4\n"
            "  input A[i, j], B[j], s[h] : f32\n"
            "  output Y[i] = (sum(j) A[i, j] * B[j]) * s[h]\n"
            "  weave b = 2, h = 2\n"
            "  weave g = 3 over A\n"
            "}\n",
            {});
    run.evaluate();
    CHECK_EQ(run.outputs.at(run.id("Y")).extents, std::vector<std::int64_t>{2, 2, 3, 3});
    for (int b = 0; b < 2; ++b)
        for (int h = 0; h < 2; ++h)
            for (int g = 0; g < 3; ++g)
                for (int i = 0; i < 3; ++i) {
                    double sum = 0;
                    for (int j = 0; j < 4; ++j)
                        sum += run.in("A")(b, h, g, i, j) * run.in("B")(b, h, j);
                    run.check("Y", sum * run.in("s")(h), b, h, g, i);
                }
}

TEST_CASE("language: a type that is written rounds, one that is inferred does not") {
    Run run("types.ncd",
            "diagram types {\n"
            "  axis i = 6\n"
            "  input X[i] : bf16\n"
            "  T[i] = X[i] * X[i]\n"
            "  U[i] : f16 = X[i] * X[i]\n"
            "  output Y[i] = T[i]\n"
            "  output Z[i] = U[i]\n"
            "}\n",
            {});
    run.evaluate();
    for (int i = 0; i < 6; ++i) {
        const double exact = run.in("X")(i)*run.in("X")(i);
        CHECK_EQ(run.out("Y")(i), exact);
        CHECK_EQ(run.out("Z")(i), napkin::round_to(napkin::ElementType::F16, exact));
    }
}
