// Measures what a machine file tells of a device.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/run/microbenchmark_device.h"
#include "codegen/run/nvml.h"
#include "perfmodel/machine.h"

namespace napkin::cli {

/// One number that was measured.
struct Reading {
    std::string figure;  ///< of machine files; empty where they have none such
    std::string name;    ///< `copy by 132 blocks`
    double value = 0;    ///< in bytes, seconds, so many a second or a clock, ...
    std::string text;    ///< `4.25 TB/s`
    std::string how;     ///< `of 2.15 GB by 132 blocks of 1024 threads`
};

struct Calibration {
    std::vector<Reading> readings;
    std::vector<std::string> missing;  ///< what could not be measured, and why
};

/// Told what is measured next; false stops.
using CalibrationProceed = std::function<bool(std::size_t done, const std::string& what)>;
/// How often `calibrate` tells, about.
inline constexpr std::size_t kCalibrationSteps = 40;

/// Measures all that it can; `base` says in which bandwidth what copies reach is a part of. A
/// device that fails, and a stop, are diagnostics.
[[nodiscard]] Result<Calibration> calibrate(MicrobenchmarkDevice& device, const Machine& base,
                                            const CalibrationProceed& proceed);
/// The base machine with every reading of a figure in its place, `measured` and with how.
[[nodiscard]] Machine machine_with(const Machine& base, const Calibration& calibration,
                                   const DeviceStatus& device);

}  // namespace napkin::cli
