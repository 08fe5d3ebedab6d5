#include "codegen/run/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "codegen/prelude/prelude.h"
#include "codegen/run/folders.h"
#include "codegen/run/messages.h"

namespace napkin {
namespace {

namespace fs = std::filesystem;
using Program = struct NvrtcProgram*;

template <class Function>
Function symbol(void* library, const char* name) {
    void* address = dlsym(library, name);
    invariant(address != nullptr, "NVRTC lacks ", name);
    return reinterpret_cast<Function>(address);
}

/// Folders whose name starts with `prefix`, newest version first.
std::vector<fs::path> folders_named(const fs::path& parent, const std::string& prefix) {
    std::vector<fs::path> found;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(parent, error))
        if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
    std::sort(found.rbegin(), found.rend());
    return found;
}

/// `libnvrtc.so.*` in a folder, without its builtins and alternatives.
std::vector<std::string> libraries_in(const fs::path& folder) {
    std::vector<std::string> found;
    for (const fs::path& path : folders_named(folder, "libnvrtc.so")) found.push_back(path);
    return found;
}

/// The folders of PATH: where a Python of a virtual environment or of conda is, its packages are
/// not far.
std::vector<fs::path> program_folders() {
    std::vector<fs::path> folders;
    const char* path = std::getenv("PATH");
    std::istringstream list(path == nullptr ? "" : path);
    for (std::string folder; std::getline(list, folder, ':');)
        if (fs::path(folder).is_absolute()) folders.emplace_back(folder);
    return folders;
}

std::vector<fs::path> wheel_folders() {
    std::vector<fs::path> roots;
    const auto add_pythons = [&](const fs::path& lib) {
        for (const fs::path& python : folders_named(lib, "python"))
            for (const char* packages : {"site-packages", "dist-packages"})
                roots.push_back(python / packages);
    };
    add_pythons("/usr/local/lib");
    add_pythons("/usr/lib");
    if (const char* home = std::getenv("HOME")) add_pythons(fs::path(home) / ".local/lib");
    for (const fs::path& programs : program_folders()) add_pythons(programs.parent_path() / "lib");
    fs::path above = executable_folder();
    for (int steps = 0; steps < 5 && above.has_relative_path(); ++steps) {
        roots.push_back(above / "nvrtc");
        above = above.parent_path();
    }
    std::vector<fs::path> folders;
    for (const fs::path& root : roots) {
        folders.push_back(root);
        folders.push_back(root / "lib");
        folders.push_back(root / "nvidia/cuda_nvrtc/lib");
        for (const fs::path& version : folders_named(root / "nvidia", "cu1"))
            folders.push_back(version / "lib");
    }
    return folders;
}

/// Names and paths to try, in order.
std::vector<std::string> candidates() {
    if (const char* named = std::getenv("NAPKIN_NVRTC")) return {named};
    std::vector<std::string> list;
    const auto add = [&](const fs::path& folder) {
        for (const std::string& library : libraries_in(folder)) list.push_back(library);
    };
    // What is installed with the binary.
    for (const fs::path& lib : folders_named(executable_folder().parent_path(), "lib"))
        add(lib / "napkin");
    list.insert(list.end(), {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* toolkit = std::getenv(variable)) add(fs::path(toolkit) / "lib64");
    for (const char* parent : {"/usr/local", "/opt"})
        for (const fs::path& cuda : folders_named(parent, "cuda"))
            for (const char* lib : {"lib64", "lib", "targets/x86_64-linux/lib"}) add(cuda / lib);
    for (const fs::path& folder : wheel_folders()) add(folder);
    return list;
}

/// The file that was opened, of which only the name may have been known.
std::string path_of(const void* address, const std::string& name) {
    Dl_info info{};
    return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : name;
}

/// NVRTC looks for its builtins by name; loading them first makes that work outside the library
/// path.
void load_builtins(const std::string& library) {
    const fs::path folder = fs::path(library).parent_path();
    for (const fs::path& path : folders_named(folder, "libnvrtc-builtins.so"))
        if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
}

void write_all(int file, const void* data, std::size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t written = write(file, at, size);
        if (written <= 0) return;
        at += written;
        size -= static_cast<std::size_t>(written);
    }
}

std::string read_all(int file) {
    std::string text;
    std::string buffer(1 << 16, '\0');
    for (ssize_t count = 0; (count = ::read(file, buffer.data(), buffer.size())) > 0;)
        text.append(buffer, 0, static_cast<std::size_t>(count));
    return text;
}

/// The child's answer: accepted, the log's length, the log, the image.
std::string pack(const Nvrtc::Output& output) {
    return fmt::format("{:c}{:020d}", output.accepted ? '+' : '-', output.log.size()) + output.log +
           output.image;
}

constexpr std::size_t kPackedHeader = 21;

}  // namespace

Result<Nvrtc> Nvrtc::open() {
    Nvrtc nvrtc;
    const char* named = std::getenv("NAPKIN_NVRTC");
    std::string why = named == nullptr
                          ? "not found in the library path, CUDA folders or Python wheels"
                          : fmt::format("NAPKIN_NVRTC names `{}`, which is not there", named);
    for (const std::string& name : candidates()) {
        nvrtc.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (nvrtc.handle_ == nullptr) {
            if (fs::exists(name)) why = dlerror();
            continue;
        }
        const auto version = symbol<int (*)(int*, int*)>(nvrtc.handle_, "nvrtcVersion");
        nvrtc.path_ = path_of(reinterpret_cast<const void*>(version), name);
        load_builtins(nvrtc.path_);
        version(&nvrtc.major_, &nvrtc.minor_);
        if (nvrtc.major_ >= 12) return nvrtc;
        why = fmt::format("`{}` is version {}, and 12 or newer is needed", name, nvrtc.version());
    }
    return messages::nvrtc_missing(why);
}

std::string Nvrtc::version() const {
    return fmt::format("{}.{}", major_, minor_);
}

std::vector<std::string> Nvrtc::architectures() const {
    int count = 0;
    symbol<int (*)(int*)>(handle_, "nvrtcGetNumSupportedArchs")(&count);
    std::vector<int> numbers(static_cast<std::size_t>(count));
    symbol<int (*)(int*)>(handle_, "nvrtcGetSupportedArchs")(numbers.data());
    std::vector<std::string> names;
    for (const int number : numbers) names.push_back(fmt::format("sm_{}", number));
    return names;
}

Nvrtc::Output Nvrtc::compile_here(const std::string& name, const std::string& source,
                                  const std::vector<std::string>& options, bool ptx) const {
    std::vector<const char*> headers;
    std::vector<const char*> header_names;
    for (const PreludeFile& file : prelude_files()) {
        headers.push_back(file.text.c_str());
        header_names.push_back(file.name.c_str());
    }
    std::vector<const char*> arguments;
    for (const std::string& option : options) arguments.push_back(option.c_str());

    Program program = nullptr;
    const auto create = symbol<int (*)(Program*, const char*, const char*, int, const char* const*,
                                       const char* const*)>(handle_, "nvrtcCreateProgram");
    Output output;
    if (create(&program, source.c_str(), name.c_str(), static_cast<int>(headers.size()),
               headers.data(), header_names.data()) != 0)
        return output;
    output.accepted =
        symbol<int (*)(Program, int, const char* const*)>(handle_, "nvrtcCompileProgram")(
            program, static_cast<int>(arguments.size()), arguments.data()) == 0;
    const auto get = [&](const char* size_name, const char* text_name) {
        std::size_t size = 0;
        symbol<int (*)(Program, std::size_t*)>(handle_, size_name)(program, &size);
        std::string text(size, '\0');
        if (size > 0) symbol<int (*)(Program, char*)>(handle_, text_name)(program, text.data());
        return text;
    };
    // Texts come with the 0 at their end, which ptxas refuses in a file.
    const auto get_text = [&](const char* size_name, const char* text_name) {
        std::string text = get(size_name, text_name);
        while (!text.empty() && text.back() == '\0') text.pop_back();
        return text;
    };
    output.log = get_text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog");
    if (output.accepted)
        output.image = ptx ? get_text("nvrtcGetPTXSize", "nvrtcGetPTX")
                           : get("nvrtcGetCUBINSize", "nvrtcGetCUBIN");
    return output;
}

Nvrtc::Output Nvrtc::compile(const std::string& name, const std::string& source,
                             const std::vector<std::string>& options, bool ptx) const {
    int ends[2] = {-1, -1};
    invariant(pipe(ends) == 0, "no pipe for the compiler's process");
    const pid_t child = fork();
    invariant(child >= 0, "no process for the compiler");
    if (child == 0) {
        close(ends[0]);
        try {
            const std::string packed = pack(compile_here(name, source, options, ptx));
            write_all(ends[1], packed.data(), packed.size());
        } catch (...) {
            _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    const std::string packed = read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    Output output;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || packed.size() < kPackedHeader) {
        output.crashed = true;
        return output;
    }
    const std::size_t log_size = std::stoull(packed.substr(1, kPackedHeader - 1));
    output.accepted = packed[0] == '+';
    output.log = packed.substr(kPackedHeader, log_size);
    output.image = packed.substr(kPackedHeader + log_size);
    return output;
}

}  // namespace napkin
