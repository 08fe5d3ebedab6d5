// What is missing on this machine, and what works anyway.
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/json.h"
#include "codegen/run/compile.h"
#include "codegen/run/execute.h"
#include "codegen/run/folders.h"

namespace napkin::cli {
namespace {

/// One thing that napkin may find, and what rests on it.
struct Found {
    std::string name;
    bool found = false;
    std::string what;     ///< where and which version, or why not
    std::string without;  ///< what does not work when it is missing
};

Found find_compiler() {
    const CompilerStatus status = nvrtc_status();
    const bool found = status.missing.empty();
    return {
        "NVRTC", found, found ? status.version + ", " + status.path : status.missing,
        "`emit --as ptx` and `--as cubin`, `run --device cuda` and `bench` need it; ./quickstart "
        "fetches it"};
}

Found find_device() {
    const DeviceStatus status = device_status();
    const bool found = status.missing.empty();
    return {"GPU", found,
            found ? status.name + " (" + status.architecture + ", driver " + status.driver + ")"
                  : status.missing,
            "`run --device cuda` and `bench` need it; `run --device cpu` and `--device emulator` "
            "check the same derivation here"};
}

Found find_host_compiler() {
    const HostCompilerStatus status = host_compiler_status();
    const bool found = status.missing.empty();
    return {"C++ compiler", found, found ? status.command : status.missing,
            "`run --device emulator` needs it"};
}

Found find_cache() {
    const std::string folder = cache_folder().string();
    const std::optional<Diagnostic> failure = make_folder(folder);
    const bool found = !failure && ::access(folder.c_str(), W_OK) == 0;
    return {
        "cache folder", found, folder,
        "`run --device emulator` needs it, kernels for the GPU are compiled anew each time, and "
        "the interactive history is not kept; `XDG_CACHE_HOME` names another"};
}

}  // namespace

Result<int> run_doctor(Context& context) {
    const Found findings[] = {find_compiler(), find_device(), find_host_compiler(), find_cache()};
    Json json{{"ok", true}, {"version", NAPKIN_VERSION}};
    std::string text =
        "napkin " NAPKIN_VERSION "\n  yes  checking, drawing, deriving, costing, emitting CUDA\n";
    for (const Found& finding : findings) {
        json["findings"].push_back(Json{{"name", finding.name},
                                        {"found", finding.found},
                                        {"what", finding.what},
                                        {"without", finding.without}});
        text += (finding.found ? "  yes  " : "  no   ") + finding.name + ": " + finding.what + "\n";
        if (!finding.found) text += "       without it: " + finding.without + "\n";
    }
    print_data(context.arguments.json ? text_of(json) : text);
    return kOk;
}

}  // namespace napkin::cli
