// Printed kernels look as clang-format would leave them, and declare nothing that they do not use.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "codegen/drop_unused.h"
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

TEST_CASE("constants that nothing uses are dropped") {
    using kernel::Assign;
    using kernel::Body;
    using kernel::Comment;
    using kernel::Declare;
    using kernel::For;
    using kernel::Statement;
    const auto constant = [](const char* name, const char* value) {
        return Statement{Declare{"int", name, value, true, {}}};
    };
    Body body = {constant("a", "1"), constant("b", "a + 1"), constant("c", "2"),
                 Statement{Declare{"float", "kept", "", false, {}}}};
    For loop;
    loop.name = "i";
    loop.end = "c";
    loop.body = {constant("row", "i"),
                 constant("column", "i"),
                 {Comment{"row", false}},
                 {Assign{"values[column]", "=", "rows"}}};
    body.push_back({loop});
    kernel::drop_unused(body);
    REQUIRE_EQ(body.size(), 3);
    CHECK_EQ(std::get<Declare>(body[0].node).name, "c");
    CHECK_EQ(std::get<Declare>(body[1].node).name, "kept");
    const Body& inside = std::get<For>(body[2].node).body;
    REQUIRE_EQ(inside.size(), 3);
    CHECK_EQ(std::get<Declare>(inside[0].node).name, "column");
}

}  // namespace napkin
