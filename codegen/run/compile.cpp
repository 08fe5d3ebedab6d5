#include "codegen/run/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "codegen/architecture.h"
#include "codegen/messages.h"
#include "codegen/prelude/prelude.h"
#include "codegen/run/folders.h"
#include "codegen/run/kept.h"
#include "codegen/run/messages.h"
#include "codegen/run/nvrtc.h"

namespace napkin {
namespace {

std::vector<std::string> options_for(const CompileOptions& options, bool ptx) {
    std::string architecture = options.architecture;
    if (ptx) architecture.replace(0, 3, "compute_");
    std::vector<std::string> list = {"--gpu-architecture=" + architecture, "-std=c++17",
                                     "-default-device", "-diag-suppress=177"};
    if (!ptx) list.emplace_back("--ptxas-options=-v");
    return list;
}

bool well_formed(const std::string& architecture) {
    if (!architecture.starts_with("sm_") || architecture.size() < 5) return false;
    const std::string number = architecture.substr(3, architecture.find_first_of("af") - 3);
    return std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The number that stands before `word` in the log: `40` before ` registers`.
std::optional<std::int64_t> number_before(const std::string& log, const std::string& word) {
    const std::size_t at = log.find(word);
    if (at == std::string::npos) return std::nullopt;
    std::size_t begin = at;
    while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9') --begin;
    if (begin == at) return std::nullopt;
    return std::stoll(log.substr(begin, at - begin));
}

void read_log(CompiledKernel& kernel) {
    if (kernel.image == KernelImage::Ptx) return;
    kernel.registers = number_before(kernel.log, " registers");
    kernel.spill_stores = number_before(kernel.log, " bytes spill stores");
    kernel.spill_loads = number_before(kernel.log, " bytes spill loads");
    kernel.stack = number_before(kernel.log, " bytes stack frame");
}

/// Everything that the result depends on.
std::string key_of(const EmittedKernel& kernel, const Nvrtc& nvrtc,
                   const std::vector<std::string>& options) {
    std::string key = "napkin kernel 2\nNVRTC " + nvrtc.version() + "\n";
    for (const std::string& option : options) key += option + "\n";
    for (const PreludeFile& file : prelude_files()) key += file.text;
    return key + kernel.source;
}

// What is kept: the length of the log, the log and the image.
std::string kept_text(const CompiledKernel& kernel) {
    return fmt::format("{}\n", kernel.log.size()) + kernel.log + kernel.bytes;
}

void read_kept(const std::string& text, CompiledKernel& kernel) {
    const std::size_t line = text.find('\n') + 1;
    const std::size_t log_size = std::stoull(text);
    kernel.log = text.substr(line, log_size);
    kernel.bytes = text.substr(line + log_size);
    kernel.cached = true;
}

Result<CompiledKernel> compile_as(const EmittedKernel& kernel, const CompileOptions& options,
                                  const Nvrtc& nvrtc, bool ptx) {
    CompiledKernel result;
    result.name = kernel.name;
    result.architecture = options.architecture;
    result.image = ptx ? KernelImage::Ptx : KernelImage::Cubin;
    result.compiler = "NVRTC " + nvrtc.version();
    const std::vector<std::string> list = options_for(options, ptx);
    const std::string key = key_of(kernel, nvrtc, list);
    const std::filesystem::path cache =
        options.cache.empty() ? cache_folder() / "kernels" : options.cache;
    if (options.use_cache)
        if (const std::optional<std::string> kept = find_kept(cache, key)) {
            read_kept(*kept, result);
            read_log(result);
            return result;
        }
    const auto start = std::chrono::steady_clock::now();
    const Nvrtc::Output output = nvrtc.compile(kernel.name + ".cu", kernel.source, list, ptx);
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (output.crashed) {
        invariant(!ptx, "NVRTC crashed on kernel ", kernel.name);
        return compile_as(kernel, options, nvrtc, true);
    }
    if (!output.accepted && output.log.find("gpu-architecture") != std::string::npos)
        return messages::architecture_unknown(options.architecture, nvrtc.version());
    invariant(output.accepted, "NVRTC rejects kernel ", kernel.name, ":\n", output.log);
    result.log = output.log;
    result.bytes = output.image;
    read_log(result);
    if (options.use_cache) keep(cache, key, kept_text(result));
    return result;
}

}  // namespace

Result<CompiledKernel> compile(const EmittedKernel& kernel, const CompileOptions& options) {
    const Result<Nvrtc> nvrtc = Nvrtc::open();
    if (!nvrtc) return nvrtc.error();
    if (!well_formed(options.architecture))
        return messages::architecture_unknown(options.architecture, nvrtc->version());
    CompileOptions how = options;
    // Instructions of one generation alone have architectures of their own.
    if (kernel.target == how.architecture + "a") how.architecture = kernel.target;
    if (runs_there_alone(kernel.target) && kernel.target != how.architecture)
        return messages::architecture_unfit(kernel.target, how.architecture);
    return compile_as(kernel, how, *nvrtc, how.image == KernelImage::Ptx);
}

CompilerStatus nvrtc_status() {
    const Result<Nvrtc> nvrtc = Nvrtc::open();
    if (!nvrtc) return {.path = {}, .version = {}, .missing = nvrtc.error().list.front().message};
    return {.path = nvrtc->path(), .version = nvrtc->version(), .missing = {}};
}

}  // namespace napkin
