// Wording of the diagnostics of compiling and running: one factory a code.
#pragma once

#include <string>

#include "diagrams/diagnostic.h"

namespace napkin::messages {

[[nodiscard]] Diagnostic nvrtc_missing(const std::string& why);
[[nodiscard]] Diagnostic architecture_unknown(const std::string& architecture,
                                              const std::string& version);
[[nodiscard]] Diagnostic driver_missing(const std::string& why);
[[nodiscard]] Diagnostic device_failed(const std::string& call, const std::string& why);
/// Whether these tell of such a failure, after which a device may do nothing more for this process.
[[nodiscard]] bool is_failure_of_device(const Diagnostics& problems);
[[nodiscard]] Diagnostic shared_memory_of_device(const std::string& kernel, std::int64_t needed,
                                                 std::int64_t available, const std::string& device);
[[nodiscard]] Diagnostic host_compiler_missing();
[[nodiscard]] Diagnostic cannot_write_cache(const std::string& path, const std::string& why);
[[nodiscard]] Diagnostic size_is_fixed(const std::string& kernel, const std::string& axis,
                                       std::int64_t fixed, std::int64_t given);
[[nodiscard]] Diagnostic size_above_limit(const std::string& kernel, const std::string& axis,
                                          std::int64_t limit, std::int64_t given);
[[nodiscard]] Diagnostic size_too_large(const std::string& kernel, const std::string& axis,
                                        std::int64_t limit, std::int64_t given);
[[nodiscard]] Diagnostic stride_is_no_multiple(const std::string& kernel, const std::string& array,
                                               const std::string& axis, std::int64_t stride,
                                               std::int64_t multiple);
[[nodiscard]] Diagnostic grid_too_large(const std::string& kernel, std::int64_t blocks,
                                        std::int64_t most);

}  // namespace napkin::messages
