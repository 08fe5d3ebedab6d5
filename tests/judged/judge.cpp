#include "tests/judged/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "perfmodel/time.h"

namespace napkin::test {
namespace {

constexpr std::array kGroups = {"attention", "products", "rows", "fused, variants, split", "simt"};

/// What no data sheet says.
constexpr std::array kCalibrated = {
    "block.fetched",      "processor.issued",      "processor.exposed",     "tensor_core.reached",
    "latency.start",      "latency.product",       "device.reached",        "cache.port",
    "cache.bandwidth",    "warp_group.reached",    "warp_group.fetched",    "warp_group.issued",
    "warp_group.exposed", "warp_group.overlapped", "latency.group_product", "latency.group_block"};

struct Interval {
    double low = 0;
    double high = 0;
    [[nodiscard]] double middle() const { return (low + high) / 2; }
};

/// Kernels one after the other; what is cold is so once.
Interval predicted(const Recorded& row, const Machine& machine) {
    Interval all;
    for (const KernelWork& kernel : row.kernels) {
        const TimeEstimate time = time_of(kernel, machine);
        all.low += 1e6 * time.low.value;
        all.high += 1e6 * time.high.value;
    }
    return all;
}

bool decided_by_data(const Recorded& row) {
    return std::any_of(row.kernels.begin(), row.kernels.end(),
                       [](const KernelWork& kernel) { return kernel.data_decides; });
}

double error_of(const Recorded& row, const Machine& machine) {
    return predicted(row, machine).middle() / row.microseconds - 1;
}

double loss(const std::vector<Recorded>& rows, const Machine& machine) {
    double total = 0;
    for (const char* group : kGroups) {
        double sum = 0;
        double count = 0;
        for (const Recorded& row : rows) {
            if (row.group != group || row.held_out || decided_by_data(row) || row.group == "simt")
                continue;
            // One that the model has nothing to say about should not bend the others.
            sum += std::min(1.0, std::abs(std::log(1 + error_of(row, machine))));
            count += 1;
        }
        if (count > 0) total += sum / count;
    }
    return total;
}

}  // namespace

Errors errors_of(const std::vector<Recorded>& rows, const Machine& machine,
                 const std::string& group, bool held_out) {
    std::vector<double> errors;
    double inside = 0;
    for (const Recorded& row : rows) {
        if (row.group != group || row.held_out != held_out) continue;
        const Interval time = predicted(row, machine);
        errors.push_back(std::abs(error_of(row, machine)));
        inside += row.microseconds >= time.low && row.microseconds <= time.high ? 1 : 0;
    }
    if (errors.empty()) return {};
    std::sort(errors.begin(), errors.end());
    const std::size_t count = errors.size();
    const double median = (errors[(count - 1) / 2] + errors[count / 2]) / 2;
    const auto ninth = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(count))) - 1;
    return {count, median, errors[ninth], inside / static_cast<double>(count)};
}

std::string table(const std::vector<Recorded>& rows, const Machine& machine) {
    std::string text =
        "| | held out: rows | median | p90 | inside | fitted: rows | median | p90 | inside |\n"
        "|---|---|---|---|---|---|---|---|---|\n";
    const auto cells = [](const Errors& errors) {
        if (errors.count == 0) return std::string(" 0 | | | |");
        return fmt::format(" {} | {:.1f} % | {:.1f} % | {:.0f} % |", errors.count,
                           100 * errors.median, 100 * errors.most_of_ten, 100 * errors.inside);
    };
    for (const char* group : kGroups)
        text += fmt::format("| {} |{}{}\n", group, cells(errors_of(rows, machine, group, true)),
                            cells(errors_of(rows, machine, group, false)));
    std::vector<const Recorded*> worst;
    for (const Recorded& row : rows) worst.push_back(&row);
    std::stable_sort(worst.begin(), worst.end(), [&](const Recorded* a, const Recorded* b) {
        return std::abs(error_of(*a, machine)) > std::abs(error_of(*b, machine));
    });
    text += "\n| the ten furthest | measured | predicted | error |\n|---|---|---|---|\n";
    worst.resize(std::min<std::size_t>(worst.size(), 10));
    for (const Recorded* row : worst)
        text += fmt::format("| {} | {:.1f} us | {:.1f} us | {:+.0f} % |\n", row->text(),
                            row->microseconds, predicted(*row, machine).middle(),
                            100 * error_of(*row, machine));
    return text;
}

Machine fitted(const std::vector<Recorded>& rows, Machine machine, int steps) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    double least = loss(rows, machine);
    for (int step = 0; step < steps; ++step) {
        const double width = 0.2 * std::pow(0.02, static_cast<double>(step) / steps);
        Machine next = machine;
        for (const char* key : kCalibrated)
            if (random() % 3 == 0) next.figures.at(key).value *= std::exp(width * normal(random));
        const double now = loss(rows, next);
        if (now >= least) continue;
        least = now;
        machine = std::move(next);
    }
    return machine;
}

}  // namespace napkin::test
