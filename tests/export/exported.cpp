#include "tests/export/exported.h"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "derive/tile_program.h"
#include "tests/derive/programs.h"

namespace napkin::test {
namespace {

namespace fs = std::filesystem;

class Scratch {
public:
    Scratch() {
        std::string name = fs::temp_directory_path() / "napkin-test-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    [[nodiscard]] const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// The launcher asks for kernels by number; the fake device knows them by that number.
void write_kernels(const fs::path& folder, const std::string& name) {
    std::ofstream(folder / "kernels.c")
        << "#include <cuda_runtime_api.h>\n#include <stdint.h>\ncudaError_t " << name
        << "_kernel(int number, const void **function);\ncudaError_t " << name
        << "_kernel(int number, const void **function) {\n"
           "    *function = (const void *)(intptr_t)(number + 1);\n    return cudaSuccess;\n}\n";
}

}  // namespace

const std::string& Exported::text(const std::string& file) const {
    const auto found = std::find_if(files.begin(), files.end(),
                                    [&](const ExportedFile& known) { return known.name == file; });
    REQUIRE(found != files.end());
    return found->text;
}

ExportKernels export_kernels(const State& state, const std::string& target) {
    const Result<TileProgram> tiles = expand(state);
    REQUIRE(tiles.has_value());
    Result<ExportKernels> kernels = emit_for_export(
        {.target = target}, [&](const EmitOptions& how) { return emit(state, *tiles, how); });
    REQUIRE(kernels.has_value());
    return std::move(kernels).value();
}

Exported make_export(const ExportExample& example, const ExportedImages& images) {
    Exported result;
    result.state = derive(load(example.diagram), example.derivation);
    result.kernels = export_kernels(result.state, example.target);
    result.program = result.kernels.program;
    result.program.kernels.clear();
    for (const EmittedKernel* kernel : result.kernels.numbered())
        result.program.kernels.push_back(*kernel);
    std::vector<SelfTestCase> cases;
    for (const Sizes& sizes : example.sizes)
        cases.push_back(self_test_case(derive(load(example.diagram, sizes), example.derivation),
                                       result.program, 1));
    if (cases.empty()) cases.push_back(self_test_case(result.state, result.program, 1));
    const ExportOptions options{"0.0.0", example.diagram, "", "", images};
    const Result<std::vector<ExportedFile>> files =
        export_program({result.state, result.kernels, cases, options});
    REQUIRE(files.has_value());
    result.files = *files;
    return result;
}

const fs::path& scratch() {
    static const Scratch kFolder;
    return kFolder.path();
}

int shell(const std::string& command, std::string& log) {
    std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    char buffer[4096];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        log.append(buffer, got);
    const int status = ::pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Launcher::Launcher(const Exported& exported, const std::string& folder,
                   const std::vector<std::string>& sources)
    : folder_(scratch() / folder) {
    const std::string& name = exported.program.name;
    fs::create_directories(folder_);
    for (const ExportedFile& file : exported.files)
        std::ofstream(folder_ / file.name, std::ios::binary) << file.text;
    const bool compiled = fs::exists(folder_ / (name + "_images.c"));
    if (!compiled) write_kernels(folder_, name);
    std::string command =
        "cc -std=c99 -pedantic -Wall -Wextra -Wconversion -Werror -O1 -fPIC -shared "
        "-Dmain=run_main "
        "-I '" NAPKIN_TEST_STUB "' -I '" +
        folder_.string() + "' -o '" + (folder_ / "launcher.so").string() + "' '" +
        (folder_ / (compiled ? name + "_images.c" : "kernels.c")).string() + "' '" +
        (folder_ / (name + ".c")).string() + "'";
    for (const std::string& source : sources)
        command += " '" + (source.front() == '/' ? source : (folder_ / source).string()) + "'";
    std::string log;
    const int status = shell(command + " -lm", log);
    INFO(log);
    REQUIRE_EQ(status, 0);
    library_ = ::dlopen((folder_ / "launcher.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    INFO((library_ == nullptr ? ::dlerror() : ""));
    REQUIRE(library_ != nullptr);
}

void* Launcher::symbol(const char* name) const {
    void* found = ::dlsym(library_, name);
    REQUIRE(found != nullptr);
    return found;
}

}  // namespace napkin::test
