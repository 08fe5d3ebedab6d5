// A CUDA driver without a device: memory is the host's, kernels write zeroes where nothing was
// written, and time is told by how many were launched. `FAKE_CUDA_FAILS` names a function that
// fails, `FAKE_CUDA_PAUSE` the milliseconds that a launch takes, `FAKE_CUDA_NAME` the device.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

namespace {

/// Milliseconds of the device since it started.
float& now() {
    static float time = 0;
    return time;
}

/// Bytes of what was allocated, by address.
std::map<std::uint64_t, std::size_t>& allocations() {
    static std::map<std::uint64_t, std::size_t> map;
    return map;
}

/// Between their guards buffers to be written hold 0xff.
void write_zeroes() {
    constexpr std::size_t kGuard = 256;
    for (const auto& [address, bytes] : allocations()) {
        if (bytes <= 2 * kGuard) continue;
        auto* const values = reinterpret_cast<unsigned char*>(address) + kGuard;
        if (std::all_of(values, values + bytes - 2 * kGuard, [](int c) { return c == 0xff; }))
            std::memset(values, 0, bytes - 2 * kGuard);
    }
}

/// What functions that measure are handed out as.
void*& measuring_function() {
    static void* function = nullptr;
    return function;
}

/// A clock of 1.6 GHz, at which every round takes 1000 clocks.
void tell_times(unsigned blocks, void** arguments) {
    auto* const times = *static_cast<std::uint64_t**>(arguments[0]);
    const auto rounds = static_cast<std::uint64_t>(*static_cast<std::int64_t*>(arguments[3]));
    for (unsigned block = 0; block < blocks; ++block) {
        times[2 * block] = 1000 * rounds;
        times[2 * block + 1] = 625 * rounds;
    }
}

constexpr int kLaunchFailed = 719;

int unless_failing(const char* name) {
    const char* failing = std::getenv("FAKE_CUDA_FAILS");
    return failing != nullptr && std::strcmp(failing, name) == 0 ? kLaunchFailed : 0;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
    return unless_failing("cuInit");
}
int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}
int cuDeviceGet(int* device, int) {
    *device = 0;
    return 0;
}
int cuDeviceGetName(char* name, int size, int) {
    const char* const given = std::getenv("FAKE_CUDA_NAME");
    std::strncpy(name, given != nullptr ? given : "NVIDIA H200", static_cast<std::size_t>(size));
    return 0;
}
int cuDriverGetVersion(int* version) {
    *version = 13000;
    return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    *context = nullptr;
    return 0;
}
int cuCtxSetCurrent(void*) {
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    constexpr int kKibi = 1024;
    switch (attribute) {
    case 16: *value = 132; break;                 // processors
    case 38: *value = 60 * kKibi * kKibi; break;  // bytes of cache
    case 39: *value = 2048; break;                // threads of a processor
    case 75: *value = 9; break;                   // the architecture
    case 81: *value = 228 * kKibi; break;         // shared memory of a processor
    case 82: *value = 65536; break;               // registers of a processor
    case 97: *value = 227 * kKibi; break;         // shared memory of a block
    case 106: *value = 32; break;                 // blocks of a processor
    case 111: *value = kKibi; break;              // reserved of a block
    default: *value = 0;
    }
    return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
    *bytes = std::size_t{1} << 28;
    return 0;
}
int cuDeviceGetPCIBusId(char* bus, int size, int) {
    std::strncpy(bus, "0000:1b:00.0", static_cast<std::size_t>(size));
    return 0;
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
    *address = reinterpret_cast<std::uint64_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    allocations()[*address] = bytes;
    return unless_failing("cuMemAlloc_v2");
}
int cuMemFree_v2(std::uint64_t address) {
    allocations().erase(address);
    std::free(reinterpret_cast<void*>(address));
    return 0;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return 0;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return 0;
}
int cuMemsetD8_v2(std::uint64_t, unsigned char, std::size_t) {
    return 0;
}
int cuModuleLoadData(void** module, const void*) {
    static int loaded = 0;
    *module = &loaded;
    return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
    static int measuring = 0;
    const bool measures = std::strncmp(name, "measure_", 8) == 0;
    *function = measures ? &measuring : module;
    if (measures) measuring_function() = &measuring;
    return 0;
}
int cuFuncSetAttribute(void*, int, int) {
    return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, std::size_t) {
    *blocks = 1;
    return 0;
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned, unsigned,
                   unsigned, unsigned, void*, void** arguments, void**) {
    if (const char* pause = std::getenv("FAKE_CUDA_PAUSE"))
        ::usleep(static_cast<useconds_t>(1000 * std::atoi(pause)));
    if (function == measuring_function())
        tell_times(blocks, arguments);
    else
        write_zeroes();
    now() += function == measuring_function() ? 64.0F : 1.0F / 64;
    return unless_failing("cuLaunchKernel");
}
int cuTensorMapEncodeTiled(void*, int, std::uint32_t, void*, const std::uint64_t*,
                           const std::uint64_t*, const std::uint32_t*, const std::uint32_t*, int,
                           int, int, int) {
    return 0;
}
int cuCtxSynchronize() {
    return 0;
}
int cuEventCreate(void** event, unsigned) {
    *event = new float(0);
    return 0;
}
int cuEventDestroy_v2(void* event) {
    delete static_cast<float*>(event);
    return 0;
}
int cuEventRecord(void* event, void*) {
    *static_cast<float*>(event) = now();
    return 0;
}
int cuEventSynchronize(void*) {
    return 0;
}
int cuEventElapsedTime(float* time, void* first, void* second) {
    *time = *static_cast<float*>(second) - *static_cast<float*>(first);
    return 0;
}
/// NVRTC asks a driver that is there for a table, whose first word is its size: an old driver's.
int cuGetExportTable(const void** table, const void*) {
    static const std::uint64_t size = sizeof size;
    *table = &size;
    return 0;
}
int cuGetErrorString(int, const char** text) {
    *text = "the fake device was told to fail";
    return 0;
}

}  // extern "C"
