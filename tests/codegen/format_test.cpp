// Printed kernels look as clang-format would leave them.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "codegen/emit.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"
#include "tests/support/examples.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

namespace fs = std::filesystem;

/// Writes every kernel of the examples that the target serves; returns their files.
std::vector<fs::path> write_kernels(const fs::path& folder, const std::string& target) {
    std::vector<fs::path> files;
    for (const test::Example& example : test::all_examples()) {
        const State state = test::derive(test::load(example.diagram), example.derivation);
        EmitOptions options;
        options.target = target;
        const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
        if (!program) continue;
        for (const EmittedKernel& kernel : program->kernels) {
            files.push_back(folder / (example.name + "." + target + "." + kernel.name + ".cpp"));
            std::ofstream(files.back(), std::ios::binary) << kernel.source;
        }
    }
    return files;
}

}  // namespace

TEST_CASE("printed kernels are formatted") {
    const bool there = std::system("clang-format --version > /dev/null 2>&1") == 0;
    if (!test::provided("clang-format", there ? "" : "there is no clang-format")) return;
    const fs::path folder = test::kept_folder("format-" + std::to_string(::getpid()));
    fs::remove_all(folder);
    fs::create_directories(folder);
    fs::copy_file(fs::path(NAPKIN_EXAMPLES_DIR) / "../.clang-format", folder / ".clang-format");
    std::size_t kernels = 0;
    for (const char* target : {"simt", "sm_80"}) kernels += write_kernels(folder, target).size();
    CHECK_GT(kernels, 30);
    const std::string command =
        "cd '" + folder.string() +
        "' && clang-format --dry-run -Werror --ferror-limit=3 *.cpp > said 2>&1";
    const int status = std::system(command.c_str());
    INFO(test::read_text(folder / "said"));
    CHECK_EQ(status, 0);
    if (status == 0) fs::remove_all(folder);
}

}  // namespace napkin
