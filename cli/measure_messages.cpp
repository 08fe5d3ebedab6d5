#include "cli/measure_messages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace napkin::cli {

Diagnostic measurements_unusable(const std::string& path, const std::string& why) {
    return plain_error("E9081", "cannot use the measurements in `" + path + "`: " + why,
                       "move the file away, and a new one is made; or name another with "
                       "`--measurements`");
}

Diagnostic nothing_to_measure_on(const std::string& why_no_device,
                                 const std::vector<std::string>& missing, std::size_t all,
                                 const std::string& where) {
    return plain_error(
        "E9082",
        fmt::format("{}, and {} of {} candidates are not recorded {}:\n  {}", why_no_device,
                    missing.size(), all, where, fmt::join(missing, "\n  ")),
        "run the same command where the GPU is, and bring the file of `--measurements` here; "
        "without `--measure` candidates are ranked by the model",
        Failure::Missing);
}

Diagnostic calibration_stopped() {
    return plain_error("E9083", "stopped before all was measured, and nothing is written",
                       "the same command begins again");
}

Diagnostic no_machine_of_device(const std::string& device) {
    return plain_error("E9084", "there is no machine file for " + device,
                       "name one to start from, whose figures stay where none is measured: "
                       "`napkin calibrate A100 -o mine.toml`");
}

Diagnostic other_device(const std::string& device, const std::string& machine) {
    Diagnostic warning = plain_error(
        "W9002",
        fmt::format("predictions are for {}, and kernels are timed on {}", machine, device),
        "name the machine that is there with `--machine`");
    warning.severity = Severity::Warning;
    return warning;
}

}  // namespace napkin::cli
