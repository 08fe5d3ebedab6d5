#include "codegen/run/messages.h"

#include <fmt/format.h>

namespace napkin::messages {
namespace {

constexpr const char* kDeviceFailed = "E0914";

}  // namespace

bool is_failure_of_device(const Diagnostics& problems) {
    return problems.list.front().code == kDeviceFailed;
}

Diagnostic nvrtc_missing(const std::string& why) {
    return plain_error(
        "E0911", "NVRTC, which compiles kernels, is not there: " + why,
        "install the CUDA toolkit or the Python wheel `nvidia-cuda-nvrtc`, name the "
        "library's file in NAPKIN_NVRTC, or use `--device cpu` or `--device emulator`",
        Failure::Missing);
}

Diagnostic architecture_unknown(const std::string& architecture, const std::string& version) {
    return plain_error(
        "E0912",
        fmt::format("NVRTC {} does not compile for architecture `{}`", version, architecture),
        "choose one it knows, such as `sm_80` or `sm_90`", Failure::Missing);
}

Diagnostic driver_missing(const std::string& why) {
    return plain_error("E0913", "no CUDA device can be used: " + why,
                       "use `--device cpu` or `--device emulator`", Failure::Missing);
}

Diagnostic device_failed(const std::string& call, const std::string& why) {
    return plain_error(kDeviceFailed, fmt::format("the CUDA driver failed in `{}`: {}", call, why),
                       "", Failure::Missing);
}

Diagnostic shared_memory_of_device(const std::string& kernel, std::int64_t needed,
                                   std::int64_t available, const std::string& device) {
    return plain_error("E0915",
                       fmt::format("kernel `{}` needs {} bytes of shared memory a block; {} has {}",
                                   kernel, needed, device, available),
                       "choose smaller groups or chunks");
}

Diagnostic host_compiler_missing() {
    return plain_error("E0916",
                       "the emulator needs a C++ compiler, and neither `c++` nor `g++` runs here",
                       "install g++, or use `--device cpu`", Failure::Missing);
}

Diagnostic cannot_write_cache(const std::string& path, const std::string& why) {
    return plain_error("E0917", fmt::format("cannot write `{}`: {}", path, why),
                       "check the folder's permissions and the space on its disk, or name another "
                       "in `XDG_CACHE_HOME`");
}

Diagnostic size_is_fixed(const std::string& kernel, const std::string& axis, std::int64_t fixed,
                         std::int64_t given) {
    return plain_error(
        "E0918",
        fmt::format("kernel `{}` was made for `{} = {}`, not {}", kernel, axis, fixed, given),
        "emit it again with this size, or declare the axis `dynamic`");
}

Diagnostic size_above_limit(const std::string& kernel, const std::string& axis, std::int64_t limit,
                            std::int64_t given) {
    return plain_error(
        "E0919",
        fmt::format("kernel `{}` holds `{}` whole, up to {}; {} is more", kernel, axis, limit,
                    given),
        fmt::format("emit it again with a larger `{0}`, or group or stream `{0}`", axis));
}

Diagnostic size_too_large(const std::string& kernel, const std::string& axis, std::int64_t limit,
                          std::int64_t given) {
    return plain_error(
        "E0922",
        fmt::format("kernel `{}` computes indices in 32 bits: `{}` may be up to {}, and is {}",
                    kernel, axis, limit, given),
        fmt::format("split `{}` in the diagram into two axes", axis));
}

Diagnostic stride_is_no_multiple(const std::string& kernel, const std::string& array,
                                 const std::string& axis, std::int64_t stride,
                                 std::int64_t multiple) {
    return plain_error(
        "E0923",
        fmt::format("kernel `{}` copies `{}` in vectors of {} elements, and its stride along `{}` "
                    "is {}",
                    kernel, array, multiple, axis, stride),
        fmt::format("choose sizes that {} divides, or emit the kernel again for this size",
                    multiple));
}

Diagnostic grid_too_large(const std::string& kernel, std::int64_t blocks, std::int64_t most) {
    return plain_error(
        "E0920",
        fmt::format("kernel `{}` would need {} blocks; there are at most {}", kernel, blocks, most),
        "choose larger groups");
}

}  // namespace napkin::messages
