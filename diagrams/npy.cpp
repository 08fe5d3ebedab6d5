#include "diagrams/npy.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>

#include "diagrams/evaluate/npy_header.h"
#include "diagrams/evaluate/npy_messages.h"

namespace napkin {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr double kLargestExactInteger = 0x1p53;

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

std::string last_error() {
    return std::generic_category().message(errno);
}

Result<std::string> read_bytes(const std::string& path) {
    std::error_code failed;
    if (std::filesystem::is_directory(path, failed))
        return messages::cannot_read(path, std::generic_category().message(EISDIR));
    const File file(std::fopen(path.c_str(), "rb"));
    if (file == nullptr) return messages::cannot_read(path, last_error());
    std::string bytes;
    std::string block(std::size_t{1} << 20, '\0');
    while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get()))
        bytes.append(block, 0, count);
    if (std::ferror(file.get()) != 0) return messages::cannot_read(path, last_error());
    return bytes;
}

/// How a type's bytes become a number.
struct Decoder {
    std::string_view name;
    std::size_t bytes = 0;
    NpyContent::Kind kind = NpyContent::Kind::Floating;
    double (*decode)(const char*) = nullptr;
};

template <class T>
double decode_plain(const char* bytes) {
    T value{};
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<double>(value);
}

double decode_half(const char* bytes) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    const int exponent = (bits >> 10) & 0x1f;
    const int fraction = bits & 0x3ff;
    double value =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 0x1f)
        value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
    return (bits & 0x8000) != 0 ? -value : value;
}

const Decoder* decoder_for(std::string_view name) {
    using Kind = NpyContent::Kind;
    static constexpr std::array kDecoders = {
        Decoder{"f2", 2, Kind::Floating, decode_half},
        Decoder{"f4", 4, Kind::Floating, decode_plain<float>},
        Decoder{"f8", 8, Kind::Floating, decode_plain<double>},
        Decoder{"i1", 1, Kind::Integer, decode_plain<std::int8_t>},
        Decoder{"i2", 2, Kind::Integer, decode_plain<std::int16_t>},
        Decoder{"i4", 4, Kind::Integer, decode_plain<std::int32_t>},
        Decoder{"i8", 8, Kind::Integer, decode_plain<std::int64_t>},
        Decoder{"u1", 1, Kind::Integer, decode_plain<std::uint8_t>},
        Decoder{"u2", 2, Kind::Integer, decode_plain<std::uint16_t>},
        Decoder{"u4", 4, Kind::Integer, decode_plain<std::uint32_t>},
        Decoder{"u8", 8, Kind::Integer, decode_plain<std::uint64_t>},
        Decoder{"b1", 1, Kind::Boolean, decode_plain<std::uint8_t>},
    };
    const auto* const found =
        std::find_if(kDecoders.begin(), kDecoders.end(),
                     [&](const Decoder& entry) { return entry.name == name; });
    return found == kDecoders.end() ? nullptr : found;
}

/// The number of elements; nullopt where it is absurd.
std::optional<std::size_t> count_of(const std::vector<std::int64_t>& shape) {
    double estimate = 1;
    std::size_t count = 1;
    for (const std::int64_t extent : shape) {
        estimate *= static_cast<double>(extent);
        if (estimate > 0x1p48) return std::nullopt;
        count *= static_cast<std::size_t>(extent);
    }
    return count;
}

/// From the first dimension fastest to the last dimension fastest.
std::vector<double> from_fortran(const Tensor& tensor) {
    std::vector<double> result(tensor.values.size());
    std::vector<std::int64_t> index(tensor.extents.size());
    for (const double value : tensor.values) {
        result[static_cast<std::size_t>(tensor.offset(index))] = value;
        for (std::size_t at = 0; at < index.size(); ++at) {
            if (++index[at] < tensor.extents[at]) break;
            index[at] = 0;
        }
    }
    return result;
}

void decode_all(const Decoder& decoder, std::string_view data, bool swapped, Tensor& tensor) {
    std::array<char, 8> element{};
    for (std::size_t at = 0; at < tensor.values.size(); ++at) {
        const char* bytes = data.data() + at * decoder.bytes;
        if (swapped) {
            std::reverse_copy(bytes, bytes + decoder.bytes, element.begin());
            bytes = element.data();
        }
        tensor.values[at] = decoder.decode(bytes);
    }
}

struct Encoding {
    std::string_view descr;
    std::size_t bytes = 0;
};

Encoding encoding_of(NpyType type) {
    switch (type) {
    case NpyType::F4: return {"<f4", 4};
    case NpyType::F8: return {"<f8", 8};
    case NpyType::I4: return {"<i4", 4};
    case NpyType::I8: return {"<i8", 8};
    case NpyType::B1: return {"|b1", 1};
    }
    throw InternalError("unknown NumPy type");
}

template <class T>
void encode_plain(T value, char* bytes) {
    std::memcpy(bytes, &value, sizeof value);
}

void encode(NpyType type, double value, char* bytes) {
    switch (type) {
    case NpyType::F4: return encode_plain(static_cast<float>(value), bytes);
    case NpyType::F8: return encode_plain(value, bytes);
    case NpyType::I4:
        return encode_plain(static_cast<std::int32_t>(round_to(ElementType::I32, value)), bytes);
    case NpyType::I8:
        return encode_plain(static_cast<std::int64_t>(round_to(ElementType::I64, value)), bytes);
    case NpyType::B1: return encode_plain(static_cast<std::uint8_t>(value != 0 ? 1 : 0), bytes);
    }
}

}  // namespace

namespace {

bool is_exact(const NpyContent& content) {
    return content.kind != NpyContent::Kind::Integer ||
           std::all_of(content.tensor.values.begin(), content.tensor.values.end(),
                       [](double value) { return std::abs(value) <= kLargestExactInteger; });
}

}  // namespace

Result<NpyContent> read_npy(const std::string& path) {
    const Result<std::string> bytes = read_bytes(path);
    if (!bytes) return bytes.error();
    std::string problem;
    const std::optional<npy::Header> header = npy::parse_header(*bytes, problem);
    if (!header) return messages::damaged_npy(path, problem);
    NpyContent content;
    content.descr = header->descr;
    const bool has_order = header->descr.find_first_of("<>|=") == 0;
    const Decoder* decoder = decoder_for(std::string_view(header->descr).substr(has_order ? 1 : 0));
    if (decoder == nullptr) return messages::unsupported_npy_type(path, header->descr);
    content.kind = decoder->kind;
    const std::optional<std::size_t> count = count_of(header->shape);
    if (!count) return messages::damaged_npy(path, "its shape is absurdly large");
    const std::string_view data = std::string_view(*bytes).substr(header->data_begin);
    if (data.size() != *count * decoder->bytes)
        return messages::npy_length_differs(path, *count * decoder->bytes, data.size());
    content.tensor.extents = header->shape;
    content.tensor.values.resize(*count);
    decode_all(*decoder, data, header->descr.front() == '>', content.tensor);
    if (!is_exact(content)) return messages::npy_integer_too_large(path);
    if (header->fortran_order) content.tensor.values = from_fortran(content.tensor);
    return content;
}

Result<Tensor> input_of(const Diagram& diagram, ArrayId array, NpyContent content,
                        const std::string& name) {
    const ElementType type = diagram[array].type;
    const NpyContent::Kind wanted = type == ElementType::Bool ? NpyContent::Kind::Boolean
                                    : is_floating(type)       ? NpyContent::Kind::Floating
                                                              : NpyContent::Kind::Integer;
    if (content.kind != wanted)
        return messages::npy_kind_differs(name, diagram, array, content.descr);
    if (!is_exact(content)) return messages::npy_integer_too_large(name);
    Tensor tensor = std::move(content.tensor);
    if (tensor.extents != make_tensor(diagram, array).extents)
        return messages::npy_shape_differs(name, diagram, array, tensor.extents);
    if (is_floating(type))
        for (double& value : tensor.values) value = round_to(type, value);
    return tensor;
}

Result<Tensor> read_input(const Diagram& diagram, ArrayId array, const std::string& path) {
    Result<NpyContent> content = read_npy(path);
    if (!content) return content.error();
    return input_of(diagram, array, std::move(content).value(), path);
}

std::string npy_bytes(const Tensor& tensor, NpyType type) {
    const Encoding encoding = encoding_of(type);
    std::string bytes = npy::print_header(encoding.descr, tensor.extents);
    std::size_t at = bytes.size();
    bytes.resize(at + tensor.values.size() * encoding.bytes);
    for (const double value : tensor.values) {
        encode(type, value, bytes.data() + at);
        at += encoding.bytes;
    }
    return bytes;
}

NpyType npy_type_for(ElementType type) {
    if (type == ElementType::Bool) return NpyType::B1;
    if (type == ElementType::F64) return NpyType::F8;
    if (type == ElementType::I64) return NpyType::I8;
    return is_floating(type) ? NpyType::F4 : NpyType::I4;
}

}  // namespace napkin
