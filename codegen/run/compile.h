// Compiles kernels with NVRTC, which is opened at run time and runs in a child process, so that a
// crash inside it is an error and not the end of the program. Results are kept on disk.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "codegen/emit.h"
#include "diagrams/result.h"

namespace napkin {

enum class KernelImage { Cubin, Ptx };

struct CompileOptions {
    std::string architecture = "sm_90";
    KernelImage image = KernelImage::Cubin;
    bool use_cache = true;
    /// Empty: `napkin/kernels` under $XDG_CACHE_HOME or ~/.cache.
    std::filesystem::path cache;
};

struct CompiledKernel {
    std::string name;
    std::string architecture;
    KernelImage image = KernelImage::Cubin;
    std::string bytes;  ///< the cubin or the PTX text
    // What ptxas said, for a cubin.
    std::optional<std::int64_t> registers;
    std::optional<std::int64_t> spill_stores;  ///< bytes
    std::optional<std::int64_t> spill_loads;   ///< bytes
    std::optional<std::int64_t> stack;         ///< bytes
    std::string log;
    std::string compiler;  ///< `NVRTC 13.0`
    double seconds = 0;    ///< of compilation; 0 when it came from the cache
    bool cached = false;
};

/// Compiles one kernel. A missing NVRTC or an architecture it does not know is a diagnostic; a
/// kernel that it rejects is a bug of ours and throws InternalError with its log. When the
/// assembler crashes, PTX is returned instead of a cubin.
[[nodiscard]] Result<CompiledKernel> compile(const EmittedKernel& kernel,
                                             const CompileOptions& options = {});

/// What `doctor` reports: the library's path and version, or why there is none.
struct CompilerStatus {
    std::string path;
    std::string version;  ///< `13.0`
    std::string missing;  ///< one line; empty when it is there
};
[[nodiscard]] CompilerStatus nvrtc_status();

}  // namespace napkin
