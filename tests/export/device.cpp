#include "tests/export/device.h"

#include <cstring>
#include <filesystem>
#include <map>
#include <new>

#include "codegen/run/emulated_bulk.h"
#include "codegen/run/emulator.h"
#include "codegen/run/host_kernel.h"
#include "tests/export/stub/cuda.h"
#include "tests/export/stub/cuda_runtime_api.h"
#include "tests/support/provided.h"

namespace napkin::test {
namespace {

using nk::emulator::Argument;

/// Blocks of memory that were handed out, by where they start.
std::map<unsigned char*, std::size_t>& blocks() {
    static std::map<unsigned char*, std::size_t> all;
    return all;
}

/// Bytes from a place to the end of its block.
std::size_t bytes_behind(unsigned char* place) {
    const auto after = blocks().upper_bound(place);
    if (after == blocks().begin()) return 0;
    const auto& [start, size] = *std::prev(after);
    return place < start + size ? static_cast<std::size_t>(start + size - place) : 0;
}

template <class T>
T value_at(const void* place) {
    T value{};
    std::memcpy(&value, place, sizeof value);
    return value;
}

Argument argument_of(const KernelParameter& parameter, const void* place) {
    Argument argument;
    argument.name = parameter.name.c_str();
    switch (parameter.kind) {
    case KernelParameter::Kind::Counter:
        argument.data = value_at<unsigned char*>(place);
        argument.integer = 1;
        break;
    case KernelParameter::Kind::Buffer: {
        auto* data = value_at<unsigned char*>(place);
        argument.data = data;
        argument.integer = static_cast<long long>(bytes_behind(data)) * 8 / bits_of(parameter.type);
        break;
    }
    case KernelParameter::Kind::Scalar:
        if (is_floating(parameter.type))
            argument.real = static_cast<double>(value_at<float>(place));
        else
            argument.integer = value_at<long long>(place);
        break;
    case KernelParameter::Kind::Size: argument.integer = value_at<int>(place); break;
    case KernelParameter::Kind::Stride: argument.integer = value_at<long long>(place); break;
    case KernelParameter::Kind::TensorMap: {
        const auto& encoded = *static_cast<const CUtensorMap*>(place);
        argument.data = reinterpret_cast<void*>(encoded.opaque[0]);
        break;
    }
    }
    return argument;
}

cudaError_t run(const EmittedKernel& kernel, unsigned grid, void** arguments) {
    const Result<HostKernel> compiled = compile_for_host(kernel, test::kept_folder("emulator"));
    if (!compiled) return cudaErrorUnknown;
    EmulatedLaunch launch;
    launch.entry = compiled->entry;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
        launch.arguments.push_back(argument_of(kernel.parameters[i], arguments[i]));
    launch.blocks = grid;
    launch.threads = kernel.threads;
    launch.shared_bytes = kernel.shared_bytes;
    const std::optional<EmulatorFault> fault = run_emulated(launch).fault;
    if (!fault) return cudaSuccess;
    fake_device().fault = kernel.name + ": " + fault->message;
    return cudaErrorUnknown;
}

int bytes_of(CUtensorMapDataType type) {
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 1;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 2;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32: return 4;
    default: return 0;
    }
}

/// The driver's cuTensorMapEncodeTiled: refuses what the driver does; the map lives as long as the
/// device's settings.
CUresult encode(CUtensorMap* encoded, CUtensorMapDataType type, cuuint32_t rank, void* address,
                const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
    if (fake_device().makes_maps == 0 || reinterpret_cast<std::uintptr_t>(encoded) % 64 != 0)
        return CUDA_ERROR_INVALID_VALUE;
    nk::emulator::TensorMap& map = fake_device().maps.emplace_back();
    map.base = static_cast<unsigned char*>(address);
    map.name = "a map";
    map.rank = static_cast<int>(rank);
    map.element_bytes = bytes_of(type);
    map.swizzle = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16 << swizzle;
    for (cuuint32_t d = 0; d < rank; ++d) {
        map.extents[d] = static_cast<long long>(extents[d]);
        map.strides[d] = d == 0 ? map.element_bytes : static_cast<long long>(strides[d - 1]);
        map.box[d] = static_cast<int>(box[d]);
    }
    *encoded = {};
    encoded->opaque[0] = reinterpret_cast<std::uintptr_t>(&map);
    return check_map(map) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/// The driver's cuLibraryLoadData, of images that are texts.
CUresult load(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned,
              CUlibraryOption*, void**, unsigned) {
    fake_device().images.emplace_back(static_cast<const char*>(code));
    *library = reinterpret_cast<CUlibrary>(&fake_device());
    return CUDA_SUCCESS;
}
CUresult unload(CUlibrary) {
    return CUDA_ERROR_INVALID_VALUE;
}
/// The driver's cuLibraryGetKernel: numbers from 1, as the test's own NAME_kernel.
CUresult get_kernel(CUkernel* kernel, CUlibrary, const char* name) {
    const std::vector<EmittedKernel>& kernels = fake_device().program->kernels;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        if (kernels[i].name == name) {
            *kernel = reinterpret_cast<CUkernel>(i + 1);
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

void* fake_entry_point(const std::string& name) {
    if (name == "cuLibraryLoadData") return reinterpret_cast<void*>(&load);
    if (name == "cuLibraryUnload") return reinterpret_cast<void*>(&unload);
    if (name == "cuLibraryGetKernel") return reinterpret_cast<void*>(&get_kernel);
    return name == "cuTensorMapEncodeTiled" && fake_device().knows_maps != 0
               ? reinterpret_cast<void*>(&encode)
               : nullptr;
}

FakeDevice& fake_device() {
    static FakeDevice device;
    return device;
}

}  // namespace napkin::test

using napkin::test::blocks;
using napkin::test::fake_device;

cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
    *count = fake_device().devices;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    const int capability = fake_device().capability;
    switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = fake_device().processors; break;
    case cudaDevAttrComputeCapabilityMajor: *value = capability / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = capability % 10; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = fake_device().shared_memory; break;
    }
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int value) {
    return value <= fake_device().shared_memory ? cudaSuccess : cudaErrorUnknown;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, size_t) {
    *blocks = 1;
    return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t) {
    // The test's own NAME_kernel numbers kernels from 1.
    const auto number = reinterpret_cast<std::uintptr_t>(function) - 1;
    napkin::test::FakeDevice& device = fake_device();
    const napkin::EmittedProgram* program = device.program;
    device.launches.push_back({program != nullptr ? program->kernels.at(number).name : "", grid.x,
                               static_cast<int>(block.x), shared});
    return program == nullptr ? cudaSuccess
                              : napkin::test::run(program->kernels.at(number), grid.x, arguments);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long,
                                             enum cudaDriverEntryPointQueryResult* found) {
    *function = napkin::test::fake_entry_point(symbol);
    *found =
        *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t error) {
    if (error == cudaSuccess) return "no error";
    return fake_device().fault.empty() ? "unknown error" : fake_device().fault.c_str();
}
cudaError_t cudaMalloc(void** memory, size_t bytes) {
    auto* block = static_cast<unsigned char*>(::operator new (bytes, std::align_val_t{256}));
    constexpr int kPoison = 0xA5;
    std::memset(block, kPoison, bytes);
    blocks()[block] = bytes;
    *memory = block;
    return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
    blocks().erase(static_cast<unsigned char*>(memory));
    if (memory != nullptr) ::operator delete (memory, std::align_val_t{256});
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t) {
    std::memset(memory, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void) {
    return cudaSuccess;
}
