#include "cli/calibration.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "cli/measure_messages.h"

namespace napkin::cli {
namespace {

/// So long a unit is kept busy while its energy is counted, in seconds; the counter moves some ten
/// times a second.
constexpr double kLong = 2;
constexpr double kBatch = 0.1;
constexpr int kTries = 3;

/// `4.25 TB/s`: with the largest of some units that leaves a number of at least one.
std::string with_unit(double value, std::initializer_list<std::pair<const char*, double>> units) {
    const auto* chosen = units.begin();
    for (const auto& unit : units)
        if (value >= unit.second) chosen = &unit;
    return fmt::format("{:.4g} {}", value / chosen->second, chosen->first);
}
std::string bandwidth_text(double value) {
    return with_unit(value, {{"B/s", 1}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}});
}
std::string seconds_text(double value) {
    return with_unit(value, {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}});
}
std::string energy_text(double value) {
    return with_unit(value, {{"pJ", 1e-12}, {"nJ", 1e-9}});
}
std::string blocks_text(std::int64_t blocks) {
    return fmt::format("{} block{}", blocks, blocks == 1 ? "" : "s");
}

/// `227 KiB`, `143771 MiB`, in the largest unit that leaves a whole number.
std::string capacity_text_of(double bytes) {
    constexpr double kKibi = 1024;
    const char* const units[] = {"B", "KiB", "MiB", "GiB"};
    std::size_t unit = 0;
    while (unit + 1 < std::size(units) && bytes >= kKibi && std::fmod(bytes, kKibi) == 0) {
        bytes /= kKibi;
        ++unit;
    }
    return fmt::format("{:.0f} {}", bytes, units[unit]);
}

std::int64_t power_of_two_below(double value) {
    std::int64_t power = 1;
    while (2 * static_cast<double>(power) <= value) power *= 2;
    return power;
}

/// A diagnostic on its way out of the measurements.
struct Stopped {
    Diagnostics why;
};

class Calibrator {
public:
    Calibrator(MicrobenchmarkDevice& device, const Machine& base, const CalibrationProceed& proceed)
        : device_(device),
          base_(base),
          proceed_(proceed),
          benchmarks_(microbenchmarks(device.status().architecture)),
          processors_(std::max<std::int64_t>(1, device.status().processors)) {
        std::variant<Nvml, std::string> nvml = Nvml::open(device.bus());
        if (Nvml* there = std::get_if<Nvml>(&nvml))
            nvml_ = *there;
        else
            result_.missing.push_back("power and energy: " + std::get<std::string>(nvml));
    }

    Calibration all();

private:
    void tell_attributes();
    void measure_idle();
    void measure_copies();
    void measure_cache();
    void measure_units();
    void measure_products();
    void measure_latencies();
    void measure_energies();

    void tell(std::string figure, std::string name, double value, std::string text,
              std::string how) {
        result_.readings.push_back(
            {std::move(figure), std::move(name), value, std::move(text), std::move(how)});
    }
    [[nodiscard]] const Microbenchmark& named(const std::string& name) const {
        const Microbenchmark* found = find_microbenchmark(benchmarks_, name);
        invariant(found != nullptr, "there is no microbenchmark ", name);
        return *found;
    }
    MicrobenchmarkTimes run(const std::string& name, const MicrobenchmarkRun& how);
    MicrobenchmarkTimes best(const std::string& name, const MicrobenchmarkRun& how);
    double per_clock(const std::string& name, std::int64_t rounds);
    void measure_energy(const std::string& figure, const std::string& name,
                        const MicrobenchmarkRun& how, double work);

    MicrobenchmarkDevice& device_;
    const Machine& base_;
    const CalibrationProceed& proceed_;
    std::vector<Microbenchmark> benchmarks_;
    std::int64_t processors_;
    std::optional<Nvml> nvml_;
    std::optional<double> idle_;  ///< watts
    std::string best_product_;    ///< of bf16
    std::size_t done_ = 0;
    Calibration result_;
};

MicrobenchmarkTimes Calibrator::run(const std::string& name, const MicrobenchmarkRun& how) {
    const Result<MicrobenchmarkTimes> times = device_.run(named(name), how);
    if (!times) throw Stopped{times.error()};
    return *times;
}

/// The shortest of some tries.
MicrobenchmarkTimes Calibrator::best(const std::string& name, const MicrobenchmarkRun& how) {
    if (!proceed_(done_++, name)) throw Stopped{{{calibration_stopped()}}};
    MicrobenchmarkTimes best = run(name, how);
    for (int i = 1; i < kTries; ++i) {
        const MicrobenchmarkTimes again = run(name, how);
        if (again.seconds < best.seconds) best = again;
    }
    return best;
}

/// Work of a processor in a clock, a block on each.
double Calibrator::per_clock(const std::string& name, std::int64_t rounds) {
    const Microbenchmark& benchmark = named(name);
    const MicrobenchmarkTimes times = best(name, {.blocks = processors_, .rounds = rounds});
    const double work = benchmark.work * benchmark.kernel.threads / benchmark.threads_of_work;
    return work * static_cast<double>(rounds) / times.clocks;
}

void Calibrator::tell_attributes() {
    for (const auto& [figure, value] : device_.attributes()) {
        const bool is_count = figure == "block.processors" || figure == "processor.threads" ||
                              figure == "processor.blocks";
        tell(figure, figure, value,
             is_count ? fmt::format("{:.0f}", value) : capacity_text_of(value),
             "as the driver says");
    }
}

void Calibrator::measure_idle() {
    if (!nvml_) return;
    if (const std::optional<double> limit = nvml_->limit_watts())
        tell("power.limit", "limit of power", *limit, fmt::format("{:.4g} W", *limit),
             "as NVML says");
    if (const std::optional<double> clock = nvml_->highest_clock())
        tell("", "highest clock", *clock, fmt::format("{:.4g} MHz", *clock / 1e6), "as NVML says");
    constexpr useconds_t kPause = 500000;
    ::usleep(kPause);
    idle_ = nvml_->watts();
    if (idle_ && *idle_ > 0)
        tell("power.idle", "power with nothing to do", *idle_, fmt::format("{:.3g} W", *idle_),
             "as NVML says after half a second");
}

void Calibrator::measure_copies() {
    double most = 0;
    std::string by;
    std::vector<std::int64_t> counts;
    for (std::int64_t blocks = 1; blocks < processors_; blocks *= 2) counts.push_back(blocks);
    for (const std::int64_t each : {1, 2, 4}) counts.push_back(each * processors_);
    for (const std::int64_t blocks : counts) {
        constexpr std::int64_t kLittle = std::int64_t{1} << 28;
        const std::int64_t bytes = 4 * blocks < processors_
                                       ? std::min(kLittle, device_.buffer_bytes())
                                       : device_.buffer_bytes();
        const MicrobenchmarkTimes times = best("copy", {.blocks = blocks, .bytes = bytes});
        const double rate = static_cast<double>(bytes) / times.seconds;
        const std::string how = capacity_text_of(static_cast<double>(bytes)) + " by " +
                                blocks_text(blocks) + " of 1024 threads";
        tell("", "copy by " + blocks_text(blocks), rate, bandwidth_text(rate), how);
        if (rate <= most) continue;
        most = rate;
        by = how;
    }
    const std::optional<BytesPerSecond> whole = base_.bandwidth(Level::Device);
    if (!whole) return tell("device.bandwidth", "copy", most, bandwidth_text(most), by);
    const double share = most / whole->value;
    tell("device.reached", "copy, of the bandwidth", share, fmt::format("{:.3g} %", 100 * share),
         fmt::format("{} of {}, a copy of {}", bandwidth_text(most), bandwidth_text(whole->value),
                     by));
}

void Calibrator::measure_cache() {
    const auto capacity = device_.attributes().find("cache.capacity");
    if (capacity == device_.attributes().end()) {
        result_.missing.push_back("cache.bandwidth: the driver knows no cache");
        return;
    }
    constexpr std::int64_t kRounds = 8;
    const std::int64_t bytes =
        std::min(power_of_two_below(capacity->second / 4), device_.buffer_bytes());
    double most = 0;
    double most_of_one = 0;
    std::string by;
    std::string by_one;
    for (const auto& [name, blocks] : {std::pair{"read", 2 * processors_}, {"bulk", processors_}}) {
        if (find_microbenchmark(benchmarks_, name) == nullptr) continue;
        const double read = static_cast<double>(bytes) * kRounds;
        const MicrobenchmarkTimes all =
            best(name, {.blocks = blocks, .bytes = bytes, .rounds = kRounds});
        const double rate = read * static_cast<double>(blocks) / all.seconds;
        const std::string how = fmt::format("`{}` of {} by {} blocks", name,
                                            capacity_text_of(static_cast<double>(bytes)), blocks);
        tell("", fmt::format("cache, {}", name), rate, bandwidth_text(rate), how);
        if (rate > most) by = how;
        most = std::max(most, rate);
        const MicrobenchmarkTimes one =
            best(name, {.blocks = 1, .bytes = bytes, .rounds = kRounds});
        if (read / one.clocks > most_of_one) by_one = fmt::format("`{}` by one block", name);
        most_of_one = std::max(most_of_one, read / one.clocks);
    }
    tell("cache.bandwidth", "cache", most, bandwidth_text(most), by);
    tell("cache.port", "cache to one processor", most_of_one,
         fmt::format("{:.3g} B/clk", most_of_one), by_one);
}

void Calibrator::measure_units() {
    constexpr std::int64_t kRounds = 8192;
    const auto unit = [&](const char* figure, const char* name, const char* what) {
        const double rate = per_clock(name, kRounds);
        tell(figure, name, rate, fmt::format("{:.4g} {}", rate, what),
             fmt::format("`{}` on each processor", name));
    };
    unit("block.bandwidth", "shared", "B/clk");
    unit("processor.arithmetic", "arithmetic", "op/clk");
    unit("processor.exponential", "exponential", "op/clk");
    if (find_microbenchmark(benchmarks_, "cluster") == nullptr) return;
    const Microbenchmark& cluster = named("cluster");
    const std::int64_t blocks = processors_ / 2 * 2;
    const MicrobenchmarkTimes times = best("cluster", {.blocks = blocks, .rounds = kRounds});
    const double rate = cluster.work * cluster.kernel.threads *
                        static_cast<double>(kRounds * blocks) / times.seconds;
    tell("cluster.bandwidth", "cluster", rate, bandwidth_text(rate),
         "reads of the neighbour's shared memory in clusters of two");
}

void Calibrator::measure_products() {
    constexpr std::int64_t kRounds = 4096;
    struct Best {
        double rate = 0;
        std::string name;
    };
    std::map<std::string, Best> types;
    for (const Microbenchmark& each : benchmarks_) {
        const bool is_product = each.name.starts_with("mma") || each.name.starts_with("wgmma");
        if (!is_product || each.name.find("each after") != std::string::npos) continue;
        const double rate = per_clock(each.name, kRounds);
        tell("", each.name, rate, fmt::format("{:.5g} FLOP/clk", rate), each.what);
        Best& best = types[each.name.substr(each.name.rfind(' ') + 1)];
        if (rate > best.rate) best = {rate, each.name};
    }
    best_product_ = types["bf16"].name;
    for (const auto& [type, best] : types) {
        // Where warp groups multiply, what a warp's instructions reach is not the unit's rate.
        const bool is_whole =
            best.name.starts_with("wgmma") || !types["bf16"].name.starts_with("wgmma");
        if (is_whole)
            tell("tensor_core." + type, "products of " + type, best.rate,
                 fmt::format("{:.5g} FLOP/clk", best.rate),
                 "`" + best.name + "` on each processor");
        else
            result_.missing.push_back("tensor_core." + type +
                                      ": no instruction of a warp group is measured for it");
    }
}

void Calibrator::measure_latencies() {
    constexpr int kLaunches = 1000;
    const MicrobenchmarkTimes launches = best("launch", {.launches = kLaunches});
    const double launch = launches.seconds / kLaunches;
    tell("latency.launch", "launch", launch, seconds_text(launch),
         fmt::format("{} empty kernels one after the other", kLaunches));
    const auto each = [&](const char* figure, const std::string& name, double of_round,
                          std::int64_t bytes = 0, std::int64_t rounds = 20000) {
        const MicrobenchmarkTimes times =
            best(name, {.blocks = 1, .bytes = bytes, .rounds = rounds});
        const double seconds = times.nanoseconds * 1e-9 / (of_round * static_cast<double>(rounds));
        const std::string where =
            bytes == 0 ? "" : ", " + capacity_text_of(static_cast<double>(bytes));
        tell(figure, name + where, seconds, seconds_text(seconds), "one block");
    };
    each("latency.barrier", "barrier", 1);
    each("", "dependent", 32);
    for (const Microbenchmark& benchmark : benchmarks_)
        if (benchmark.name.find("each after") != std::string::npos) each("", benchmark.name, 8);
    for (const std::int64_t bytes : {std::int64_t{1} << 22, device_.buffer_bytes()}) {
        static_cast<void>(run("link", {.blocks = processors_, .bytes = bytes}));
        // So many lines of 128 bytes that no cache still has the first when it is read again.
        each(bytes == device_.buffer_bytes() ? "latency.load" : "", "chase", 1, bytes,
             std::min(bytes / 128, std::int64_t{1} << 21));
    }
}

/// Keeps a unit busy, and shares out what the device draws beyond what it draws idle.
void Calibrator::measure_energy(const std::string& figure, const std::string& name,
                                const MicrobenchmarkRun& how, double work) {
    using Clock = std::chrono::steady_clock;
    MicrobenchmarkRun batch = how;
    batch.launches = std::max(1, static_cast<int>(kBatch / best(name, how).seconds));
    const std::optional<double> before = nvml_ ? nvml_->joules() : std::nullopt;
    const Clock::time_point start = Clock::now();
    MicrobenchmarkTimes last;
    double busy = 0;
    double launches = 0;
    while (busy < kLong) {
        last = run(name, batch);
        busy += last.seconds;
        launches += batch.launches + 1;
    }
    const double wall = std::chrono::duration<double>(Clock::now() - start).count();
    const std::optional<double> after = nvml_ ? nvml_->joules() : std::nullopt;
    if (name == best_product_ && last.nanoseconds > 0) {
        const double clock = last.clocks / last.nanoseconds * 1e9;
        tell("processor.sustained", "clock under products", clock,
             fmt::format("{:.4g} MHz", clock / 1e6),
             fmt::format("clocks a nanosecond after {:.1f} s of `{}`", busy, name));
    }
    if (!before || !after || !idle_) return;
    const double spent = *after - *before;
    tell("", name + ", power", spent / wall, fmt::format("{:.3g} W", spent / wall),
         fmt::format("NVML's energy over {:.1f} s", wall));
    const double each = (spent - *idle_ * wall) / (work * launches);
    if (each > 0)
        tell(figure, name + ", energy", each, energy_text(each),
             fmt::format("NVML's energy over {:.1f} s of `{}`, less that of an idle device", wall,
                         name));
    else
        result_.missing.push_back(figure + ": the device draws no more than idle");
}

void Calibrator::measure_energies() {
    constexpr std::int64_t kRounds = 32768;
    const auto on_all = [&](const std::string& figure, const std::string& name) {
        const Microbenchmark& benchmark = named(name);
        measure_energy(figure, name, {.blocks = processors_, .rounds = kRounds},
                       benchmark.work * benchmark.kernel.threads / benchmark.threads_of_work *
                           static_cast<double>(processors_ * kRounds));
    };
    on_all("energy.tensor_core", best_product_);
    on_all("energy.arithmetic", "arithmetic");
    on_all("energy.exponential", "exponential");
    on_all("energy.block", "shared");
    measure_energy("energy.device", "copy",
                   {.blocks = 2 * processors_, .bytes = device_.buffer_bytes()},
                   static_cast<double>(device_.buffer_bytes()));
    const auto capacity = device_.attributes().find("cache.capacity");
    if (capacity == device_.attributes().end()) return;
    const std::int64_t bytes =
        std::min(power_of_two_below(capacity->second / 4), device_.buffer_bytes());
    constexpr std::int64_t kReads = 16;
    measure_energy("energy.cache", "read",
                   {.blocks = 2 * processors_, .bytes = bytes, .rounds = kReads},
                   static_cast<double>(2 * processors_ * bytes * kReads));
}

Calibration Calibrator::all() {
    tell_attributes();
    measure_idle();
    measure_copies();
    measure_cache();
    measure_units();
    measure_products();
    measure_latencies();
    measure_energies();
    return std::move(result_);
}

}  // namespace

Result<Calibration> calibrate(MicrobenchmarkDevice& device, const Machine& base,
                              const CalibrationProceed& proceed) {
    try {
        return Calibrator(device, base, proceed).all();
    } catch (const Stopped& stopped) {
        return stopped.why;
    }
}

Machine machine_with(const Machine& base, const Calibration& calibration,
                     const DeviceStatus& device) {
    Machine machine = base;
    for (const Reading& reading : calibration.readings) {
        if (reading.figure.empty()) continue;
        const auto kind =
            std::find_if(all_figures().begin(), all_figures().end(),
                         [&](const FigureKind& each) { return each.key == reading.figure; });
        invariant(kind != all_figures().end(), "no figure is called ", reading.figure);
        std::variant<Figure, std::string> figure = parse_figure(reading.text, kind->dimension);
        invariant(std::holds_alternative<Figure>(figure), "a reading is no figure: ", reading.text);
        Figure& good = std::get<Figure>(figure);
        good.origin = Origin::Measured;
        good.source = fmt::format("napkin calibrate on {}, driver {}: {}", device.name,
                                  device.driver, reading.how);
        machine.figures[reading.figure] = std::move(good);
    }
    return machine;
}

}  // namespace napkin::cli
