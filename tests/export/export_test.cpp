// What is written: the tree of one small export, names, refusals, and that the kernels' source
// needs nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "codegen/export/standalone.h"
#include "codegen/run/compile.h"
#include "codegen/run/folders.h"
#include "tests/derive/programs.h"
#include "tests/export/examples.h"
#include "tests/export/exported.h"
#include "tests/golden.h"
#include "tests/support/provided.h"

namespace napkin::test {
namespace {

/// Small enough for its whole folder to be read.
const ExportExample kSmall{"scaled rows",
                           R"(diagram scaled {
  axis m = 6 dynamic, n = 8
  input A[m, n] : f32, w[n] : f32
  param eps : f32 = 1e-5
  s[m] = sum(n) A[m, n] * A[m, n]
  output B[m, n] : f16 = A[m, n] * w[n] * rsqrt(s[m] / size(n) + eps)
})",
                           "fuse all\ngroup m by 4",
                           "simt",
                           {{{"m", 3}}}};

EmittedKernel standalone_kernel(const Exported& exported, const EmittedKernel& kernel) {
    EmittedKernel result = kernel;
    result.source = exported.text(exported.program.name + ".cu");
    return result;
}

}  // namespace

TEST_CASE("golden: the folder of a small export") {
    const Exported exported = make_export(kSmall);
    for (const ExportedFile& file : exported.files) {
        std::string text = file.text;
        if (file.name == "scaled.cu") {
            // The primitives have tests of their own.
            const std::string primitives = exporting::inlined_prelude({"napkin.cuh"});
            const std::size_t at = text.find(primitives);
            REQUIRE(at != std::string::npos);
            text.replace(at, primitives.size(), "(the device primitives)\n");
        }
        check_golden("export/scaled/" + file.name + ".txt", text);  // no file of ours to format
        CHECK(file.text.substr(0, 1024).find(kExportMark) != std::string::npos);
    }
}

TEST_CASE("the source of the kernels stands alone") {
    for (const ExportExample& example : export_examples()) {
        INFO(example.name);
        const Exported exported = make_export(example);
        const std::string& source = exported.text(exported.program.name + ".cu");
        CHECK_EQ(source.find("#include"), std::string::npos);
        CHECK_EQ(source.find("NAPKIN_EMULATED"), std::string::npos);
        CHECK_EQ(source.find("emulator::"), std::string::npos);
        CHECK(source.find("Derivation:") != std::string::npos);
        CHECK(source.find("Certificate: none") != std::string::npos);
    }
}

TEST_CASE("an export says which devices run it: those of the newest kernel in it") {
    const auto expect = [](const ExportExample& example, const std::vector<std::string>& targets,
                           const std::string& capability, const std::string& option,
                           const std::string& architecture) {
        const Exported exported = make_export(example);
        const std::string& name = exported.program.name;
        std::vector<std::string> found;
        for (const EmittedKernel& kernel : exported.kernels.program.kernels)
            found.push_back(kernel.target);
        CHECK_EQ(found, targets);
        CHECK(exported.text("README.md").find("compute capability " + capability + ",\n") !=
              std::string::npos);
        CHECK(exported.text("README.md").find(" " + option + " -o ") != std::string::npos);
        CHECK(exported.text("CMakeLists.txt").find("_ARCHITECTURES " + architecture + " CACHE") !=
              std::string::npos);
        CHECK(exported.text(name + ".cu").find(" " + option + " -c ") != std::string::npos);
    };
    ExportExample grouped = export_example("attention of warp groups, sizes at run time");
    const char* warp_groups = "-gencode arch=compute_90a,code=sm_90a";
    expect(grouped, {"sm_90a"}, "9.0 and no other", warp_groups, "90a");
    expect(export_example("products of warp groups with an array in memory between them, and one "
                          "for an older target"),
           {"sm_90a", "sm_90a", "sm_80"}, "9.0 and no other", warp_groups, "90a");
    grouped.target = "sm_80";
    expect(grouped, {"sm_80"}, "8.0 or newer", "-arch=sm_80", "80");
}

TEST_CASE("an export says how its kernels are carried out, as a schedule is asked for") {
    const Exported made =
        make_export(export_example("attention of warp groups, sizes at run time"));
    const EmittedKernel& kernel = made.kernels.program.kernels.front();
    std::string asked = "Schedule, as `--schedule` reads it:\n\n";
    for (const std::string& line : schedule::print(kernel.choices, kernel.region))
        asked += "    " + line + "\n";
    CHECK(asked.find("stages = ") != std::string::npos);
    CHECK(made.text("README.md").find(asked) != std::string::npos);
}

TEST_CASE("nvrtc: exported kernels compile") {
    if (!provided("nvrtc", nvrtc_status().missing)) return;
    for (const ExportExample& example : export_examples()) {
        INFO(example.name);
        const Exported exported = make_export(example);
        CompileOptions how;
        how.cache = kept_folder("kernels");
        how.architecture = "sm_90";
        const std::vector<EmittedKernel>& kernels = exported.program.kernels;
        const auto newest = std::find_if(kernels.begin(), kernels.end(), [&](const auto& kernel) {
            return kernel.target == exported.program.target;
        });
        REQUIRE(newest != kernels.end());
        const Result<CompiledKernel> compiled = compile(standalone_kernel(exported, *newest), how);
        REQUIRE(compiled.has_value());
        CHECK_EQ(compiled->image, KernelImage::Cubin);
        for (const EmittedKernel& kernel : exported.program.kernels)
            CHECK(compiled->bytes.find(kernel.name) != std::string::npos);
    }
}

TEST_CASE("nvrtc: kernels are compiled beforehand, and to PTX where later devices run them") {
    if (!provided("nvrtc", nvrtc_status().missing)) return;
    const auto images_of = [](const char* name, const std::vector<std::string>& architectures) {
        const Exported exported = make_export(export_example(name));
        return compile_images(exported.program, exported.text(exported.program.name + ".cu"),
                              architectures);
    };
    const char* older = "attention on tensor cores, sizes at run time";
    const Result<ExportedImages> images = images_of(older, {"sm_80", "sm_90", "sm_80"});
    REQUIRE(images.has_value());
    CHECK_EQ(images->compiler.substr(0, 6), "NVRTC ");
    std::vector<int> capabilities;
    for (const ExportedImage& image : images->list) capabilities.push_back(image.capability);
    CHECK_EQ(capabilities, std::vector{90, 80, 80});
    CHECK_EQ(images->list.at(0).code.substr(1, 3), "ELF");
    CHECK_EQ(images->list.at(2).kind, KernelImage::Ptx);
    CHECK(images->list.at(2).code.find(".target sm_80") != std::string::npos);
    const Result<ExportedImages> alone =
        images_of("attention of warp groups, sizes at run time", {"sm_90"});
    REQUIRE(alone.has_value());
    REQUIRE_EQ(alone->list.size(), 1);
    CHECK(alone->list.front().alone);
    const Result<ExportedImages> old = images_of(older, {"sm_75"});
    REQUIRE_FALSE(old.has_value());
    CHECK_EQ(old.error().list.front().code, "E0907");
    CHECK(images_of(older, {})->empty());
}

TEST_CASE("nvcc: an export builds without a GPU, and several of them link into one program") {
    std::string nvcc = "nvcc";
    std::string log;
    if (shell("command -v nvcc", log) != 0) nvcc = "/usr/local/cuda/bin/nvcc";
    if (!provided("nvcc", shell(nvcc + " --version", log) == 0 ? "" : "there is no nvcc")) return;
    std::string sources;
    for (const char* name : {"attention on tensor cores, sizes at run time",
                             "several kernels with a workspace, sizes at run time",
                             "attention of warp groups, sizes at run time"}) {
        const Exported exported = make_export(export_example(name));
        const std::filesystem::path folder = scratch() / ("nvcc-" + exported.program.name);
        for (const ExportedFile& file : exported.files)
            REQUIRE_FALSE(write_file_whole(folder / file.name, file.text).has_value());
        for (const char* ending : {".cu", ".c"})
            sources += " '" + (folder / (exported.program.name + ending)).string() + "'";
        if (sources.find("_selftest.c'") == std::string::npos)
            sources += " '" + (folder / (exported.program.name + "_selftest.c")).string() + "'";
    }
    log.clear();
    const int status =
        shell(nvcc + " -std=c++17 -gencode arch=compute_90a,code=sm_90a -Werror all-warnings -o '" +
                  (scratch() / "all").string() + "'" + sources,
              log);
    INFO(log);
    CHECK_EQ(status, 0);
}

TEST_CASE("names that cannot name files and functions are refused") {
    for (const char* name : {"attention", "rms_norm", "Q2"}) CHECK_FALSE(check_export_name(name));
    for (const char* name : {"", "2d", "a-b", "a b", "_x", "x_", "a__b", "torch", "if", "lambda",
                             "selftest", "../x", "int", "test", "napkin"}) {
        INFO(name);
        const std::optional<Diagnostic> wrong = check_export_name(name);
        REQUIRE(wrong.has_value());
        CHECK_EQ(wrong->code, "E0961");
    }
}

TEST_CASE("numbers of 4 bits that share a byte with another row are refused") {
    const auto exported = [](const std::string& input) {
        const State state = derive(load("diagram packed { axis n = 7, m = 8\n input A" + input +
                                        " : i4\n output B[m, n] : f32 = A" + input + " * 2 }"),
                                   "");
        return export_program({state, export_kernels(state, "simt"), {}, {}});
    };
    CHECK(exported("[n, m]").has_value());
    for (const auto& [input, code, part] :
         {std::tuple("[m, n]", "E0969", "7 numbers of 4 bits along `n`"),
          {"", "E0962", "one number of 4 bits"}}) {
        const Result<std::vector<ExportedFile>> files = exported(input);
        REQUIRE_FALSE(files.has_value());
        CHECK_EQ(files.error().list.front().code, code);
        CHECK_NE(files.error().list.front().message.find(part), std::string::npos);
    }
}

TEST_CASE("a size at run time is no longer than the parts that follow from it allow") {
    const ExportExample parts{"a sum in parts",
                              R"(diagram parts {
  axis n = 100 dynamic, m = 50
  input A[n, m] : f32
  output Y[n] : f32 = sum(m) A[n, m]
  output Z : f32 = sum(n) Y[n]
})",
                              "group n by 8 in Y\nstream n by 8 in Z\nsplit-stream n by 32 in Z",
                              "simt",
                              {{{"n", 77}}}};
    const std::string page = make_export(parts).text("README.md");
    CHECK(page.find("n_part = ceil(n/n_in), at most 4") != std::string::npos);
    CHECK(page.find("n at run time, at most 128\n") != std::string::npos);
}

TEST_CASE("a size at run time is no less than what is selected of it") {
    const ExportExample top{"a selection of rows at run time",
                            R"(diagram top {
  axis n = 8, e = 16 dynamic, k = 4
  input G[n, e] : f32
  output val[n, k], idx[n, k] = topk[e](G[n, e])
})",
                            "fuse all\ngroup n by 2\nstream e by 4",
                            "simt",
                            {{{"e", 7}}}};
    const Exported made = make_export(top);
    CHECK(made.text("README.md").find("e at run time, at least 4\n") != std::string::npos);
    CHECK(made.text(made.program.name + ".c").find("{\"e\", 0, 4, ") != std::string::npos);
    CHECK(made.text(made.program.name + ".py").find("\"e\": _Axis(None, 4, ") != std::string::npos);
    for (const Sizes& sizes : self_test_sizes(made.state, made.kernels.program))
        CHECK_GE(sizes.at("e"), 4);
}

TEST_CASE("self-tests have an even size where a byte holds two numbers") {
    const State state = derive(load("diagram packed { axis n = 6 dynamic, m = 8 dynamic\n input "
                                    "A[n, m] : i4\n output B[n, m] : f32 = A[n, m] * 2 }"),
                               "");
    const EmittedProgram program = export_kernels(state, "simt").program;
    for (const Sizes& sizes : self_test_sizes(state, program)) CHECK_EQ(sizes.at("m") % 2, 0);
}

TEST_CASE("an export is the same every time, and keeps its certificate's hash") {
    const Exported once = make_export(kSmall);
    CHECK(once.files == make_export(kSmall).files);
    const ExportOptions options{"0.0.0", kSmall.diagram, "sha256:0123abcd"};
    const Result<std::vector<ExportedFile>> certified =
        export_program({once.state, once.kernels, {}, options});
    REQUIRE(certified.has_value());
    for (const ExportedFile& file : *certified)
        if (file.name == "scaled.cu" || file.name == "README.md")
            CHECK(file.text.find("Certificate: sha256:0123abcd") != std::string::npos);
}

}  // namespace napkin::test
