#include "codegen/run/microbenchmarks.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/export/templates.h"
#include "codegen/run/benchmark_sources.h"

namespace napkin {
namespace {

constexpr int kBlock = 1024;

struct Form {
    std::string name;
    std::string what;
    std::string function;
    double work = 0;
    int threads_of_work = 1;
    int threads = kBlock;
    std::int64_t shared_bytes = 0;
    std::string target = "sm_80";
};

Microbenchmark made(const Form& form, const std::string& text,
                    const std::map<std::string, std::string>& places = {}) {
    const bool is_hopper = form.target == "sm_90a";
    EmittedKernel kernel;
    kernel.name = form.function;
    kernel.target = form.target;
    kernel.threads = form.threads;
    kernel.shared_bytes = form.shared_bytes;
    kernel.source = exporting::fill(benchmark_watch(),
                                    {{"prelude", is_hopper ? "hopper_tensor.cuh" : "napkin.cuh"}}) +
                    exporting::fill(text, places);
    return {form.name, form.what, std::move(kernel), form.work, form.threads_of_work};
}

/// An instruction of one warp, `m16n8k16`, with its types.
struct WarpProduct {
    const char* shape;
    int depth;
    const char* type;   ///< as machine files name it
    const char* types;  ///< as PTX does
    bool whole = false;
    int capability = 80;
};
constexpr WarpProduct kWarpProducts[] = {
    {"m16n8k16", 16, "bf16", "f32.bf16.bf16.f32"},
    {"m16n8k16", 16, "f16", "f32.f16.f16.f32"},
    {"m16n8k8", 8, "tf32", "f32.tf32.tf32.f32"},
    {"m16n8k32", 32, "e4m3", "f32.e4m3.e4m3.f32", false, 89},
    {"m16n8k32", 32, "e5m2", "f32.e5m2.e5m2.f32", false, 89},
    {"m16n8k32", 32, "i8", "s32.s8.s8.s32", true},
};

/// One of a warp group, `m64nNk16`.
struct GroupProductForm {
    int columns;
    int depth;
    const char* type;
};
constexpr GroupProductForm kGroupProducts[] = {
    {64, 16, "bf16"}, {128, 16, "bf16"}, {192, 16, "bf16"}, {256, 16, "bf16"},
    {256, 16, "f16"}, {256, 32, "e4m3"}, {256, 32, "e5m2"},
};

constexpr int kProductsOfRound = 8;

void add_warp_products(int capability, std::vector<Microbenchmark>& all) {
    for (const WarpProduct& product : kWarpProducts) {
        if (product.capability > capability) continue;
        const std::string instruction =
            fmt::format("mma.sync.aligned.{}.row.col.{}", product.shape, product.types);
        for (const int chains : {8, 1}) {
            const bool waits = chains == 1;
            all.push_back(made({.name = fmt::format("mma {} {}{}", product.shape, product.type,
                                                    waits ? ", each after the one before" : ""),
                                .what = "eight products of a warp",
                                .function = "measure_products",
                                .work = kProductsOfRound * 2.0 * 16 * 8 * product.depth,
                                .threads_of_work = 32,
                                .threads = waits ? 32 : 512,
                                .target = product.capability > 80 ? "sm_89" : "sm_80"},
                               benchmark_products(),
                               {{"instruction", instruction},
                                {"chains", std::to_string(chains)},
                                {"result", product.whole ? "int" : "float"},
                                {"register", product.whole ? "r" : "f"}}));
        }
    }
}

void add_group_products(std::vector<Microbenchmark>& all) {
    for (const GroupProductForm& product : kGroupProducts)
        all.push_back(made({.name = fmt::format("wgmma m64n{}k{} {}", product.columns,
                                                product.depth, product.type),
                            .what = "eight products of a warp group",
                            .function = "measure_group_products",
                            .work = kProductsOfRound * 2.0 * 64 * product.columns * product.depth,
                            .threads_of_work = 128,
                            .threads = 256,
                            .shared_bytes = 40960,
                            .target = "sm_90a"},
                           benchmark_group_products(),
                           {{"columns", std::to_string(product.columns)}, {"type", product.type}}));
}

}  // namespace

std::vector<Microbenchmark> microbenchmarks(const std::string& architecture) {
    const int capability = std::stoi(architecture.substr(3));
    constexpr std::int64_t kTile = 32768;
    constexpr double kVectors = 8 * 16;  // bytes of a thread's eight reads
    std::vector<Microbenchmark> all;
    const auto add = [&](const Form& form, const char* text) { all.push_back(made(form, text)); };
    add({"copy", "from one half of a buffer to the other", "measure_copy"}, benchmark_memory());
    add({"read", "every block all of a buffer, from the cache", "measure_read"},
        benchmark_memory());
    add({.name = "shared",
         .what = "eight reads of four words a thread",
         .function = "measure_shared",
         .work = kVectors,
         .shared_bytes = kTile},
        benchmark_memory());
    add({"link", "makes the ring for `chase`", "measure_link"}, benchmark_memory());
    add({.name = "chase",
         .what = "a read after a read",
         .function = "measure_chase",
         .work = 1,
         .threads = 1},
        benchmark_memory());
    add({.name = "arithmetic",
         .what = "32 multiply-adds a thread",
         .function = "measure_arithmetic",
         .work = 32},
        benchmark_units());
    add({.name = "dependent",
         .what = "32 multiply-adds, each after the one before",
         .function = "measure_dependent",
         .work = 32,
         .threads_of_work = 32,
         .threads = 32},
        benchmark_units());
    add({.name = "exponential",
         .what = "32 powers of two a thread",
         .function = "measure_exponential",
         .work = 32},
        benchmark_units());
    add({.name = "barrier",
         .what = "a barrier of 1024 threads",
         .function = "measure_barrier",
         .work = 1,
         .threads_of_work = kBlock},
        benchmark_units());
    add({.name = "launch", .what = "an empty kernel", .function = "measure_launch", .threads = 32},
        benchmark_units());
    add_warp_products(capability, all);
    if (capability != 90) return all;
    add_group_products(all);
    add({.name = "bulk",
         .what = "every block all of a buffer by bulk copies, from the cache",
         .function = "measure_bulk",
         .threads = 32,
         .shared_bytes = 4 * kTile,
         .target = "sm_90a"},
        benchmark_hopper());
    add({.name = "cluster",
         .what = "eight reads of four words a thread from its neighbour block",
         .function = "measure_cluster",
         .work = kVectors,
         .shared_bytes = kTile,
         .target = "sm_90a"},
        benchmark_hopper());
    return all;
}

const Microbenchmark* find_microbenchmark(const std::vector<Microbenchmark>& all,
                                          const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Microbenchmark& each) { return each.name == name; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace napkin
