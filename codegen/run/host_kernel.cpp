#include "codegen/run/host_kernel.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <vector>

#include "codegen/prelude/prelude.h"
#include "codegen/run/execute.h"
#include "codegen/run/folders.h"
#include "codegen/run/messages.h"

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

/// What is compiled: the kernel as printed, and an entry that unpacks its arguments.
std::string host_text(const EmittedKernel& kernel) {
    return kernel.source +
           fmt::format(
               "\nextern \"C\" void emulated_entry(nk::emulator::Context* context,\n"
               "                               const nk::emulator::Argument* arguments) {{\n"
               "    nk::emulator::context = context;\n"
               "    nk::emulator::invoke(&nk::{}, arguments);\n}}\n",
               kernel.name);
}

std::optional<Diagnostic> write_prelude(const fs::path& folder) {
    for (const PreludeFile& file : prelude_files())
        if (std::optional<Diagnostic> failed = write_file_whole(folder / file.name, file.text))
            return failed;
    return std::nullopt;
}

Result<HostKernel> load(const fs::path& library) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return plain_error("E0921", std::string("cannot load ") + dlerror());
    HostKernel kernel;
    kernel.entry = reinterpret_cast<decltype(kernel.entry)>(dlsym(handle, "emulated_entry"));
    invariant(kernel.entry != nullptr, "compiled kernel has no entry");
    return kernel;
}

}  // namespace

HostCompilerStatus host_compiler_status() {
    const std::string command = find_compiler();
    if (!command.empty()) return {.command = command, .missing = {}};
    return {.command = {}, .missing = messages::host_compiler_missing().message};
}

Result<HostKernel> compile_for_host(const EmittedKernel& kernel, const fs::path& cache) {
    const std::string compiler = find_compiler();
    if (compiler.empty()) return messages::host_compiler_missing();
    const std::string text = host_text(kernel);
    std::string key = "emulator 3\n" + text;
    for (const PreludeFile& file : prelude_files()) key += file.text;
    const fs::path folder = cache.empty() ? cache_folder() / "emulator" : cache;
    const fs::path library = folder / (kernel.name + "-" + hash_text(key) + ".so");
    std::error_code error;
    if (fs::exists(library, error)) return load(library);

    const fs::path work = folder / fmt::format("build-{}-{}", getpid(), hash_text(key));
    if (std::optional<Diagnostic> failed = write_prelude(work)) return *failed;
    if (std::optional<Diagnostic> failed = write_file_whole(work / "kernel.cpp", text))
        return *failed;
    const fs::path log = work / "log";
    const fs::path made = work / "kernel.so";
    // -Bsymbolic: a kernel may be called like a function of the C library.
    const std::optional<int> status =
        run_program({compiler, "-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-Wl,-Bsymbolic",
                     "-ffp-contract=off", "-DNAPKIN_EMULATED", "-I" + work.string(),
                     (work / "kernel.cpp").string(), "-o", made.string()},
                    log);
    const std::string said = read_file(log).value_or("");
    if (status == 0) fs::rename(made, library, error);
    std::error_code ignored;
    fs::remove_all(work, ignored);
    invariant(status == 0, "the host compiler rejects kernel " + kernel.name + ":\n" + said);
    if (error) return messages::cannot_write_cache(library.string(), error.message());
    return load(library);
}

}  // namespace napkin
