#include "codegen/run/buffers.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "codegen/run/messages.h"
#include "diagrams/parallel.h"

namespace napkin {
namespace {

constexpr unsigned char kCanary = 0xc5;
/// All ones: a NaN in every floating type, and a value that no boolean has.
constexpr unsigned char kPoison = 0xff;
/// Integers are poisoned with a pattern that results seldom have.
constexpr unsigned char kIntegerPoison = 0xa9;

unsigned char poison_of(ElementType type) {
    return is_floating(type) || type == ElementType::Bool ? kPoison : kIntegerPoison;
}

/// A small floating type by its fields; the values are already rounded to it.
struct SmallFloat {
    int fraction_bits = 0;
    int least_exponent = 0;  ///< of normal numbers
    std::uint32_t nan = 0;
    std::uint32_t infinity = 0;
    int bits = 16;
};

std::optional<SmallFloat> small_float(ElementType type) {
    switch (type) {
    case ElementType::BF16: return SmallFloat{7, -126, 0x7fc0, 0x7f80, 16};
    case ElementType::F16: return SmallFloat{10, -14, 0x7e00, 0x7c00, 16};
    case ElementType::E4M3: return SmallFloat{3, -6, 0x7f, 0x7f, 8};
    case ElementType::E5M2: return SmallFloat{2, -14, 0x7e, 0x7c, 8};
    default: return std::nullopt;
    }
}

std::uint32_t encode_small(const SmallFloat& type, double value) {
    const std::uint32_t sign = std::signbit(value) ? 1U << (type.bits - 1) : 0;
    if (std::isnan(value)) return type.nan;
    if (std::isinf(value)) return sign | type.infinity;
    if (value == 0) return sign;
    const double magnitude = std::abs(value);
    const int exponent = std::max(std::ilogb(magnitude), type.least_exponent);
    // In units of the last place; a normal number's leading bit adds one to the exponent field.
    const auto units =
        static_cast<std::uint32_t>(std::ldexp(magnitude, type.fraction_bits - exponent));
    const auto field = static_cast<std::uint32_t>(exponent - type.least_exponent);
    return sign | (units + (field << type.fraction_bits));
}

double decode_small(const SmallFloat& type, std::uint32_t bits) {
    const std::uint32_t magnitude = bits & ((1U << (type.bits - 1)) - 1);
    const double sign = (bits >> (type.bits - 1)) != 0 ? -1 : 1;
    if (magnitude == type.infinity && type.infinity != type.nan)
        return sign * std::numeric_limits<double>::infinity();
    if (magnitude >= type.infinity) return std::numeric_limits<double>::quiet_NaN();
    const std::uint32_t field = magnitude >> type.fraction_bits;
    const std::uint32_t fraction = magnitude & ((1U << type.fraction_bits) - 1);
    const std::uint32_t units = field == 0 ? fraction : fraction + (1U << type.fraction_bits);
    const int exponent = type.least_exponent + std::max(static_cast<int>(field), 1) - 1;
    return sign * std::ldexp(units, exponent - type.fraction_bits);
}

template <class T>
void put(unsigned char* place, T value) {
    std::memcpy(place, &value, sizeof value);
}
template <class T>
T get(const unsigned char* place) {
    T value{};
    std::memcpy(&value, place, sizeof value);
    return value;
}

void encode_element(Buffer& buffer, std::int64_t offset, double given) {
    const double value = round_to(buffer.type, given);
    unsigned char* values = buffer.bytes.data() + kGuardBytes;
    unsigned char* place = values + bytes_for(buffer.type, offset);
    if (const std::optional<SmallFloat> small = small_float(buffer.type)) {
        const std::uint32_t bits = encode_small(*small, value);
        if (small->bits == 16) return put(place, static_cast<std::uint16_t>(bits));
        return put(place, static_cast<std::uint8_t>(bits));
    }
    switch (buffer.type) {
    case ElementType::F64: return put(place, value);
    case ElementType::I8: return put(place, static_cast<std::int8_t>(value));
    case ElementType::I32: return put(place, static_cast<std::int32_t>(value));
    case ElementType::I64: return put(place, static_cast<std::int64_t>(value));
    case ElementType::Bool: return put(place, static_cast<std::uint8_t>(value));
    case ElementType::I4: {
        unsigned char& pair = values[offset / 2];
        const auto nibble = static_cast<unsigned>(static_cast<int>(value)) & 15U;
        pair = static_cast<unsigned char>(offset % 2 == 0 ? (pair & 0xf0U) | nibble
                                                          : (pair & 0x0fU) | nibble << 4);
        return;
    }
    default: return put(place, static_cast<float>(value));
    }
}

double decode_element(const Buffer& buffer, std::int64_t offset) {
    const unsigned char* values = buffer.bytes.data() + kGuardBytes;
    const unsigned char* place = values + bytes_for(buffer.type, offset);
    if (const std::optional<SmallFloat> small = small_float(buffer.type))
        return decode_small(*small, small->bits == 16 ? get<std::uint16_t>(place) : *place);
    switch (buffer.type) {
    case ElementType::F64: return get<double>(place);
    case ElementType::I8: return get<std::int8_t>(place);
    case ElementType::I32: return get<std::int32_t>(place);
    case ElementType::I64: return static_cast<double>(get<std::int64_t>(place));
    case ElementType::Bool: return *place;
    case ElementType::I4: {
        const int nibble = offset % 2 == 0 ? values[offset / 2] & 15 : values[offset / 2] >> 4;
        return nibble < 8 ? nibble : nibble - 16;
    }
    default: return static_cast<double>(get<float>(place));
    }
}

/// Calls `visit(linear index, offset)` for every element, linear in the order of the dimensions;
/// several at a time where each has bytes of its own.
template <class Visit>
void for_elements(const Buffer& buffer, const Visit& visit) {
    constexpr std::int64_t kLeastRange = 1 << 16;
    const std::int64_t least = buffer.type == ElementType::I4 ? buffer.elements + 1 : kLeastRange;
    for_ranges(buffer.elements, least, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> index(buffer.extents.size(), 0);
        std::int64_t rest = begin;
        for (std::size_t d = index.size(); d-- > 0;) {
            index[d] = rest % std::max<std::int64_t>(buffer.extents[d], 1);
            rest /= std::max<std::int64_t>(buffer.extents[d], 1);
        }
        for (std::int64_t linear = begin; linear < end; ++linear) {
            std::int64_t offset = 0;
            for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * buffer.strides[d];
            visit(linear, offset);
            for (std::size_t d = index.size(); d-- > 0;) {
                if (++index[d] < buffer.extents[d]) break;
                index[d] = 0;
            }
        }
    });
}

Buffer make_buffer(const Diagram& diagram, const DeviceArray& device) {
    const Array& array = diagram[device.array];
    Buffer buffer;
    buffer.array = device.array;
    buffer.type = device.type;
    buffer.is_input = array.role == ArrayRole::Input || array.role == ArrayRole::Parameter;
    buffer.elements = 1;
    for (const AxisId axis : array.axes) {
        buffer.extents.push_back(diagram[axis].extent);
        buffer.elements *= diagram[axis].extent;
    }
    buffer.strides = strides_of(array, extents_of(diagram));
    const std::int64_t size = bytes_for(device.type, buffer.elements);
    // The canary of the far side starts where the last value ends, and the whole is a multiple of
    // 16 bytes.
    const std::int64_t whole = 2 * kGuardBytes + (size + 15) / 16 * 16;
    buffer.bytes.assign(static_cast<std::size_t>(whole), kCanary);
    std::fill_n(buffer.bytes.begin() + kGuardBytes, size,
                buffer.is_input ? 0 : poison_of(device.type));
    return buffer;
}

/// Vectors start at multiples of their size in every row.
std::optional<Diagnostic> check_strides(const Diagram& diagram, const EmittedKernel& kernel) {
    for (const KernelParameter& parameter : kernel.parameters) {
        if (parameter.kind != KernelParameter::Kind::Stride) continue;
        const Array& array = diagram[parameter.array];
        const Axis& axis = diagram[array.axes[parameter.dimension]];
        const std::int64_t stride = strides_of(array, extents_of(diagram))[parameter.dimension];
        if (axis.extent > 1 && stride % parameter.multiple != 0)
            return messages::stride_is_no_multiple(kernel.name, array.name, axis.name, stride,
                                                   parameter.multiple);
    }
    return std::nullopt;
}

}  // namespace

std::int64_t bytes_for(ElementType type, std::int64_t elements) {
    return (elements * bits_of(type) + 7) / 8;
}

std::vector<Buffer> make_buffers(const Diagram& diagram, const EmittedProgram& program,
                                 const Tensors& inputs) {
    std::vector<Buffer> buffers;
    for (const DeviceArray& device : program.arrays) {
        Buffer buffer = make_buffer(diagram, device);
        if (buffer.is_input) {
            const auto found = inputs.find(device.array);
            invariant(found != inputs.end(), "input `", diagram[device.array].name, "` missing");
            for_elements(buffer, [&](std::int64_t linear, std::int64_t offset) {
                encode_element(buffer, offset,
                               found->second.values[static_cast<std::size_t>(linear)]);
            });
        }
        buffers.push_back(std::move(buffer));
    }
    return buffers;
}

Tensor decode(const Buffer& buffer) {
    Tensor tensor;
    tensor.extents = buffer.extents;
    tensor.values.resize(static_cast<std::size_t>(buffer.elements));
    for_elements(buffer, [&](std::int64_t linear, std::int64_t offset) {
        tensor.values[static_cast<std::size_t>(linear)] = decode_element(buffer, offset);
    });
    return tensor;
}

std::int64_t count_unchanged(const std::vector<BufferRun>& runs) {
    const Buffer& any = runs.front().before;
    if (any.type == ElementType::I4) return 0;
    const auto size = static_cast<std::size_t>(bytes_for(any.type, 1));
    std::atomic<std::int64_t> count = 0;
    for_elements(any, [&](std::int64_t, std::int64_t offset) {
        const auto at =
            static_cast<std::size_t>(kGuardBytes) + static_cast<std::size_t>(offset) * size;
        if (std::all_of(runs.begin(), runs.end(), [&](const BufferRun& run) {
                return std::memcmp(run.before.bytes.data() + at, run.after.bytes.data() + at,
                                   size) == 0;
            }))
            ++count;
    });
    return count;
}

bool fill_otherwise(std::vector<Buffer>& buffers) {
    bool filled = false;
    for (Buffer& buffer : buffers) {
        if (buffer.is_input || is_floating(buffer.type)) continue;
        const auto begin = buffer.bytes.begin() + kGuardBytes;
        const auto end = begin + bytes_for(buffer.type, buffer.elements);
        std::transform(begin, end, begin,
                       [](unsigned char byte) { return static_cast<unsigned char>(~byte); });
        filled = true;
    }
    return filled;
}

std::int64_t count_broken_canaries(const Buffer& buffer) {
    const std::int64_t end = kGuardBytes + bytes_for(buffer.type, buffer.elements);
    std::int64_t count = 0;
    for (std::size_t i = 0; i < buffer.bytes.size(); ++i) {
        const bool guards =
            i < static_cast<std::size_t>(kGuardBytes) || i >= static_cast<std::size_t>(end);
        if (guards && buffer.bytes[i] != kCanary) ++count;
    }
    return count;
}

std::vector<std::int64_t> extents_of(const Diagram& diagram) {
    std::vector<std::int64_t> extents;
    for (const Axis& axis : diagram.axes) extents.push_back(axis.extent);
    return extents;
}

std::optional<Diagnostic> check_contract(const Diagram& diagram, const EmittedKernel& kernel) {
    for (const Axis& axis : diagram.axes) {
        if (axis.extent > kMostSize)
            return messages::size_too_large(kernel.name, axis.name, kMostSize, axis.extent);
        const auto fixed = kernel.fixed.find(axis.name);
        if (fixed != kernel.fixed.end() && fixed->second != axis.extent)
            return messages::size_is_fixed(kernel.name, axis.name, fixed->second, axis.extent);
        const auto limit = kernel.at_most.find(axis.name);
        if (limit != kernel.at_most.end() && axis.extent > limit->second)
            return messages::size_above_limit(kernel.name, axis.name, limit->second, axis.extent);
    }
    if (std::optional<Diagnostic> wrong = check_strides(diagram, kernel)) return wrong;
    const std::int64_t blocks = blocks_of(kernel, extents_of(diagram));
    const std::int64_t most = most_tiles(kernel);
    if (blocks > most) return messages::grid_too_large(kernel.name, blocks, most);
    return std::nullopt;
}

}  // namespace napkin
