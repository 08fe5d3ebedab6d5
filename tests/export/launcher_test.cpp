// The launcher and the self-test of exports, compiled by the host's C compiler against a device
// that is none: contracts, launches, and whole self-tests with kernels in the emulator.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "tests/export/device.h"
#include "tests/export/examples.h"
#include "tests/export/exported.h"
#include "tests/export/stub/cuda_runtime_api.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

constexpr const char* kAttention = "attention on tensor cores, sizes at run time";
constexpr const char* kGrouped = "attention of warp groups, sizes at run time";
constexpr const char* kUnfused = "several kernels with a workspace, sizes at run time";

/// `main` of an exported self-test.
int run_self_test(const Launcher& launcher, const std::string& name) {
    auto* main = reinterpret_cast<int (*)(int, char**)>(launcher.symbol("run_main"));
    std::string program = "selftest";
    std::string file = (launcher.folder() / (name + "_selftest.txt")).string();
    char* words[] = {program.data(), file.data(), nullptr};
    return main(2, words);
}

Exported with_replaced(Exported exported, const std::string& file, const std::string& what,
                       const std::string& with) {
    for (ExportedFile& known : exported.files) {
        if (known.name != file) continue;
        const std::size_t at = known.text.find(what);
        REQUIRE(at != std::string::npos);
        known.text.replace(at, what.size(), with);
    }
    return exported;
}

}  // namespace

TEST_CASE("every export passes its own self-test in the emulator") {
    for (const ExportExample& example : export_examples()) {
        INFO(example.name);
        const Exported exported = make_export(example);
        const std::string& name = exported.program.name;
        const Launcher launcher(exported, "passes-" + name, {name + "_selftest.c"});
        fake_device() = {};
        fake_device().program = &exported.program;
        CHECK_EQ(run_self_test(launcher, name), 0);
        // Contiguous and strided, in every case.
        const std::size_t cases = std::max<std::size_t>(example.sizes.size(), 1);
        CHECK_EQ(fake_device().launches.size(),
                 2 * cases * exported.kernels.program.kernels.size());
        CHECK(fake_device().fault.empty());
        std::set<std::string> launched;
        for (const Launch& launch : fake_device().launches) launched.insert(launch.kernel);
        for (const EmittedKernel* kernel : exported.kernels.numbered())
            CHECK_MESSAGE(launched.contains(kernel->name), kernel->name);
    }
}

TEST_CASE("arrays without gaps have kernels whose strides are known") {
    const Exported exported = make_export(export_example(kUnfused));
    // The softmax between the products takes the same strides of either: sizes are arguments.
    const std::vector<EmittedKernel>& kernels = exported.program.kernels;
    REQUIRE_EQ(kernels.size(), 5);
    const std::vector<std::vector<std::size_t>> expected = {{3, 1, 4}, {0, 1, 2}};
    const Launcher launcher(exported, "contiguous", {"unfused_selftest.c"});
    fake_device() = {};
    fake_device().program = &exported.program;
    CHECK_EQ(run_self_test(launcher, "unfused"), 0);
    const std::size_t each = 3;
    for (std::size_t at = 0; at < fake_device().launches.size(); ++at)
        CHECK_EQ(fake_device().launches[at].kernel,
                 kernels[expected[at / each % 2][at % each]].name);
    const auto strides_of = [](const EmittedKernel& kernel) {
        return std::count_if(kernel.parameters.begin(), kernel.parameters.end(),
                             [](const KernelParameter& parameter) {
                                 return parameter.kind == KernelParameter::Kind::Stride;
                             });
    };
    CHECK_LT(strides_of(kernels[3]), strides_of(kernels[0]));
    CHECK_LT(strides_of(kernels[4]), strides_of(kernels[2]));
}

TEST_CASE("kernels of arrays without gaps that need addresses take their places at those alone") {
    const Exported exported =
        make_export(export_example("rows that begin at no multiple of 16 bytes"));
    CHECK_EQ(exported.kernels.contiguous_alignment(), 16);
    const Launcher launcher(exported, "addresses", {NAPKIN_TEST_FOLDER "/address_cases.c"});
    fake_device() = {};
    CHECK_EQ(reinterpret_cast<int (*)()>(launcher.symbol("launch_at_addresses"))(), 0);
    const std::vector<EmittedKernel>& kernels = exported.program.kernels;
    REQUIRE_EQ(kernels.size(), 2);
    REQUIRE_NE(kernels[0].shared_bytes, kernels[1].shared_bytes);  // by which they are told apart
    const std::vector<std::size_t> expected = {1, 0, 1, 0};
    REQUIRE_EQ(fake_device().launches.size(), expected.size());
    for (std::size_t at = 0; at < expected.size(); ++at)
        CHECK_EQ(static_cast<int>(fake_device().launches[at].shared),
                 kernels[expected[at]].shared_bytes);
    CHECK(kernels[1].source.find("in_row<") != std::string::npos);
    CHECK(kernels[0].source.find("in_row<") == std::string::npos);
}

TEST_CASE("a self-test notices results, places and inputs that are wrong") {
    const Exported right = make_export(export_example(kUnfused));
    const std::string name = right.program.name;
    const auto verdict = [&](const Exported& exported, const std::string& folder) {
        const Launcher launcher(exported, folder, {name + "_selftest.c"});
        fake_device() = {};
        fake_device().program = &right.program;
        return run_self_test(launcher, name);
    };
    CHECK_EQ(verdict(with_replaced(right, name + ".c", "&plan.stride[ARRAY_O][0]",
                                   "&plan.stride[ARRAY_O][1]"),
                     "swapped-stride"),
             1);
    CHECK_EQ(
        verdict(with_replaced(right, name + ".c", "&plan.data[ARRAY_K]", "&plan.data[ARRAY_V]"),
                "swapped-array"),
        1);
    CHECK_EQ(
        verdict(with_replaced(right, name + "_selftest.txt", "input Q normal ", "input Q normal 1"),
                "other-input"),
        1);
    CHECK_EQ(
        verdict(with_replaced(right, name + ".c", "plan->tiles[2] = ", "plan->tiles[2] = -1 + "),
                "a-block-less"),
        1);
    CHECK_EQ(verdict(right, "unchanged"), 0);
}

TEST_CASE("without a device the self-test is skipped") {
    const Exported exported = make_export(export_example(kUnfused));
    const Launcher launcher(exported, "skipped", {"unfused_selftest.c"});
    fake_device() = {};
    fake_device().devices = 0;
    CHECK_EQ(run_self_test(launcher, exported.program.name), 77);
}

TEST_CASE("what breaks the contract is refused with its code") {
    const Launcher launcher(make_export(export_example(kAttention)), "contract",
                            {NAPKIN_TEST_FOLDER "/contract_cases.c"});
    fake_device() = {};
    CHECK_EQ(reinterpret_cast<int (*)()>(launcher.symbol("check_contract"))(), 0);
    CHECK_GE(reinterpret_cast<int (*)()>(launcher.symbol("count_cases"))(), 30);
    CHECK(fake_device().launches.empty());
}

TEST_CASE("numbers by value are of their types: reals are rounded, integers refused") {
    const Exported exported =
        make_export(export_example("numbers by value, of types narrower than they are passed in"));
    const Launcher launcher(exported, "numbers", {NAPKIN_TEST_FOLDER "/number_cases.c"});
    fake_device() = {};
    fake_device().program = &exported.program;
    CHECK_EQ(reinterpret_cast<int (*)()>(launcher.symbol("check_numbers"))(), 0);
    CHECK_EQ(fake_device().launches.size(), 1);
}

TEST_CASE("a launch is refused on a device, in a workspace, that will not do") {
    const Launcher launcher(make_export(export_example(kUnfused)), "launches",
                            {NAPKIN_TEST_FOLDER "/launch_cases.c"});
    auto* check = reinterpret_cast<int (*)(int*, int*)>(launcher.symbol("check_launches"));
    fake_device() = {};
    CHECK_EQ(check(&fake_device().capability, &fake_device().shared_memory), 0);
    REQUIRE_EQ(fake_device().launches.size(), 3);
    // S[h, q, x] by 8 of q, P by 4, O by 8; h one by one; q = 21.
    CHECK_EQ(fake_device().launches[0].blocks, 2 * 3);
    CHECK_EQ(fake_device().launches[1].blocks, 2 * 6);
    CHECK_EQ(fake_device().launches[2].blocks, 2 * 3);
}

TEST_CASE(
    "a launcher makes tensor maps from the caller's arrays, and says what none can be made of") {
    const Exported exported = make_export(export_example(kGrouped));
    const Launcher launcher(exported, "maps", {NAPKIN_TEST_FOLDER "/map_cases.c"});
    auto* check = reinterpret_cast<int (*)(int*, int*, int*)>(launcher.symbol("check_maps"));
    fake_device() = {};
    CHECK_EQ(check(&fake_device().capability, &fake_device().knows_maps, &fake_device().makes_maps),
             0);
    CHECK_EQ(fake_device().launches.size(), 1);
    // Q[b, h, q, d] with heads inside positions, K[b, h, x, d] with one head for all, and V.
    REQUIRE_EQ(fake_device().maps.size(), 3);
    using Numbers = std::vector<long long>;
    const std::vector<Numbers> extents = {{32, 5, 2, 1}, {32, 7, 2, 1}, {32, 7, 2, 1}};
    const std::vector<Numbers> strides = {{2, 128, 64, 16}, {2, 64, 0, 16}, {2, 64, 448, 16}};
    std::size_t at = 0;
    for (const nk::emulator::TensorMap& map : fake_device().maps) {
        CHECK_EQ(map.rank, 4);
        CHECK_EQ(Numbers(map.extents, map.extents + map.rank), extents[at]);
        CHECK_EQ(Numbers(map.strides, map.strides + map.rank), strides[at]);
        ++at;
    }
}

TEST_CASE("blocks that take several tiles are as many as the device runs, and no more than tiles") {
    const Exported exported =
        make_export(export_example("a product of warp groups whose blocks take several tiles"));
    const Launcher launcher(exported, "several", {"several_selftest.c"});
    fake_device() = {};
    fake_device().program = &exported.program;
    fake_device().processors = 5;
    CHECK_EQ(run_self_test(launcher, exported.program.name), 0);
    // 4 by 3 tiles, then 1 by 3; contiguous and strided.
    std::vector<std::int64_t> blocks;
    for (const Launch& launch : fake_device().launches) blocks.push_back(launch.blocks);
    CHECK_EQ(blocks, std::vector<std::int64_t>{5, 5, 3, 3});
}

TEST_CASE("kernels that were compiled beforehand are taken by the device that is there") {
    struct Row {
        const char* example;
        int capability;
        std::string image;  ///< empty: none serves the device
    };
    const std::vector<ExportedImage> list = {{"for 9.0", KernelImage::Cubin, 90},
                                             {"for 9.0 alone", KernelImage::Cubin, 90, true},
                                             {"for 8.0", KernelImage::Cubin, 80},
                                             {"for all", KernelImage::Ptx, 80}};
    const std::vector<ExportedImage> alone = {{"for 9.0 alone", KernelImage::Cubin, 90, true}};
    const std::vector<Row> rows = {{kAttention, 80, "for 8.0"},    {kAttention, 89, "for 8.0"},
                                   {kAttention, 90, "for 9.0"},    {kAttention, 100, "for all"},
                                   {kUnfused, 120, "for all"},     {kUnfused, 75, ""},
                                   {kGrouped, 90, "for 9.0 alone"}};
    for (const Row& row : rows) {
        INFO(row.example, " on ", row.capability);
        const Exported exported = make_export(
            export_example(row.example), {"NVRTC 0.0", row.example == kGrouped ? alone : list});
        const std::string& name = exported.program.name;
        const Launcher launcher(exported, fmt::format("images-{}-{}", name, row.capability),
                                {name + "_selftest.c"});
        fake_device() = {};
        fake_device().program = &exported.program;
        fake_device().capability = row.capability;
        if (row.image.empty()) {
            const auto get = reinterpret_cast<cudaError_t (*)(int, const void**)>(
                launcher.symbol((name + "_kernel").c_str()));
            const void* function = nullptr;
            CHECK_EQ(get(0, &function), cudaErrorNoKernelImageForDevice);
            CHECK(fake_device().images.empty());
            continue;
        }
        CHECK_EQ(run_self_test(launcher, name), 0);
        CHECK_EQ(fake_device().images,
                 std::vector<std::string>{row.image});  // once for all launches
    }
}

TEST_CASE("header and launcher are C++ too") {
    std::string log;
    for (const char* example : {kAttention, kGrouped}) {
        const Exported exported = make_export(export_example(example),
                                              {"NVRTC 0.0", {{"for all", KernelImage::Ptx, 80}}});
        const Launcher launcher(exported, "cpp-" + exported.program.name, {});
        for (const char* standard : {"c++11", "c++20"})
            for (const std::string& file :
                 {exported.program.name + ".c", exported.program.name + "_images.c",
                  exported.program.name + "_selftest.c"})
                CHECK_EQ(shell(std::string("c++ -x c++ -Wall -Wextra -Werror -fsyntax-only -std=") +
                                   standard + " -I '" NAPKIN_TEST_STUB "' '" +
                                   (launcher.folder() / file).string() + "'",
                               log),
                         0);
    }
    INFO(log);
    CHECK(log.empty());
}

}  // namespace napkin::test
