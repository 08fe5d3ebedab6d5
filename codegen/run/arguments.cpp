#include "codegen/run/arguments.h"

#include <algorithm>

namespace napkin {

ScalarArgument scalar_argument(const Diagram& diagram, const KernelParameter& parameter,
                               const Tensors& inputs) {
    switch (parameter.kind) {
    case KernelParameter::Kind::Size: {
        const std::int64_t extent = diagram[parameter.axis].extent;
        return {extent, static_cast<double>(extent)};
    }
    case KernelParameter::Kind::Stride: {
        const std::int64_t stride =
            strides_of(diagram[parameter.array], extents_of(diagram))[parameter.dimension];
        return {stride, static_cast<double>(stride)};
    }
    case KernelParameter::Kind::Scalar: {
        const auto found = inputs.find(parameter.array);
        invariant(found != inputs.end(), "parameter `", diagram[parameter.array].name, "` missing");
        const double value = found->second.values.at(0);
        return {is_floating(parameter.type) ? 0 : static_cast<std::int64_t>(value), value};
    }
    case KernelParameter::Kind::Buffer:
    case KernelParameter::Kind::TensorMap:
    case KernelParameter::Kind::Counter: break;
    }
    throw InternalError("an array is not passed by value");
}

Buffer& buffer_of(std::vector<Buffer>& buffers, ArrayId array) {
    const auto found = std::find_if(buffers.begin(), buffers.end(),
                                    [&](const Buffer& buffer) { return buffer.array == array; });
    invariant(found != buffers.end(), "kernel parameter without a buffer");
    return *found;
}

void collect_results(const Diagram& diagram, const std::vector<Buffer>& before,
                     const std::vector<Buffer>& after, Execution& execution) {
    for (std::size_t i = 0; i < after.size(); ++i) {
        const Buffer& buffer = after[i];
        execution.canaries_broken += count_broken_canaries(buffer);
        if (buffer.is_input) {
            for (std::size_t b = 0; b < buffer.bytes.size(); ++b)
                if (buffer.bytes[b] != before[i].bytes[b]) ++execution.canaries_broken;
            continue;
        }
        if (diagram[buffer.array].role == ArrayRole::Output)
            execution.never_written += count_unchanged({{before[i], buffer}});
        execution.outputs[buffer.array] = decode(buffer);
    }
}

std::int64_t never_written(const Diagram& diagram, const std::vector<Buffer>& before,
                           const std::vector<Buffer>& after, const RunBuffers& run) {
    std::vector<Buffer> other = before;
    const bool tells = fill_otherwise(other);
    std::vector<Buffer> other_after = other;
    if (tells) run(other_after);
    std::int64_t count = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (diagram[after[i].array].role != ArrayRole::Output) continue;
        std::vector<BufferRun> runs = {{before[i], after[i]}};
        if (tells) runs.push_back({other[i], other_after[i]});
        count += count_unchanged(runs);
    }
    return count;
}

}  // namespace napkin
