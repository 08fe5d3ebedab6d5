// Wording of what stands in the way of measuring, one factory a code.
#pragma once

#include <string>
#include <vector>

#include "diagrams/diagnostic.h"

namespace napkin::cli {

[[nodiscard]] Diagnostic measurements_unusable(const std::string& path, const std::string& why);
/// Candidates of which there is no measurement, where no device can make one; `where` says what was
/// looked at.
[[nodiscard]] Diagnostic nothing_to_measure_on(const std::string& why_no_device,
                                               const std::vector<std::string>& missing,
                                               std::size_t all, const std::string& where);
/// Of `calibrate`.
[[nodiscard]] Diagnostic calibration_stopped();
[[nodiscard]] Diagnostic no_machine_of_device(const std::string& device);
[[nodiscard]] Diagnostic other_device(const std::string& device, const std::string& machine);

}  // namespace napkin::cli
