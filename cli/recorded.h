// Measurements that were written down, a JSON object a line: those of bench/model-on-gpu, which
// tell their steps, and those of bench/peers.py, which name a workload.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/result.h"

namespace napkin::cli {

struct RecordedRow {
    std::string name;  ///< of the diagram or the workload
    std::string target;
    std::map<std::string, double> sizes;
    std::vector<std::string> steps;
    bool tells_steps = false;
    double seconds = 0;
    std::string file;
    std::string device;  ///< as its driver names it; empty where the file does not say
};
/// Rows with a time, which is more than zero; others are headers and failures.
[[nodiscard]] Result<std::vector<RecordedRow>> read_recorded(const std::string& path);

/// What was measured.
struct Measurable {
    const Diagram& diagram;
    std::string name;
    std::string target;
    std::map<std::string, double> sizes;  ///< that were set
    std::vector<std::string> steps;
};
/// The last row of that kernel: its name, target and sizes, and its steps where the row tells them;
/// null where there is none.
[[nodiscard]] const RecordedRow* find_row(const std::vector<RecordedRow>& rows,
                                          const Measurable& wanted);

}  // namespace napkin::cli
