#include <fmt/format.h>

#include <algorithm>
#include <list>

#include "codegen/run/arguments.h"
#include "codegen/run/device_turn.h"
#include "codegen/run/driver.h"
#include "codegen/run/execute.h"
#include "codegen/run/messages.h"

namespace napkin {
namespace {

/// Buffers on the device, freed with the object.
class DeviceBuffers {
public:
    DeviceBuffers(const Driver& driver, const std::vector<Buffer>& buffers) : driver_(driver) {
        for (const Buffer& buffer : buffers)
            addresses_.push_back(driver.allocate(static_cast<std::int64_t>(buffer.bytes.size())));
    }
    /// A counter beside them.
    [[nodiscard]] DeviceAddress add_counter() {
        constexpr std::int64_t kBytes = 4;
        addresses_.push_back(driver_.allocate(kBytes));
        driver_.fill(addresses_.back(), 0, kBytes);
        return addresses_.back();
    }
    ~DeviceBuffers() {
        for (const DeviceAddress address : addresses_) {
            try {
                driver_.free(address);
            } catch (const DriverError&) {  // after a fault nothing can be freed any more
            }
        }
    }
    DeviceBuffers(const DeviceBuffers&) = delete;
    DeviceBuffers& operator=(const DeviceBuffers&) = delete;

    void upload(const std::vector<Buffer>& buffers) const {
        for (std::size_t i = 0; i < buffers.size(); ++i)
            driver_.to_device(addresses_[i], buffers[i].bytes.data(),
                              static_cast<std::int64_t>(buffers[i].bytes.size()));
    }
    void download(std::vector<Buffer>& buffers) const {
        for (std::size_t i = 0; i < buffers.size(); ++i)
            driver_.to_host(buffers[i].bytes.data(), addresses_[i],
                            static_cast<std::int64_t>(buffers[i].bytes.size()));
    }
    /// Where the values of buffer `index` start.
    [[nodiscard]] DeviceAddress values(std::size_t index) const {
        return addresses_[index] + static_cast<DeviceAddress>(kGuardBytes);
    }

private:
    const Driver& driver_;
    std::vector<DeviceAddress> addresses_;
};

/// A kernel ready to be launched.
struct Launch {
    const EmittedKernel* kernel = nullptr;
    void* function = nullptr;
    std::int64_t blocks = 0;
    /// What the arguments point to; lists, so that places stay.
    std::list<std::uint64_t> values;
    std::list<EncodedMap> maps;
    std::vector<void*> arguments;
};

std::uint64_t argument_bits(const Diagram& diagram, const KernelParameter& parameter,
                            const Tensors& inputs) {
    const ScalarArgument value = scalar_argument(diagram, parameter, inputs);
    std::uint64_t bits = 0;
    if (parameter.kind == KernelParameter::Kind::Scalar && is_floating(parameter.type)) {
        const float single = static_cast<float>(value.real);
        std::copy_n(reinterpret_cast<const unsigned char*>(&single), sizeof single,
                    reinterpret_cast<unsigned char*>(&bits));
        return bits;
    }
    // Little-endian: an `int` parameter reads the lower half.
    return static_cast<std::uint64_t>(value.integer);
}

class CudaRun {
public:
    CudaRun(const Driver& driver, const Diagram& diagram, const EmittedProgram& program,
            const Tensors& inputs, const ExecuteOptions& options)
        : driver_(driver),
          diagram_(diagram),
          program_(program),
          inputs_(inputs),
          options_(options),
          before_(make_buffers(diagram, program, inputs)),
          memory_(driver, before_) {}

    std::optional<Diagnostics> prepare(Execution& execution);
    void run(Execution& execution);

private:
    [[nodiscard]] DeviceAddress address_of(ArrayId array);
    [[nodiscard]] MappedArray map_of(const KernelParameter& parameter);
    void launch_all();
    void measure(Execution& execution);

    const Driver& driver_;
    const Diagram& diagram_;
    const EmittedProgram& program_;
    const Tensors& inputs_;
    const ExecuteOptions& options_;
    std::vector<Buffer> before_;
    DeviceBuffers memory_;
    std::vector<Launch> launches_;
};

DeviceAddress CudaRun::address_of(ArrayId array) {
    const Buffer& buffer = buffer_of(before_, array);
    return memory_.values(static_cast<std::size_t>(&buffer - before_.data()));
}

MappedArray CudaRun::map_of(const KernelParameter& parameter) {
    MappedArray mapped;
    mapped.address = address_of(parameter.array);
    mapped.type = parameter.type;
    mapped.swizzle = parameter.map.swizzle;
    const Array& array = diagram_[parameter.array];
    const std::vector<std::int64_t> extents = extents_of(diagram_);
    const std::vector<std::int64_t> strides = strides_of(array, extents);
    for (std::size_t i = 0; i < parameter.map.dimensions.size(); ++i) {
        const std::uint32_t dimension = parameter.map.dimensions[i];
        const std::int64_t extent = extents[array.axes[dimension].index()];
        mapped.dimensions.push_back({i == 0 ? map_elements(parameter.type, extent) : extent,
                                     strides[dimension], parameter.map.box[i]});
    }
    return mapped;
}

std::optional<Diagnostics> CudaRun::prepare(Execution& execution) {
    CompileOptions how = options_.compile;
    how.architecture = driver_.status().architecture;
    for (const EmittedKernel& kernel : program_.kernels) {
        if (kernel.shared_bytes > driver_.status().shared_memory)
            return Diagnostics{{messages::shared_memory_of_device(kernel.name, kernel.shared_bytes,
                                                                  driver_.status().shared_memory,
                                                                  driver_.status().name)}};
        Result<CompiledKernel> compiled = compile(kernel, how);
        if (!compiled) return compiled.error();
        Launch launch;
        launch.kernel = &kernel;
        launch.function = driver_.load(*compiled, kernel.shared_bytes);
        launch.blocks =
            grid_of(kernel, extents_of(diagram_),
                    driver_.resident_blocks(launch.function, kernel.threads, kernel.shared_bytes));
        for (const KernelParameter& parameter : kernel.parameters) {
            if (parameter.kind == KernelParameter::Kind::TensorMap) {
                launch.maps.push_back(driver_.map(map_of(parameter)));
                launch.arguments.push_back(&launch.maps.back());
                continue;
            }
            if (parameter.kind == KernelParameter::Kind::Counter) {
                launch.values.push_back(memory_.add_counter());
            } else if (parameter.kind == KernelParameter::Kind::Buffer) {
                const DeviceAddress values = address_of(parameter.array);
                invariant(values % static_cast<DeviceAddress>(parameter.multiple) == 0,
                          "a buffer is not aligned as its kernel needs it");
                launch.values.push_back(values);
            } else {
                launch.values.push_back(argument_bits(diagram_, parameter, inputs_));
            }
            launch.arguments.push_back(&launch.values.back());
        }
        compiled->bytes.clear();
        execution.compiled.push_back(std::move(*compiled));
        launches_.push_back(std::move(launch));
    }
    return std::nullopt;
}

void CudaRun::launch_all() {
    for (Launch& launch : launches_)
        driver_.launch(launch.function, launch.blocks, launch.kernel->threads,
                       launch.kernel->shared_bytes, launch.arguments);
}

void CudaRun::run(Execution& execution) {
    const auto run_on = [&](std::vector<Buffer>& buffers) {
        memory_.upload(buffers);
        launch_all();
        driver_.synchronize();
        memory_.download(buffers);
    };
    std::vector<Buffer> first = before_;
    for (int repeat = 0; repeat <= options_.repeats; ++repeat) {
        std::vector<Buffer> after = before_;
        run_on(after);
        if (repeat == 0)
            first = std::move(after);
        else
            execution.repeatable = execution.repeatable && after == first;
    }
    collect_results(diagram_, before_, first, execution);
    if (execution.never_written > 0)
        execution.never_written = never_written(diagram_, before_, first, run_on);
    if (options_.repetitions > 0) measure(execution);
}

Timing summary(const std::string& kernel, std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return {.kernel = kernel,
            .median = seconds[seconds.size() / 2],
            .least = seconds.front(),
            .most = seconds.back(),
            .repetitions = static_cast<int>(seconds.size())};
}

/// Each repetition finds the caches flushed: a buffer larger than the cache is written before it.
void CudaRun::measure(Execution& execution) {
    const std::int64_t flush_bytes = std::max<std::int64_t>(2 * driver_.cache_bytes(), 1 << 20);
    const DeviceAddress flush = driver_.allocate(flush_bytes);
    std::vector<void*> events;
    for (std::size_t i = 0; i <= launches_.size(); ++i) events.push_back(driver_.make_event());
    for (int i = 0; i < options_.warm_up; ++i) launch_all();
    std::vector<std::vector<double>> kernels(launches_.size());
    std::vector<double> whole;
    for (int i = 0; i < options_.repetitions; ++i) {
        driver_.fill(flush, static_cast<unsigned char>(i), flush_bytes);
        driver_.record(events.front());
        for (std::size_t k = 0; k < launches_.size(); ++k) {
            Launch& launch = launches_[k];
            driver_.launch(launch.function, launch.blocks, launch.kernel->threads,
                           launch.kernel->shared_bytes, launch.arguments);
            driver_.record(events[k + 1]);
        }
        for (std::size_t k = 0; k < launches_.size(); ++k)
            kernels[k].push_back(driver_.seconds_between(events[k], events[k + 1]));
        whole.push_back(driver_.seconds_between(events.front(), events.back()));
    }
    execution.times.push_back(summary("", whole));
    for (std::size_t k = 0; k < launches_.size(); ++k)
        execution.times.push_back(summary(launches_[k].kernel->name, kernels[k]));
    for (void* event : events) driver_.free_event(event);
    driver_.free(flush);
}

}  // namespace

Result<Execution> execute_cuda(const Diagram& diagram, const EmittedProgram& program,
                               const Tensors& inputs, const ExecuteOptions& options) {
    for (const EmittedKernel& kernel : program.kernels)
        if (std::optional<Diagnostic> refused = check_contract(diagram, kernel)) return *refused;
    const Result<Driver> driver = Driver::open(options.device);
    if (!driver) return driver.error();
    try {
        Execution execution;
        const DeviceStatus& status = driver->status();
        execution.device =
            fmt::format("{} ({}, driver {})", status.name, status.architecture, status.driver);
        CudaRun run(*driver, diagram, program, inputs, options);
        if (std::optional<Diagnostics> refused = run.prepare(execution)) return *refused;
        const DeviceTurn turn(options.device);
        run.run(execution);
        return execution;
    } catch (const DriverError& error) {
        return messages::device_failed(error.call(), error.what());
    }
}

}  // namespace napkin
