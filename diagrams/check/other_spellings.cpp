#include "diagrams/check/other_spellings.h"

#include <algorithm>

namespace napkin::checking {

const std::vector<OtherSpelling>& other_spellings() {
    // Words that the language knows itself under a nearly equal name need no line here.
    static constexpr std::string_view kProduct = "C[i, j] = sum(k) A[i, k] * B[k, j]";
    static constexpr std::string_view kTransposed = "Y[j, i] = X[i, j]";
    static constexpr std::string_view kClipped = "Y[i, j] = min(max(X[i, j], 0), 6)";
    static constexpr std::string_view kPower = "Y[i, j] = X[i, j] ^ 2";
    static constexpr std::string_view kScan = "Y[i, j] = scan[j] sum X[i, j]";
    static constexpr std::string_view kGather = "Y[i, j] = X[I[i], j]";
    static constexpr std::string_view kScatter = "Y[j] = sum(i) if I[i] == j then X[i, j] else 0";
    static constexpr std::string_view kOneHot = "Y[i, j] = if I[i] == j then 1 else 0";
    static constexpr std::string_view kIndex = "Y[i] = i";
    static constexpr std::string_view kSize = "Y[i, j] = X[i, j] / size(j)";
    static constexpr std::string_view kMax = "Y[i, j] = max(A[i, j], B[i, j])";
    static constexpr std::string_view kMin = "Y[i, j] = min(A[i, j], B[i, j])";
    static const std::vector<OtherSpelling> list = {
        {"where", "Y[i, j] = if j <= i then A[i, j] else B[i, j]"},
        {"einsum", kProduct},
        {"matmul", kProduct},
        {"mm", kProduct},
        {"bmm", kProduct},
        {"dot", "Y[i] = sum(k) A[i, k] * B[k, i]"},
        {"T", kTransposed},
        {"transpose", kTransposed},
        {"permute", kTransposed},
        {"pow", kPower},
        {"power", kPower},
        {"square", kPower},
        {"reciprocal", "Y[i, j] = 1 / X[i, j]"},
        {"clip", kClipped},
        {"clamp", kClipped},
        {"relu6", kClipped},
        {"leaky_relu", "Y[i, j] = max(X[i, j], 0.01 * X[i, j])"},
        {"maximum", kMax},
        {"fmax", kMax},
        {"fmaxf", kMax},
        {"minimum", kMin},
        {"fmin", kMin},
        {"fminf", kMin},
        {"amax", "Y[i] = max(j) X[i, j]"},
        {"amin", "Y[i] = min(j) X[i, j]"},
        {"var", "Y[i] = variance[j](X[i, j])"},
        {"std", "Y[i] = sqrt(variance[j](X[i, j]))"},
        {"norm", "Y[i] = sqrt(sum(j) X[i, j] ^ 2)"},
        {"normalize", "Y[i, j] = l2norm[j](X[i, j], 1e-12)"},
        {"cumsum", kScan},
        {"cumprod", "Y[i, j] = scan[j] prod X[i, j]"},
        {"cummax", "Y[i, j] = scan[j] max X[i, j]"},
        {"any", "Y[i] = (max(j) if X[i, j] > 0 then 1 else 0) > 0"},
        {"all", "Y[i] = (min(j) if X[i, j] > 0 then 1 else 0) > 0"},
        {"ln", "Y[i, j] = log(X[i, j])"},
        {"log2", "Y[i, j] = log(X[i, j]) / log(2)"},
        {"log10", "Y[i, j] = log(X[i, j]) / log(10)"},
        {"log1p", "Y[i, j] = log(1 + X[i, j])"},
        {"exp2", "Y[i, j] = exp(log(2) * X[i, j])"},
        {"expm1", "Y[i, j] = exp(X[i, j]) - 1"},
        {"expf", "Y[i, j] = exp(X[i, j])"},
        {"sign", "Y[i, j] = if X[i, j] > 0 then 1 else if X[i, j] < 0 then -1 else 0"},
        {"ceil", "Y[i, j] = -floor(-X[i, j])"},
        {"round", "Y[i, j] = floor(X[i, j] + 0.5)"},
        {"mod", "Y[i] = i % 2"},
        {"fabs", "Y[i, j] = abs(X[i, j])"},
        {"swish", "Y[i, j] = silu(X[i, j])"},
        {"tril", "Y[i, j] = if j <= i then X[i, j] else 0"},
        {"triu", "Y[i, j] = if j >= i then X[i, j] else 0"},
        {"eye", "Y[i, j] = if i == j then 1 else 0"},
        {"zeros", "Y[i, j] = 0"},
        {"ones", "Y[i, j] = 1"},
        {"take", kGather},
        {"gather", kGather},
        {"embedding", kGather},
        {"index_select", kGather},
        {"scatter", kScatter},
        {"scatter_add", kScatter},
        {"index_add", kScatter},
        {"one_hot", kOneHot},
        {"onehot", kOneHot},
        {"arange", kIndex},
        {"range", kIndex},
        {"iota", kIndex},
        {"len", kSize},
        {"shape", kSize},
        {"float", "Y[i, j] = f32(X[i, j])"},
        {"half", "Y[i, j] = f16(X[i, j])"},
        {"int", "Y[i, j] = i32(X[i, j])"},
    };
    return list;
}

std::string written_here(std::string_view word) {
    const auto found = std::find_if(other_spellings().begin(), other_spellings().end(),
                                    [&](const OtherSpelling& each) { return each.word == word; });
    if (found == other_spellings().end()) return "";
    return "here this is written like `" + std::string(found->statement) + "`";
}

}  // namespace napkin::checking
