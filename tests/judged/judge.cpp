#include "tests/judged/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

#include <fmt/format.h>

#include "diagrams/drawing/plot.h"
#include "diagrams/drawing/render.h"
#include "perfmodel/block_time.h"
#include "perfmodel/time.h"

namespace napkin::test {
namespace {

constexpr std::array kGroups = {"attention", "products",  "rows", "fused, variants, split",
                                "simt",      "operations"};

/// What no data sheet says.
constexpr std::array kCalibrated = {
    "block.exposed",         "block.fetched",         "processor.issued",    "processor.exposed",
    "latency.start",         "latency.device",        "tensor_core.reached", "latency.instruction",
    "device.reached",        "warp_group.reached",    "warp_group.issued",   "warp_group.exposed",
    "warp_group.overlapped", "latency.group_product", "cache.exposed",       "cache.bandwidth",
    "latency.copy",          "power.reached"};

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

/// The mean error of each group, in logarithms, by the root of how many rows it has: few of them
/// say little. One that the model has nothing to say about should not bend the others.
double loss(const std::vector<Recorded>& rows, const Machine& machine) {
    constexpr double kMost = 0.5;
    const BlockClock clock(machine);
    std::map<std::string, std::pair<double, double>> groups;
    for (const Recorded& row : rows) {
        if (row.held_out || decided_by_data(row)) continue;
        double seconds = 0;
        for (const KernelWork& kernel : row.kernels) seconds += clock.times_of(kernel).high;
        auto& [sum, count] = groups[row.group];
        sum += std::min(kMost, std::abs(std::log(1e6 * seconds / row.microseconds)));
        count += 1;
    }
    double total = 0;
    for (const auto& [group, errors] : groups) total += errors.first / std::sqrt(errors.second);
    return total;
}

/// What a figure may be: a share that shows is one at most, tensor cores reach what a clock above
/// the sustained one gives, and lines that two warps fetch may come once.
double within(std::string_view key, double value) {
    constexpr double kHighestClock = 1.13;
    constexpr double kTwice = 2;
    if (key.ends_with("exposed")) return std::min(value, 1.0);
    if (key.ends_with("reached") && !key.starts_with("power"))
        return std::min(value, kHighestClock);
    if (key.ends_with("fetched")) return std::min(value, kTwice);
    return value;
}

/// One descent: each figure goes up or down by a step that grows while that helps, until all steps
/// are small. Returns the loss.
double descend(const std::vector<Recorded>& rows, Machine& machine) {
    constexpr double kFirstStep = 0.2;
    constexpr double kLastStep = 2e-3;
    double least = loss(rows, machine);
    const auto try_step = [&](const char* key, double step) {
        double& value = machine.figures.at(key).value;
        const double before = value;
        value = within(key, value * std::exp(step));
        const double now = loss(rows, machine);
        if (now < least) {
            least = now;
            return true;
        }
        value = before;
        return false;
    };
    std::array<double, kCalibrated.size()> steps{};
    steps.fill(kFirstStep);
    while (*std::max_element(steps.begin(), steps.end()) > kLastStep)
        for (std::size_t at = 0; at < steps.size(); ++at) {
            const bool better = try_step(kCalibrated.at(at), steps.at(at)) ||
                                try_step(kCalibrated.at(at), -steps.at(at));
            steps.at(at) *= better ? 1.5 : 0.5;
        }
    return least;
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

namespace {

/// Rows that differ in how they are made alone: by workload, or by that and its sizes.
std::vector<std::vector<const Recorded*>> alike(const std::vector<Recorded>& rows, bool by_sizes) {
    std::map<std::string, std::vector<const Recorded*>> sets;
    for (const Recorded& row : rows) sets[by_sizes ? row.text() : row.workload].push_back(&row);
    std::vector<std::vector<const Recorded*>> found;
    constexpr std::size_t kFewest = 3;
    for (auto& [name, set] : sets)
        if (set.size() >= kFewest) found.push_back(std::move(set));
    return found;
}

/// The sorted list's value at a part of its length.
double at_part(std::vector<double> values, double part) {
    std::sort(values.begin(), values.end());
    const double count = static_cast<double>(values.size());
    return values[static_cast<std::size_t>(std::ceil(part * count)) - 1];
}

/// Pairs of one set that the model puts in the measured order, less those that it does not, as a
/// part of all.
double kendall(const std::vector<const Recorded*>& set, const Machine& machine) {
    double agreed = 0;
    double pairs = 0;
    for (std::size_t a = 0; a < set.size(); ++a)
        for (std::size_t b = a + 1; b < set.size(); ++b) {
            const double measured = set[a]->microseconds - set[b]->microseconds;
            const double modelled =
                predicted(*set[a], machine).middle() - predicted(*set[b], machine).middle();
            agreed += measured * modelled > 0 ? 1 : measured * modelled < 0 ? -1 : 0;
            pairs += 1;
        }
    return agreed / pairs;
}

/// The fastest measured of the model's first choices, by the fastest measured of all.
double regret(std::vector<const Recorded*> set, const Machine& machine, std::size_t first) {
    std::stable_sort(set.begin(), set.end(), [&](const Recorded* a, const Recorded* b) {
        return predicted(*a, machine).middle() < predicted(*b, machine).middle();
    });
    const auto faster = [](const Recorded* a, const Recorded* b) {
        return a->microseconds < b->microseconds;
    };
    const auto end = set.begin() + static_cast<std::ptrdiff_t>(std::min(first, set.size()));
    return (*std::min_element(set.begin(), end, faster))->microseconds /
           (*std::min_element(set.begin(), set.end(), faster))->microseconds;
}

std::string ranking(const std::vector<Recorded>& rows, const Machine& machine) {
    constexpr std::size_t kFew = 8;
    std::vector<double> orders;
    for (const auto& set : alike(rows, false)) orders.push_back(kendall(set, machine));
    std::vector<double> picks;
    std::vector<double> of_few;
    for (const auto& set : alike(rows, true)) {
        picks.push_back(regret(set, machine, 1));
        of_few.push_back(regret(set, machine, kFew));
    }
    return fmt::format(
        "\n| all rows | sets | median | least of nine in ten |\n|---|---|---|---|\n"
        "| Kendall's tau within a workload | {} | {:.2f} | {:.2f} |\n"
        "| the model's pick by the best measured, of sizes made in three ways or more | {} | "
        "{:.3f} | {:.3f} |\n"
        "| the best of its first eight | {} | {:.3f} | {:.3f} |\n",
        orders.size(), at_part(orders, 0.5), at_part(orders, 0.1), picks.size(),
        at_part(picks, 0.5), at_part(picks, 0.9), of_few.size(), at_part(of_few, 0.5),
        at_part(of_few, 0.9));
}

}  // namespace

std::string table(const Records& records, const Machine& machine) {
    const std::vector<Recorded>& rows = records.rows;
    std::string text = fmt::format("{} rows, {} struck\n\n", rows.size(), records.struck);
    text +=
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
    text += ranking(rows, machine);
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

std::string scatter(const Records& records, const Machine& machine) {
    const auto text = [](double seconds) { return text_of(Seconds{seconds}); };
    drawing::Plot plot{
        "predicted over measured times: attention, products, rows, fused, simt, operations",
        {"measured", text},
        {"predicted", text},
        {},
        {}};
    double least = 1;
    double most = 0;
    for (const Recorded& row : records.rows) {
        const double measured = 1e-6 * row.microseconds;
        least = std::min(least, measured);
        most = std::max(most, measured);
        plot.marks.push_back({row.text(), measured, 1e-6 * predicted(row, machine).middle(),
                              row.group.substr(0, 1)});
    }
    plot.curves = {{"as measured", {{least, least}, {most, most}}, drawing::Dash::Dashed, 0.8}};
    return drawing::render_svg(drawing::draw_plot(plot));
}

std::string row_list(const std::vector<Recorded>& rows, const Machine& machine) {
    const BlockClock clock(machine);
    std::string text;
    for (const Recorded& row : rows) {
        std::string resident;
        for (const KernelWork& kernel : row.kernels)
            resident += fmt::format(" {}", clock.resident_blocks(kernel));
        text += fmt::format("{}\t{}\t{:.1f}\t{:.1f}\t{:+.1f} %\t{}\t{}\tresident{}\t{}\n",
                            row.group, row.held_out ? "held out" : "fitted", row.microseconds,
                            predicted(row, machine).middle(), 100 * error_of(row, machine),
                            row.text(), row.made, resident, row.file);
    }
    return text;
}

std::string pipeline_list(const std::vector<Recorded>& rows, const Machine& machine) {
    const BlockClock clock(machine);
    std::string text;
    for (const Recorded& row : rows) {
        text += fmt::format("{} {} {}: measured {:.1f}, predicted {:.1f}\n", row.group, row.text(),
                            row.made, row.microseconds, predicted(row, machine).middle());
        for (const KernelWork& kernel : row.kernels) {
            // Of each processor, in microseconds.
            const double each = 1e6 * static_cast<double>(kernel.blocks) /
                                static_cast<double>(machine.processors());
            text += fmt::format("  {}: {} blocks of {} warps, {} resident, {:.1f} alone\n",
                                kernel.name, kernel.blocks, kernel.warps,
                                clock.resident_blocks(kernel), 1e6 * clock.middle_of(kernel).value);
            const auto list = [&](const char* what, const UnitWork& work, double chunks) {
                const Busy busy = clock.busy(work, kernel);
                const double times = each * chunks;
                text += fmt::format(
                    "    {} x {:.0f}: tensor {:.1f}, operands {:.1f}, elements {:.1f}, "
                    "exponentials {:.1f}, arithmetic {:.1f}; {:.0f} B loaded, {:.0f} B saved, "
                    "{:.1f} steps, {:.1f} barriers, {:.0f} own instructions, {:.1f} trips\n",
                    what, chunks, times * busy.tensor, times * busy.operands, times * busy.elements,
                    times * busy.exponentials, times * busy.arithmetic, work.loaded, work.saved,
                    work.steps, work.barriers, work.own_instructions, work.own_trips);
            };
            list("edges", kernel.edges, 1);
            for (const LoopWork& loop : kernel.loops) {
                list(loop.late ? "late" : loop.waits ? "waits" : "loop", loop.chunk, loop.chunks);
                text += fmt::format("      {} stages, {} alone\n", loop.stages, loop.alone.size());
            }
        }
    }
    return text;
}

Machine fitted(const std::vector<Recorded>& rows, Machine machine) {
    constexpr double kWorthwhile = 0.998;
    constexpr int kBeginnings = 12;
    constexpr double kWidth = 0.8;
    const auto settle = [&](Machine at) {
        for (const char* key : kCalibrated) {
            double& value = at.figures.at(key).value;
            value = within(key, value);
        }
        double before = loss(rows, at);
        for (double now = descend(rows, at); now < kWorthwhile * before; now = descend(rows, at))
            before = now;
        return at;
    };
    machine = settle(std::move(machine));
    // Figures stand for each other, and a descent ends near where it begins: others begin beside.
    std::mt19937 random(2412);
    for (int beginning = 0; beginning < kBeginnings; ++beginning) {
        Machine other = machine;
        for (const char* key : kCalibrated) {
            const double part = static_cast<double>(random()) / std::mt19937::max() - 0.5;
            other.figures.at(key).value *= std::exp(kWidth * part);
        }
        other = settle(std::move(other));
        if (loss(rows, other) < loss(rows, machine)) machine = std::move(other);
    }
    return machine;
}

}  // namespace napkin::test
