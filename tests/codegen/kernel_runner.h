// Runs kernels that a test wrote by hand in the emulator.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <list>
#include <string>
#include <type_traits>
#include <vector>

#include "codegen/run/emulator.h"
#include "codegen/run/host_kernel.h"
#include "tests/codegen/judge.h"

namespace napkin::test {

/// A launch whose arguments are added one by one; buffers belong to the caller.
class KernelRunner {
public:
    KernelRunner(std::string name, std::string body, int threads, std::int64_t shared_bytes) {
        kernel_.name = std::move(name);
        kernel_.threads = threads;
        kernel_.shared_bytes = shared_bytes;
        kernel_.source = "#include \"tensor.cuh\"\n#include \"panels.cuh\"\nnamespace nk {\n" +
                         std::move(body) + "\n}\n";
    }
    template <class Element>
    KernelRunner& buffer(const char* name, std::vector<Element>& values) {
        arguments_.push_back({const_cast<std::remove_const_t<Element>*>(values.data()),
                              static_cast<long long>(values.size()), 0, name});
        return *this;
    }
    /// A dense array as bulk copies see it, the contiguous dimension first.
    template <class Element>
    KernelRunner& map(const char* name, std::vector<Element>& values,
                      const std::vector<long long>& extents, const std::vector<int>& box,
                      int swizzle) {
        nk::emulator::TensorMap& map = maps_.emplace_back();
        map.base = reinterpret_cast<unsigned char*>(values.data());
        map.name = name;
        map.rank = static_cast<int>(extents.size());
        map.element_bytes = sizeof(Element);
        map.swizzle = swizzle;
        long long stride = sizeof(Element);
        for (std::size_t d = 0; d < extents.size(); ++d) {
            map.extents[d] = extents[d];
            map.box[d] = box[d];
            map.strides[d] = stride;
            stride *= extents[d];
        }
        arguments_.push_back({&map, 0, 0, name});
        return *this;
    }
    KernelRunner& number(long long value) {
        arguments_.push_back({nullptr, value, 0, ""});
        return *this;
    }
    [[nodiscard]] const EmittedKernel& kernel() const { return kernel_; }
    [[nodiscard]] EmulatedRun run(std::uint64_t seed = 1, std::int64_t blocks = 1) const {
        const Result<HostKernel> compiled = compile_for_host(kernel_, test::emulator_folder());
        REQUIRE(compiled.has_value());
        EmulatedLaunch launch;
        launch.entry = compiled->entry;
        launch.arguments = arguments_;
        launch.blocks = blocks;
        launch.threads = kernel_.threads;
        launch.shared_bytes = kernel_.shared_bytes;
        launch.seed = seed;
        launch.count_accesses = true;
        return run_emulated(launch);
    }

private:
    EmittedKernel kernel_;
    std::list<nk::emulator::TensorMap> maps_;
    std::vector<nk::emulator::Argument> arguments_;
};

}  // namespace napkin::test
