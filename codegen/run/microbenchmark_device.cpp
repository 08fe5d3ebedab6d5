#include "codegen/run/microbenchmark_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/run/device_turn.h"
#include "codegen/run/driver.h"
#include "codegen/run/messages.h"

namespace napkin {
namespace {

constexpr std::int64_t kMostBlocks = 1 << 16;

/// A figure that is an attribute of the device: the number of the driver's enumeration.
struct AttributeFigure {
    const char* figure;
    int attribute;
    double unit = 1;
};
constexpr std::array kAttributes = {
    AttributeFigure{"block.processors", 16},  AttributeFigure{"cache.capacity", 38},
    AttributeFigure{"block.capacity", 97},    AttributeFigure{"block.per_processor", 81},
    AttributeFigure{"block.reserved", 111},   AttributeFigure{"processor.registers", 82, 4},
    AttributeFigure{"processor.threads", 39}, AttributeFigure{"processor.blocks", 106},
};

double median(std::vector<std::uint64_t> values) {
    std::sort(values.begin(), values.end());
    return static_cast<double>(values[values.size() / 2]);
}

}  // namespace

MicrobenchmarkDevice::MicrobenchmarkDevice() = default;
MicrobenchmarkDevice::MicrobenchmarkDevice(MicrobenchmarkDevice&&) noexcept = default;
MicrobenchmarkDevice& MicrobenchmarkDevice::operator=(MicrobenchmarkDevice&&) noexcept = default;
// The buffers end with the process.
MicrobenchmarkDevice::~MicrobenchmarkDevice() = default;

const DeviceStatus& MicrobenchmarkDevice::status() const {
    return driver_->status();
}

Result<MicrobenchmarkDevice> MicrobenchmarkDevice::open(std::int64_t most_bytes) {
    Result<Driver> driver = Driver::open(0);
    if (!driver) return driver.error();
    MicrobenchmarkDevice device;
    device.driver_ = std::make_unique<Driver>(std::move(driver).value());
    device.turn_ = std::make_unique<DeviceTurn>(0);
    try {
        const Driver& there = *device.driver_;
        for (const AttributeFigure& each : kAttributes)
            if (const int value = there.attribute(each.attribute); value > 0)
                device.attributes_[each.figure] = value * each.unit;
        const std::int64_t memory = there.memory_bytes();
        device.attributes_["device.capacity"] = static_cast<double>(memory);
        device.bus_ = there.bus();
        device.bytes_ = most_bytes;
        while (device.bytes_ > memory / 8) device.bytes_ /= 2;
        device.buffer_ = there.allocate(device.bytes_);
        there.fill(device.buffer_, 0, device.bytes_);
        device.times_ = there.allocate(2 * kMostBlocks * sizeof(std::uint64_t));
    } catch (const DriverError& error) {
        return messages::device_failed(error.call(), error.what());
    }
    return device;
}

Result<MicrobenchmarkTimes> MicrobenchmarkDevice::run(const Microbenchmark& benchmark,
                                                      const MicrobenchmarkRun& run) {
    invariant(run.blocks <= kMostBlocks && run.bytes <= bytes_, "a microbenchmark is too large");
    const EmittedKernel& kernel = benchmark.kernel;
    try {
        void*& function = loaded_[benchmark.name];
        if (function == nullptr) {
            CompileOptions options;
            options.architecture = status().architecture;
            const Result<CompiledKernel> compiled = compile(kernel, options);
            if (!compiled) return compiled.error();
            function = driver_->load(*compiled, kernel.shared_bytes);
        }
        std::uint64_t times = times_;
        std::uint64_t buffer = buffer_;
        std::int64_t bytes = run.bytes;
        std::int64_t rounds = run.rounds;
        std::vector<void*> arguments{&times, &buffer, &bytes, &rounds};
        const auto launch = [&] {
            driver_->launch(function, run.blocks, kernel.threads, kernel.shared_bytes, arguments);
        };
        void* const begin = driver_->make_event();
        void* const end = driver_->make_event();
        launch();
        driver_->record(begin);
        for (int i = 0; i < run.launches; ++i) launch();
        driver_->record(end);
        MicrobenchmarkTimes result;
        result.seconds = driver_->seconds_between(begin, end);
        driver_->free_event(begin);
        driver_->free_event(end);
        std::vector<std::uint64_t> told(static_cast<std::size_t>(2 * run.blocks));
        driver_->to_host(told.data(), times_, 2 * run.blocks * 8);
        std::vector<std::uint64_t> clocks;
        std::vector<std::uint64_t> nanoseconds;
        for (std::size_t i = 0; i < told.size(); i += 2) {
            clocks.push_back(told[i]);
            nanoseconds.push_back(told[i + 1]);
        }
        result.clocks = median(std::move(clocks));
        result.nanoseconds = median(std::move(nanoseconds));
        if (result.seconds > 0 && result.clocks > 0) return result;
        return messages::device_failed(
            kernel.name, fmt::format("`{}` takes {} clocks and {} s, and both are above zero",
                                     benchmark.name, result.clocks, result.seconds));
    } catch (const DriverError& error) {
        return messages::device_failed(error.call(), error.what());
    }
}

}  // namespace napkin
