#include "codegen/run/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

#include "codegen/run/messages.h"

namespace napkin {
namespace {

// Values of the driver's enumerations.
constexpr int kMultiprocessors = 16;
constexpr int kCacheBytes = 38;
constexpr int kComputeMajor = 75;
constexpr int kComputeMinor = 76;
constexpr int kSharedOptIn = 97;
constexpr int kFunctionSharedBytes = 8;

std::string describe(void* library, int code) {
    const char* text = nullptr;
    using GetErrorString = int (*)(int, const char**);
    const auto get = reinterpret_cast<GetErrorString>(dlsym(library, "cuGetErrorString"));
    if (get == nullptr || get(code, &text) != 0 || text == nullptr)
        return fmt::format("error {}", code);
    return fmt::format("{} (error {})", text, code);
}

}  // namespace

template <class... Arguments>
void Driver::call(const char* name, Arguments... arguments) const {
    using EntryPoint = int (*)(Arguments...);
    const auto function = reinterpret_cast<EntryPoint>(dlsym(library_, name));
    if (function == nullptr) throw DriverError(name, "the driver lacks it");
    if (const int code = function(arguments...); code != 0)
        throw DriverError(name, describe(library_, code));
}

int Driver::attribute(int number) const {
    int value = 0;
    call("cuDeviceGetAttribute", &value, number, device_);
    return value;
}

Result<Driver> Driver::open(int device) {
    Driver driver;
    driver.library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver.library_ == nullptr)
        return messages::driver_missing("the driver's library `libcuda.so.1` is not installed");
    try {
        driver.call("cuInit", 0U);
        int count = 0;
        driver.call("cuDeviceGetCount", &count);
        if (device < 0 || device >= count)
            return messages::driver_missing(
                fmt::format("device {} was asked for and there are {}", device, count));
        driver.call("cuDeviceGet", &driver.device_, device);
        std::array<char, 256> name{};
        driver.call("cuDeviceGetName", name.data(), static_cast<int>(name.size()), driver.device_);
        int version = 0;
        driver.call("cuDriverGetVersion", &version);
        void* context = nullptr;
        driver.call("cuDevicePrimaryCtxRetain", &context, driver.device_);
        driver.call("cuCtxSetCurrent", context);
        driver.cache_bytes_ = driver.attribute(kCacheBytes);
        driver.status_.name = name.data();
        driver.status_.driver = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
        driver.status_.architecture = fmt::format("sm_{}{}", driver.attribute(kComputeMajor),
                                                  driver.attribute(kComputeMinor));
        driver.status_.shared_memory = driver.attribute(kSharedOptIn);
        driver.status_.processors = driver.attribute(kMultiprocessors);
    } catch (const DriverError& error) {
        return messages::driver_missing(fmt::format("`{}` says: {}", error.call(), error.what()));
    }
    return driver;
}

std::int64_t Driver::memory_bytes() const {
    std::size_t bytes = 0;
    call("cuDeviceTotalMem_v2", &bytes, device_);
    return static_cast<std::int64_t>(bytes);
}

std::string Driver::bus() const {
    std::array<char, 32> bus{};
    call("cuDeviceGetPCIBusId", bus.data(), static_cast<int>(bus.size()), device_);
    return bus.data();
}

DeviceAddress Driver::allocate(std::int64_t bytes) const {
    DeviceAddress address = 0;
    call("cuMemAlloc_v2", &address, static_cast<std::size_t>(bytes));
    return address;
}

void Driver::free(DeviceAddress address) const {
    call("cuMemFree_v2", address);
}

void Driver::to_device(DeviceAddress to, const void* from, std::int64_t bytes) const {
    call("cuMemcpyHtoD_v2", to, from, static_cast<std::size_t>(bytes));
}

void Driver::to_host(void* to, DeviceAddress from, std::int64_t bytes) const {
    call("cuMemcpyDtoH_v2", to, from, static_cast<std::size_t>(bytes));
}

void Driver::fill(DeviceAddress to, unsigned char value, std::int64_t bytes) const {
    call("cuMemsetD8_v2", to, value, static_cast<std::size_t>(bytes));
}

void* Driver::load(const CompiledKernel& compiled, std::int64_t shared_bytes) const {
    void* module = nullptr;
    call("cuModuleLoadData", &module, static_cast<const void*>(compiled.bytes.c_str()));
    void* function = nullptr;
    call("cuModuleGetFunction", &function, module, compiled.name.c_str());
    call("cuFuncSetAttribute", function, kFunctionSharedBytes, static_cast<int>(shared_bytes));
    return function;
}

std::int64_t Driver::resident_blocks(void* function, int threads, std::int64_t shared_bytes) const {
    int each = 0;
    call("cuOccupancyMaxActiveBlocksPerMultiprocessor", &each, function, threads,
         static_cast<std::size_t>(shared_bytes));
    return status_.processors * each;
}

void Driver::launch(void* function, std::int64_t blocks, int threads, std::int64_t shared_bytes,
                    std::vector<void*>& arguments) const {
    call("cuLaunchKernel", function, static_cast<unsigned>(blocks), 1U, 1U,
         static_cast<unsigned>(threads), 1U, 1U, static_cast<unsigned>(shared_bytes),
         static_cast<void*>(nullptr), arguments.data(), static_cast<void**>(nullptr));
}

EncodedMap Driver::map(const MappedArray& array) const {
    constexpr int kPromotion = 2;  // the cache fetches 128 bytes
    std::vector<std::uint64_t> extents;
    std::vector<std::uint64_t> strides;  // bytes, without that of the contiguous dimension
    std::vector<std::uint32_t> box;
    const std::vector<std::uint32_t> steps(array.dimensions.size(), 1);
    for (const MappedArray::Dimension& dimension : array.dimensions) {
        extents.push_back(static_cast<std::uint64_t>(dimension.extent));
        strides.push_back(static_cast<std::uint64_t>(dimension.stride) * bits_of(array.type) / 8);
        box.push_back(static_cast<std::uint32_t>(dimension.box));
    }
    EncodedMap map;
    call("cuTensorMapEncodeTiled", static_cast<void*>(&map), tensor_map_type(array.type).number,
         static_cast<std::uint32_t>(extents.size()), reinterpret_cast<void*>(array.address),
         static_cast<const std::uint64_t*>(extents.data()),
         static_cast<const std::uint64_t*>(strides.data() + 1),
         static_cast<const std::uint32_t*>(box.data()),
         static_cast<const std::uint32_t*>(steps.data()), 0,
         tensor_map_swizzle(array.swizzle).number, kPromotion, 0);
    return map;
}

void Driver::synchronize() const {
    call("cuCtxSynchronize");
}

void* Driver::make_event() const {
    void* event = nullptr;
    call("cuEventCreate", &event, 0U);
    return event;
}

void Driver::free_event(void* event) const {
    call("cuEventDestroy_v2", event);
}

void Driver::record(void* event) const {
    call("cuEventRecord", event, static_cast<void*>(nullptr));
}

double Driver::seconds_between(void* first, void* second) const {
    call("cuEventSynchronize", second);
    float milliseconds = 0;
    call("cuEventElapsedTime", &milliseconds, first, second);
    return static_cast<double>(milliseconds) * 1e-3;
}

DeviceStatus device_status(int device) {
    const Result<Driver> driver = Driver::open(device);
    if (driver) return driver->status();
    DeviceStatus status;
    status.missing = driver.error().list.front().message;
    return status;
}

}  // namespace napkin
