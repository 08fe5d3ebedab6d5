// From tile programs to kernels: one CUDA C++ source a region, with everything a launcher must
// know.
//
// Nothing here needs CUDA. codegen/run compiles and executes what comes out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "derive/tile_program.h"
#include "diagrams/compare.h"
#include "diagrams/diagram.h"
#include "diagrams/source.h"
#include "schedule/limits.h"
#include "schedule/region_schedule.h"
#include "schedule/requests.h"

namespace napkin {

/// Targets by name, the best one last; an unknown one is a diagnostic of `emit`.
[[nodiscard]] std::vector<std::string> target_names();
[[nodiscard]] std::optional<Diagnostic> check_target(const std::string& target);
/// Also where an architecture does not run its kernels; an empty one runs all.
[[nodiscard]] std::optional<Diagnostic> check_target(const std::string& target,
                                                     const std::string& architecture);

struct EmitOptions {
    std::string target = "simt";
    /// Makes every axis that no tile holds whole a run-time size, as if it were declared `dynamic`.
    bool dynamic_sizes = false;
    /// Makes the stride of every dimension but the contiguous one an argument of the kernel, so
    /// that it serves views of larger arrays; otherwise only those of woven axes and of dimensions
    /// outside a run-time size are.
    bool free_strides = false;
    /// What the kernels' names end with.
    std::string ending = {};
    /// What the kernels are for, for messages, and how much shared memory one block may have there,
    /// in bytes: plans keep to it, and a kernel that needs more is a diagnostic.
    std::string architecture = "sm_90";
    std::int64_t shared_memory = 232448;
    /// Threads of a block, a multiple of 32; chosen from the tiles when 0.
    int threads = 0;
    /// How regions are to be carried out, beside what the derivation says of it; the last word
    /// counts.
    std::vector<schedule::Request> schedules = {};
    /// The hash of the derivation, for headers; none when empty.
    std::string derivation = {};
    /// Why the derivation is not proved, for headers; empty where it is, or nobody asked.
    std::string reservation = {};
    /// Lines for each region's header, by region name: predicted bytes, time.
    std::map<std::string, std::vector<std::string>> remarks = {};
    /// For `// attention.ncd:12:3` comments; none without it.
    const SourceMap* sources = nullptr;

    [[nodiscard]] schedule::Limits limits() const {
        return {shared_memory, threads, dynamic_sizes, free_strides, target == "sm_90a"};
    }
};

/// How bulk copies see an array: boxes of it, laid out in shared memory as prelude/panels.cuh says.
struct MappedBox {
    std::vector<std::uint32_t> dimensions;  ///< of the array, the contiguous one first
    std::vector<std::int64_t> box;          ///< elements along each of them
    std::int64_t swizzle = 128;             ///< bytes of a panel's row; 0 of a vector
    bool operator==(const MappedBox&) const = default;
};

/// What the CUDA driver calls something in a tensor map.
struct DriverValue {
    int number = 0;
    std::string_view name;
};
[[nodiscard]] DriverValue tensor_map_type(ElementType type);
[[nodiscard]] DriverValue tensor_map_swizzle(std::int64_t bytes);
/// How many elements of a tensor map so many neighbours are: two numbers of 4 bits are one.
[[nodiscard]] std::int64_t map_elements(ElementType type, std::int64_t elements);

/// One parameter of a kernel, in order.
struct KernelParameter {
    enum class Kind {
        Buffer,     // a device array
        Scalar,     // a rank-0 input or parameter, by value
        Size,       // the run-time size of an axis
        Stride,     // elements from one index to the next along dimension `dimension` of `array`
        TensorMap,  // an array as bulk copies see it
        Counter,    // a 32-bit integer of device memory, zero before a launch and after it
    };
    Kind kind = Kind::Buffer;
    std::string name;
    ArrayId array;
    AxisId axis;
    std::uint32_t dimension = 0;
    ElementType type = ElementType::F32;
    bool written = false;
    /// What divides a stride (in elements) or a buffer's address (in bytes), for vector copies.
    std::int64_t multiple = 1;
    MappedBox map = {};  ///< of a tensor map
    bool operator==(const KernelParameter&) const = default;
};

/// Groups of an axis that became blocks; nested groups of one axis follow each other, outer first.
struct GridAxis {
    AxisId axis;
    std::int64_t size = 1;
    /// Elements that this grouping divides: the enclosing group's size, or empty for the whole
    /// axis.
    std::optional<std::int64_t> within;
    bool operator==(const GridAxis&) const = default;
};

/// One tile in shared memory, for reports and messages.
struct SharedTile {
    std::string name;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    bool operator==(const SharedTile&) const = default;
};

struct EmittedKernel {
    /// The scheduled program after the last pass; empty for simt.
    [[nodiscard]] std::string scheduled() const {
        return passes.empty() ? "" : passes.back().second;
    }
    std::string name;    ///< the function's, a C identifier
    std::string region;  ///< as derivations name it
    std::string source;  ///< CUDA C++, which includes "napkin.cuh" (codegen/prelude)
    std::string target;  ///< whose instructions it uses
    std::vector<std::string> not_newer;  ///< why not those of newer ones, a reason each
    /// How it is carried out: asked for again, it makes the same kernel.
    schedule::RegionSchedule choices;
    /// The scheduled program that it was lowered from, after each pass by its name; none for simt.
    std::vector<std::pair<std::string, std::string>> passes;
    std::vector<KernelParameter> parameters;
    std::vector<GridAxis> grid;  ///< the number of tiles is the product of their counts
    bool persistent = false;     ///< whether blocks take one tile after another, in any number
    int threads = 256;
    std::int64_t shared_bytes = 0;
    std::vector<SharedTile> shared;
    /// Sizes that the source has as constants; a launch with others is refused.
    Sizes fixed;
    /// Sizes that may vary up to a limit, which the tiles were made for.
    Sizes at_most;
    bool operator==(const EmittedKernel&) const = default;
};

/// An array in device memory, as the kernels see it.
struct DeviceArray {
    ArrayId array;
    ElementType type = ElementType::F32;
    bool operator==(const DeviceArray&) const = default;
};

/// Kernels in the order in which they run.
struct EmittedProgram {
    std::string name;
    std::string target;  ///< that of the newest kernel
    std::vector<EmittedKernel> kernels;
    std::vector<DeviceArray> arrays;  ///< every buffer of any kernel, inputs and outputs too
    /// Boxes of the diagram in which a product's computed operands are rounded for the tensor core.
    std::map<BoxId, ElementType> operands;
    std::set<BoxId> narrow;  ///< boxes whose products warp groups carry out in 8 bits
    bool operator==(const EmittedProgram&) const = default;
};

/// How the program's kernels round.
[[nodiscard]] Precision precision_of(const State& state, const EmittedProgram& program);

/// Options for a target's kernels on an architecture such as `sm_86`; one that is unknown, or too
/// old for the target, is a diagnostic.
[[nodiscard]] Result<EmitOptions> emit_options_for(const std::string& target,
                                                   const std::string& architecture);
/// Emits all regions of an expanded state for the options' target; for the one before it those that
/// `sm_90a` does not take.
[[nodiscard]] Result<EmittedProgram> emit(const State& state, const TileProgram& program,
                                          const EmitOptions& options = {});

/// Emits each region for the best target that runs on the options' architecture and takes it,
/// whatever the options' own target: the newest one that is not known to be slower. The diagnostic
/// of the last one where none does.
[[nodiscard]] Result<EmittedProgram> emit_best(const State& state, const TileProgram& program,
                                               const EmitOptions& options);

/// The number of tiles of a launch with these extents by axis: its blocks, unless these take
/// several; where it does not fit in 64 bits, the largest that does.
[[nodiscard]] std::int64_t blocks_of(const EmittedKernel& kernel,
                                     const std::vector<std::int64_t>& extents);
/// The most tiles that a launch may have.
[[nodiscard]] std::int64_t most_tiles(const EmittedKernel& kernel);
/// The number of blocks of a launch on a device where so many of them run at once.
[[nodiscard]] std::int64_t grid_of(const EmittedKernel& kernel,
                                   const std::vector<std::int64_t>& extents, std::int64_t resident);
/// Elements from one index to the next along each dimension of an array, by its layout.
[[nodiscard]] std::vector<std::int64_t> strides_of(const Array& array,
                                                   const std::vector<std::int64_t>& extents);

}  // namespace napkin
