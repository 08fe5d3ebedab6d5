// NVRTC, NVIDIA's run-time compiler, opened with dlopen. Its few entry points are declared here, so
// that no CUDA header is needed.
#pragma once

#include <string>
#include <vector>

#include "diagrams/result.h"

namespace napkin {

/// The loaded library; it stays loaded for the life of the program.
class Nvrtc {
public:
    /// Searches the library path, the usual folders of CUDA, folders `nvrtc` beside or above the
    /// executable and Python's `nvidia` wheels; $NAPKIN_NVRTC names a library for tests.
    [[nodiscard]] static Result<Nvrtc> open();

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] int major() const { return major_; }
    [[nodiscard]] int minor() const { return minor_; }
    [[nodiscard]] std::string version() const;
    /// `sm_80`, `sm_90`, ... as this version lists them, without letters.
    [[nodiscard]] std::vector<std::string> architectures() const;

    struct Output {
        bool accepted = false;
        bool crashed = false;
        std::string log;
        std::string image;
    };
    /// Compiles one program in a child process; `ptx` chooses what the image is.
    [[nodiscard]] Output compile(const std::string& name, const std::string& source,
                                 const std::vector<std::string>& options, bool ptx) const;

private:
    Nvrtc() = default;
    [[nodiscard]] Output compile_here(const std::string& name, const std::string& source,
                                      const std::vector<std::string>& options, bool ptx) const;
    void* handle_ = nullptr;
    std::string path_;
    int major_ = 0;
    int minor_ = 0;
};

}  // namespace napkin
