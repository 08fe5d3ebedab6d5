#include "codegen/run/host_kernel.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <cstdlib>
#include <vector>

#include "codegen/prelude/prelude.h"
#include "codegen/run/execute.h"
#include "codegen/run/folders.h"
#include "codegen/run/messages.h"
#include "diagrams/contains.h"

namespace napkin {
namespace {

namespace fs = std::filesystem;

/// Runs a program with its output in `log`; nullopt when it cannot be started.
std::optional<int> run_program(const std::vector<std::string>& command, const fs::path& log) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = 0;
    const int failed =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return std::nullopt;
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string find_compiler() {
    for (const char* name : {"c++", "g++"})
        if (run_program({name, "--version"}, "/dev/null") == 0) return name;
    return {};
}

/// What the names of kernels' texts end with, for the compiler.
constexpr const char* kKernelText = ".cu";

/// A kernel's text and what it is compiled with, in short.
std::string key_of(const EmittedKernel& kernel) {
    std::string key = "emulator 8\n" + kernel.name + "\n" + kernel.source;
    for (const PreludeFile& file : prelude_files()) key += file.text;
    return hash_text(key);
}

/// The kernel's text, whose lines are numbered as the kernel's.
std::string numbered(const EmittedKernel& kernel) {
    return fmt::format("\n#line 1 \"{}{}\"\n{}", kernel.name, kKernelText, kernel.source);
}

/// A function that unpacks the kernel's arguments.
std::string entry_text(const EmittedKernel& kernel, const std::string& key) {
    return fmt::format(
        "\nextern \"C\" void enter_{}(nk::emulator::Context* context,\n"
        "                           const nk::emulator::Argument* arguments) {{\n"
        "    nk::emulator::context = context;\n"
        "    nk::emulator::invoke(&nk::{}, arguments);\n}}\n",
        key, kernel.name);
}

std::optional<Diagnostic> write_prelude(const fs::path& folder) {
    for (const PreludeFile& file : prelude_files())
        if (std::optional<Diagnostic> failed = write_file_whole(folder / file.name, file.text))
            return failed;
    return std::nullopt;
}

Result<HostKernel> load(const fs::path& library, const std::string& key) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return plain_error("E0921", std::string("cannot load ") + dlerror());
    HostKernel kernel;
    kernel.entry =
        reinterpret_cast<decltype(kernel.entry)>(dlsym(handle, ("enter_" + key).c_str()));
    invariant(kernel.entry != nullptr, "compiled kernel has no entry");
    return kernel;
}

fs::path folder_of(const fs::path& cache) {
    return cache.empty() ? cache_folder() / "emulator" : cache;
}

fs::path library_of(const fs::path& folder, const EmittedKernel& kernel, const std::string& key) {
    constexpr std::size_t kMostOfName = 80;  // what follows it has to fit a file's name too
    return folder / (kernel.name.substr(0, kMostOfName) + "-" + key + ".so");
}

const std::vector<std::string> kPlain = {"-O0", "-ffp-contract=off"};
const std::vector<std::string> kFused = {"-O2", "-mfma", "-ffp-contract=fast"};

/// Compiles a text into a library; the compiler accepts whatever we print.
std::optional<Diagnostic> compile_text(const std::string& text,
                                       const std::vector<std::string>& options,
                                       const fs::path& library, const std::string& what) {
    const std::string compiler = find_compiler();
    if (compiler.empty()) return messages::host_compiler_missing();
    const fs::path work =
        library.parent_path() / fmt::format("build-{}-{}", getpid(), library.stem().string());
    if (std::optional<Diagnostic> failed = write_prelude(work)) return failed;
    if (std::optional<Diagnostic> failed = write_file_whole(work / "kernel.cpp", text))
        return failed;
    const fs::path log = work / "log";
    const fs::path made = work / "kernel.so";
    // -Bsymbolic: a kernel may be called like a function of the C library.
    std::vector<std::string> command = {compiler, "-std=c++17", "-w", "-fPIC", "-shared", "-g1",
                                        "-Wl,-Bsymbolic", "-DNAPKIN_EMULATED", "-I" + work.string(),
                                        // call_site reads the stack.
                                        "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {(work / "kernel.cpp").string(), "-o", made.string()});
    const std::optional<int> status = run_program(command, log);
    const std::string said = read_file(log).value_or("");
    std::error_code error;
    if (status == 0) fs::rename(made, library, error);
    std::error_code ignored;
    fs::remove_all(work, ignored);
    invariant(status == 0, "the host compiler rejects ", what, ":\n", said);
    if (error) return messages::cannot_write_cache(library.string(), error.message());
    return std::nullopt;
}

/// The kernel's line at the innermost of some places of a library, if they are of one.
std::optional<int> kernel_line(const std::string& library, const std::vector<std::string>& places) {
    std::vector<std::string> command = {"addr2line", "-i", "-e", library};
    command.insert(command.end(), places.begin(), places.end());
    const fs::path log = fs::temp_directory_path() / fmt::format("napkin-lines-{}", getpid());
    const std::optional<int> status = run_program(command, log);
    const std::string said = read_file(log).value_or("");
    std::error_code ignored;
    fs::remove(log, ignored);
    const std::string end = std::string(kKernelText) + ":";
    const std::size_t found = said.find(end);
    if (status != 0 || found == std::string::npos) return std::nullopt;
    return std::atoi(said.c_str() + found + end.size());
}

}  // namespace

HostCompilerStatus host_compiler_status() {
    const std::string command = find_compiler();
    if (!command.empty()) return {.command = command, .missing = {}};
    return {.command = {}, .missing = messages::host_compiler_missing().message};
}

std::optional<int> line_of(const KernelPlace& place) {
    // Between this program and the kernel may lie libraries that watch memory.
    Dl_info here{};
    dladdr(reinterpret_cast<const void*>(&line_of), &here);
    std::vector<std::pair<std::string, std::vector<std::string>>> offsets;  // by library
    for (const void* address : place) {
        Dl_info there{};
        if (dladdr(address, &there) == 0 || there.dli_fbase == here.dli_fbase) continue;
        if (offsets.empty() || offsets.back().first != there.dli_fname)
            offsets.push_back({there.dli_fname, {}});
        const auto offset =
            static_cast<const char*>(address) - static_cast<const char*>(there.dli_fbase);
        // The call, not what follows.
        offsets.back().second.push_back(fmt::format("{:#x}", offset - 1));
    }
    for (const auto& [library, places] : offsets)
        if (const std::optional<int> line = kernel_line(library, places)) return line;
    return std::nullopt;
}

bool host_fuses() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("fma") != 0;
#else
    return false;
#endif
}

Result<HostKernel> compile_for_host(const EmittedKernel& kernel, const fs::path& cache,
                                    bool fuses) {
    const std::string key = key_of(kernel) + (fuses ? "f" : "");
    const fs::path library = library_of(folder_of(cache), kernel, key);
    std::error_code error;
    if (fs::exists(library, error)) return load(library, key);
    const std::string text = numbered(kernel) + entry_text(kernel, key);
    if (std::optional<Diagnostic> failed =
            compile_text(text, fuses ? kFused : kPlain, library, "kernel " + kernel.name))
        return *failed;
    return load(library, key);
}

std::optional<Diagnostic> compile_together_for_host(std::span<const EmittedKernel> kernels,
                                                    const fs::path& cache) {
    const fs::path folder = folder_of(cache);
    // Every kernel in a namespace of its own that sees all of the prelude, and with a name of its
    // own: kernels of one name may come together, and their constants have the same names.
    std::string text = "#include \"hopper_tensor.cuh\"\n";
    std::vector<fs::path> libraries;
    std::string keys;
    for (const EmittedKernel& kernel : kernels) {
        const std::string key = key_of(kernel);
        fs::path library = library_of(folder, kernel, key);
        std::error_code error;
        if (contains(libraries, library) || fs::exists(library, error)) continue;
        libraries.push_back(std::move(library));
        keys += key;
        text += fmt::format(
            "namespace nk_{0} {{ using namespace ::nk; }}\n#define nk nk_{0}\n#define {3} {3}_{0}\n"
            "{1}{2}#undef {3}\n#undef nk\n",
            key, numbered(kernel), entry_text(kernel, key), kernel.name);
    }
    if (libraries.empty()) return std::nullopt;
    const fs::path together = folder / ("together-" + hash_text(keys) + ".so");
    if (std::optional<Diagnostic> failed =
            compile_text(text, kPlain, together, std::to_string(libraries.size()) + " kernels"))
        return failed;
    for (const fs::path& library : libraries) {
        std::error_code error;
        fs::create_symlink(together.filename(), library, error);
        if (error && !fs::exists(library))
            return messages::cannot_write_cache(library.string(), error.message());
    }
    return std::nullopt;
}

}  // namespace napkin
