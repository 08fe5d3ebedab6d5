// The CUDA driver, opened at run time. Its few entry points are declared here, so that no CUDA
// header is needed and the program starts without a driver.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/run/compile.h"
#include "codegen/run/execute.h"
#include "diagrams/result.h"

namespace napkin {

using DeviceAddress = std::uint64_t;

/// CUtensorMap: how bulk copies see an array. Opaque.
struct alignas(64) EncodedMap {
    std::array<std::uint64_t, 16> words{};
};
/// What it is made of.
struct MappedArray {
    struct Dimension {
        std::int64_t extent = 1;
        std::int64_t stride = 1;  ///< elements of the array
        std::int64_t box = 1;     ///< elements of the map
    };
    DeviceAddress address = 0;
    ElementType type = ElementType::BF16;
    std::vector<Dimension> dimensions;  ///< the contiguous one first
    std::int64_t swizzle = 128;         ///< bytes, or 0
};

/// What went wrong in a call of the driver; becomes a diagnostic.
class DriverError : public std::runtime_error {
public:
    DriverError(std::string call, const std::string& why)
        : std::runtime_error(why), call_(std::move(call)) {}
    [[nodiscard]] const std::string& call() const { return call_; }

private:
    std::string call_;
};

/// One device with its primary context current. Calls throw DriverError.
class Driver {
public:
    /// A missing driver or device is a diagnostic.
    [[nodiscard]] static Result<Driver> open(int device);

    [[nodiscard]] const DeviceStatus& status() const { return status_; }
    [[nodiscard]] std::int64_t cache_bytes() const { return cache_bytes_; }
    /// An attribute by the number that the driver's enumeration gives it.
    [[nodiscard]] int attribute(int number) const;
    [[nodiscard]] std::int64_t memory_bytes() const;
    /// `0000:1b:00.0`.
    [[nodiscard]] std::string bus() const;

    [[nodiscard]] DeviceAddress allocate(std::int64_t bytes) const;
    void free(DeviceAddress address) const;
    void to_device(DeviceAddress to, const void* from, std::int64_t bytes) const;
    void to_host(void* to, DeviceAddress from, std::int64_t bytes) const;
    void fill(DeviceAddress to, unsigned char value, std::int64_t bytes) const;

    /// Loads a compiled kernel and lets it use its dynamic shared memory.
    [[nodiscard]] void* load(const CompiledKernel& compiled, std::int64_t shared_bytes) const;
    /// Blocks of a loaded kernel that the device runs at once.
    [[nodiscard]] std::int64_t resident_blocks(void* function, int threads,
                                               std::int64_t shared_bytes) const;
    void launch(void* function, std::int64_t blocks, int threads, std::int64_t shared_bytes,
                std::vector<void*>& arguments) const;
    void synchronize() const;

    [[nodiscard]] EncodedMap map(const MappedArray& array) const;

    [[nodiscard]] void* make_event() const;
    void free_event(void* event) const;
    void record(void* event) const;
    /// Seconds between two recorded events, after waiting for the second.
    [[nodiscard]] double seconds_between(void* first, void* second) const;

private:
    Driver() = default;
    template <class... Arguments>
    void call(const char* name, Arguments... arguments) const;

    void* library_ = nullptr;
    int device_ = 0;
    DeviceStatus status_;
    std::int64_t cache_bytes_ = 0;
};

}  // namespace napkin
