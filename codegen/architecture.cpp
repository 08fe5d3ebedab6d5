#include "codegen/architecture.h"

#include <algorithm>
#include <array>

#include "codegen/messages.h"

namespace napkin {
namespace {

struct Row {
    int capability = 0;
    std::int64_t kilobytes = 0;  ///< KiB of shared memory of a block, opt-in
};

// CUDA C++ Programming Guide 13.0, technical specifications per compute capability: maximum amount
// of shared memory per thread block.
constexpr std::array kRows = {
    Row{70, 96},   Row{72, 96},  Row{75, 64},  Row{80, 163},  Row{86, 99},
    Row{87, 163},  Row{89, 99},  Row{90, 227}, Row{100, 227}, Row{103, 227},
    Row{110, 227}, Row{120, 99}, Row{121, 99},
};

std::string name_of(const Row& row) {
    return "sm_" + std::to_string(row.capability);
}

}  // namespace

Result<Architecture> find_architecture(const std::string& name) {
    constexpr std::int64_t kKilobyte = 1024;
    std::string plain = name;
    if (plain.ends_with('a') || plain.ends_with('f')) plain.pop_back();
    const auto row = std::find_if(kRows.begin(), kRows.end(),
                                  [&](const Row& known) { return name_of(known) == plain; });
    if (row == kRows.end()) return messages::unknown_architecture(name);
    return Architecture{name, row->capability, row->kilobytes * kKilobyte};
}

std::vector<std::string> architecture_names() {
    std::vector<std::string> names;
    for (const Row& row : kRows) names.push_back(name_of(row));
    return names;
}

bool runs_on(const std::string& target, const Architecture& architecture) {
    const int least = least_capability(target);
    return runs_there_alone(target) ? architecture.capability == least
                                    : architecture.capability >= least;
}

bool runs_there_alone(const std::string& target) {
    return target.starts_with("sm_") && target.ends_with('a');
}

std::string least_compiled(const std::string& target) {
    return "sm_" + std::to_string(std::max(least_capability(target), kLeastCompiled));
}

int least_capability(const std::string& target) {
    constexpr int kLeast = 70;
    if (!target.starts_with("sm_")) return kLeast;
    const Result<Architecture> named = find_architecture(target);
    return named ? named->capability : kLeast;
}

}  // namespace napkin
