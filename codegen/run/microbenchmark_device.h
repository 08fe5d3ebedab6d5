// A device on which microbenchmarks run, and what it says of itself.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "codegen/run/execute.h"
#include "codegen/run/microbenchmarks.h"

namespace napkin {

class DeviceTurn;
class Driver;

/// One launch, or several after each other.
struct MicrobenchmarkTimes {
    double seconds = 0;      ///< on the device, of all
    double clocks = 0;       ///< of a block, the median of the last launch's
    double nanoseconds = 0;  ///< likewise
};

/// How a microbenchmark is launched.
struct MicrobenchmarkRun {
    std::int64_t blocks = 1;
    std::int64_t bytes = 0;  ///< of the buffer that it may touch
    std::int64_t rounds = 1;
    int launches = 1;
};

class MicrobenchmarkDevice {
public:
    /// The device and a buffer of so many bytes at most; an eighth of its memory if that is less. A
    /// device that is missing is a diagnostic.
    [[nodiscard]] static Result<MicrobenchmarkDevice> open(std::int64_t most_bytes);
    MicrobenchmarkDevice(MicrobenchmarkDevice&&) noexcept;
    MicrobenchmarkDevice& operator=(MicrobenchmarkDevice&&) noexcept;
    ~MicrobenchmarkDevice();

    [[nodiscard]] const DeviceStatus& status() const;
    /// A power of two.
    [[nodiscard]] std::int64_t buffer_bytes() const { return bytes_; }
    /// Figures of machine files that the driver knows, in their units: `block.capacity` in bytes.
    [[nodiscard]] const std::map<std::string, double>& attributes() const { return attributes_; }
    /// `0000:1b:00.0`, by which NVML knows the device.
    [[nodiscard]] const std::string& bus() const { return bus_; }
    /// Launches once to warm up, and then as asked. A driver that fails is a diagnostic.
    [[nodiscard]] Result<MicrobenchmarkTimes> run(const Microbenchmark& benchmark,
                                                  const MicrobenchmarkRun& run);

private:
    MicrobenchmarkDevice();
    std::unique_ptr<Driver> driver_;
    std::unique_ptr<DeviceTurn> turn_;  ///< nobody else measures meanwhile
    std::map<std::string, double> attributes_;
    std::string bus_;
    std::uint64_t buffer_ = 0;
    std::int64_t bytes_ = 0;
    std::uint64_t times_ = 0;
    std::map<std::string, void*> loaded_;  ///< functions, by the benchmark's name
};

}  // namespace napkin
