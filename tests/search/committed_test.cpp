// Search against the derivations that are kept beside examples and workloads, by the model, on an
// H200.
#include <doctest/doctest.h>

#include <filesystem>

#include "search/search.h"
#include "tests/golden.h"
#include "tests/search/search_support.h"

namespace napkin {
namespace {

const std::filesystem::path kExamples = NAPKIN_EXAMPLES_DIR;
const std::filesystem::path kWorkloads = NAPKIN_BENCHMARKS_DIR;

struct Committed {
    std::filesystem::path derivation;
    const char* diagram = nullptr;  ///< where its name is another
};

void compare(const Committed& row, bool is_found) {
    INFO(row.derivation.string());
    std::filesystem::path diagram = row.derivation;
    diagram.replace_extension(".ncd");
    if (row.diagram != nullptr) diagram = row.diagram;
    if (!std::filesystem::exists(diagram)) diagram = kExamples / diagram.filename();
    const Machine h200 = test::machine("H200");
    const std::string text = test::read_text(diagram);
    const Seconds kept = test::kernels_time(text, test::read_text(row.derivation), h200);
    const Result<SearchResult> result = search(test::derived(text).diagram, h200, {.top = 1});
    REQUIRE(result.has_value());
    CHECK_EQ(result->ranked.front().time.middle() <= 1.000001 * kept, is_found);
}

// Left out, since one search takes many seconds: of examples attention_backward, attention_gqa,
// attention_neighbourhood, convolution, cross_entropy_gradient, fp8_matmul, swiglu (found faster
// when last run by hand), of workloads attention_gqa, swiglu (likewise); and since one takes more
// than fifty: attention_documents and attention_softcap of both, attention_gradient,
// layernorm_linear.
TEST_CASE("search is never slower by the model than a derivation that is kept") {
    for (const char* name :
         {"attention", "attention_alibi", "attention_window", "embedding", "gated_scan", "matmul",
          "matmul_epilogue", "prefix_sum", "rmsnorm_linear", "topk_routing"})
        compare({kExamples / (std::string(name) + ".drv")}, true);
    for (const char* name : {"attention_unfused", "matmul_split_k"})
        compare({kExamples / (std::string(name) + ".drv"),
                 name == std::string("matmul_split_k") ? "matmul.ncd" : "attention.ncd"},
                true);
    for (const char* name :
         {"attention", "attention_causal", "attention_window", "convolution_valid", "layernorm",
          "matmul", "matmul_epilogue", "outer", "rmsnorm", "softmax"})
        compare({kWorkloads / (std::string(name) + ".drv")}, true);
}

TEST_CASE("what search does not find yet, by name") {
    // It splits no streams into parts that kernels of their own put together.
    compare({kExamples / "attention_decoding_parts.drv", "attention_decoding.ncd"}, false);
}

}  // namespace
}  // namespace napkin
