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

/// The diagram of a derivation that is kept: beside it, of the workloads or of the examples.
std::filesystem::path diagram_of(const std::filesystem::path& derivation, const std::string& name) {
    for (const auto& folder : {derivation.parent_path(), kWorkloads, kExamples})
        if (std::filesystem::exists(folder / (name + ".ncd"))) return folder / (name + ".ncd");
    throw InternalError("there is no diagram " + name);
}

/// How many times longer what search finds takes than a derivation that is kept; the diagram has
/// its name where no other is given.
double over_kept(const std::filesystem::path& derivation, const std::string& diagram = "",
                 const std::string& sizes = "", const std::string& others = "") {
    const std::string name = diagram.empty() ? derivation.stem().string() : diagram;
    const Machine h200 = test::machine_of("H200");
    std::string text = test::read_text(diagram_of(derivation, name));
    if (!sizes.empty()) text.replace(text.find(sizes), sizes.size(), others);
    const Seconds kept = test::kernels_time(text, test::read_text(derivation), h200);
    return test::best_time(text, h200) / kept.value;
}

void check_found(const std::filesystem::path& derivation, const std::string& diagram = "",
                 const std::string& sizes = "", const std::string& others = "") {
    INFO(derivation.string());
    CHECK_LE(over_kept(derivation, diagram, sizes, others), 1.000001);
}

// Left out, since one search takes many seconds, and found at least as fast when last run by hand:
// of examples attention_backward, attention_documents, attention_gqa, attention_gradient,
// attention_neighbourhood, of workloads attention_causal, attention_gqa, of those for sm_90a
// attention_alibi, attention_backward_causal_d64, attention_causal, attention_gqa,
// attention_linear, attention_rope, attention_softcap, attention_window, swiglu. Not known, since
// one takes minutes: layernorm_linear, attention_documents for sm_90a. 1.05 times as long when last
// run: convolution_padded for sm_90a; 1.03 times: mla_decoding, whose derivation gives the rows of
// its blocks to four warps, which a search does not try.
TEST_CASE("search is never slower by the model than a derivation that is kept") {
    for (const char* name :
         {"attention", "attention_alibi", "attention_window", "embedding", "gated_scan", "matmul",
          "matmul_epilogue", "prefix_sum", "rmsnorm_linear", "topk_routing"})
        check_found(kExamples / (std::string(name) + ".drv"));
    check_found(kExamples / "attention_unfused.drv", "attention");
    check_found(kExamples / "matmul_split_k.drv", "matmul");
    check_found(kExamples / "attention_decoding_parts.drv", "attention_decoding");
    for (const char* name :
         {"attention", "attention_causal", "attention_window", "convolution_valid", "layernorm",
          "matmul", "matmul_epilogue", "outer", "rmsnorm", "softmax"})
        check_found(kWorkloads / (std::string(name) + ".drv"));
}

TEST_CASE("search is never slower by the model than a derivation that is kept for warp groups") {
    const std::filesystem::path kept = kWorkloads / "sm_90a";
    for (const char* name : {"attention", "convolution_valid", "matmul", "matmul_chain",
                             "matmul_e4m3", "matmul_epilogue", "matmul_experts", "rmsnorm_linear"})
        check_found(kept / (std::string(name) + ".drv"));
    for (const char* name : {"decoding_split_256", "decoding_split_2048", "decoding_split_4096"})
        check_found(kept / (std::string(name) + ".drv"), "decoding");
    check_found(kept / "matmul_int4.drv");
    check_found(kept / "matmul_int4_split.drv", "matmul_int4");
    check_found(kept / "matmul_split_k.drv", "matmul");
    check_found(kept / "mla_decoding_wide.drv", "mla_decoding");
    check_found(kept / "attention_d256.drv", "attention", "d = 128", "d = 256");
}

TEST_CASE("search is never slower by the model than a published algorithm") {
    const std::filesystem::path published = kExamples / "published";
    check_found(published / "attention_decoding_flash.drv", "attention_decoding");
    check_found(published / "attention_flash_1.drv", "attention");
    check_found(published / "attention_flash_2.drv", "attention");
    check_found(published / "layernorm_two_pass.drv", "layernorm");
    check_found(published / "matmul_split_k.drv", "matmul");
    check_found(published / "softmax_online.drv", "softmax");
}

TEST_CASE("search computes scores again where keeping them is slower") {
    const std::filesystem::path kept = kWorkloads / "sm_90a";
    check_found(kept / "attention_backward.drv");
    check_found(kept / "attention_backward_d64.drv", "attention_backward", "d = 128", "d = 64");
    check_found(kept / "attention_backward_causal.drv");
}

// Heads of 64, 512 queries: tiles of 128 rows see much beyond the diagonal, and small ones by
// themselves leave a processor idle while they begin and end.
TEST_CASE(
    "search chooses blocks that share a processor, and stale maxima, where these are faster") {
    const std::filesystem::path kept = kWorkloads / "sm_90a/attention_causal_d64.drv";
    check_found(kept, "attention_causal", "q = 4096, x = 4096, d = 128",
                "q = 512, x = 512, d = 64");
    std::string text = test::read_text(kWorkloads / "attention_causal.ncd");
    const std::string sizes = "q = 4096, x = 4096, d = 128";
    text.replace(text.find(sizes), sizes.size(), "q = 512, x = 512, d = 64");
    const Result<SearchResult> result =
        search(test::derived(text).diagram, test::machine_of("H200"), {.top = 1});
    REQUIRE(result.has_value());
    const std::string found = print(result->ranked.front(), test::machine_of("H200"));
    INFO(found);
    CHECK_NE(found.find("schedule stale = true"), std::string::npos);
    // What is printed is a derivation that takes as long as it says.
    const Seconds time = test::kernels_time(text, found, test::machine_of("H200"));
    CHECK_EQ(time.value, doctest::Approx(result->ranked.front().time.middle().value));
    const std::string alone = found + "schedule resident = 1\n";
    CHECK_GT(test::kernels_time(text, alone, test::machine_of("H200")).value, 1.1 * time.value);
}

// Each was measured (bench/results/2026-11-28-rows-h100.md, 2026-11-28-columns-model-h200.jsonl).
TEST_CASE("elements that threads read one by one are not taken for copies") {
    struct Measured {
        const char* diagram;
        const char* steps;
        double microseconds;
        const char* machine = "H100";
    };
    const std::string sums =
        "axis n = 16384, c = 4096\n input G[n, c] : bf16\n output B[c] : f32 = sum(n) G[n, c]";
    const Measured cases[] = {
        {sums.c_str(), "group c by 16\nstream n by 4096", 55.8, "H200"},
        {sums.c_str(), "group c by 32\nstream n by 64\nsplit-stream n by 1024", 63.1, "H200"},
        {sums.c_str(), "group c by 256\nstream n by 64\nsplit-stream n by 512", 50.4, "H200"},
        {"axis n = 32, y = 54, x = 54, c = 256, r = 3, s = 3\n"
         "axis height = y + r - 1, width = x + s - 1\n"
         "input X[n, height, width, c], W[r, s, c] : bf16\n"
         "output Y[n, y, x, c] : bf16 = sum(r, s) X[n, y + r, x + s, c] * W[r, s, c]",
         "group n by 1\ngroup y by 1\ngroup x by 6\nstream r by 2", 82},
        {"axis i = 512, j = 512, k = 512, c = 128\n input A[i, k, c], B[j, k, c] : bf16\n"
         "output O[i, j, c] : bf16 = sum(k) A[i, k, c] * B[j, k, c]",
         "group i by 176\ngroup c by 1\nstream j by 32", 7316},
    };
    for (const Measured& each : cases) {
        INFO(std::string(each.diagram), "\n", std::string(each.steps));
        const std::string text = "diagram a {\n" + std::string(each.diagram) + "\n}";
        const double predicted =
            1e6 * test::kernels_time(text, each.steps, test::machine_of(each.machine)).value;
        CHECK_LE(predicted, 2 * each.microseconds);
        CHECK_GE(predicted, each.microseconds / 2);
    }
}

}  // namespace
}  // namespace napkin
