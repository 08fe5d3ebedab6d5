#include "cli/npy.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "cli/console.h"
#include "cli/messages.h"

namespace napkin::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they are stored");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLargestTensorFile = std::size_t{1} << 36;

struct Header {
    std::string type;  ///< `<f4`
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
    std::size_t data = 0;  ///< where the values begin
};

/// What follows `'key':` in the header's dictionary.
std::optional<std::string_view> value_of(std::string_view dictionary, std::string_view key) {
    const std::string quoted = "'" + std::string(key) + "'";
    std::size_t at = dictionary.find(quoted);
    if (at == std::string_view::npos) return std::nullopt;
    at = dictionary.find(':', at + quoted.size());
    if (at == std::string_view::npos) return std::nullopt;
    at = dictionary.find_first_not_of(' ', at + 1);
    if (at == std::string_view::npos) return std::nullopt;
    return dictionary.substr(at);
}

std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text) {
    if (text.empty() || text.front() != '(') return std::nullopt;
    const std::size_t close = text.find(')');
    if (close == std::string_view::npos) return std::nullopt;
    text = text.substr(1, close - 1);
    std::vector<std::int64_t> shape;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        std::string_view word = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
        while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
        if (word.empty()) continue;
        std::int64_t extent = 0;
        const auto parsed = std::from_chars(word.data(), word.data() + word.size(), extent);
        if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size() || extent < 0)
            return std::nullopt;
        shape.push_back(extent);
    }
    return shape;
}

std::optional<Header> parse_header(std::string_view bytes) {
    constexpr std::size_t kPrefix = 8;
    if (bytes.size() < kPrefix + 4 || bytes.substr(0, kMagic.size()) != kMagic) return std::nullopt;
    const auto byte = [&](std::size_t at) {
        return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at]));
    };
    const bool wide = byte(6) >= 2;
    std::size_t length = byte(8) | byte(9) << 8;
    if (wide) length |= byte(10) << 16 | byte(11) << 24;
    const std::size_t begin = kPrefix + (wide ? 4 : 2);
    if (bytes.size() < begin + length) return std::nullopt;
    const std::string_view dictionary = bytes.substr(begin, length);
    const auto type = value_of(dictionary, "descr");
    const auto order = value_of(dictionary, "fortran_order");
    const auto shape = value_of(dictionary, "shape");
    if (!type || !order || !shape || type->front() != '\'') return std::nullopt;
    const std::size_t quote = type->find('\'', 1);
    const auto extents = parse_shape(*shape);
    if (quote == std::string_view::npos || !extents) return std::nullopt;
    return Header{std::string(type->substr(1, quote - 1)), order->substr(0, 4) == "True", *extents,
                  begin + length};
}

template <class Stored>
double value_at(const char* data, std::size_t index) {
    Stored value{};
    std::memcpy(&value, data + index * sizeof(Stored), sizeof(Stored));
    return static_cast<double>(value);
}

/// How one stored type is read.
struct StoredType {
    std::string_view name;
    std::size_t bytes;
    bool floating;
    double (*read)(const char*, std::size_t);
};

const StoredType* stored_type(std::string_view name) {
    static constexpr StoredType kTypes[] = {
        {"f4", 4, true, value_at<float>},          {"f8", 8, true, value_at<double>},
        {"i1", 1, false, value_at<std::int8_t>},   {"i2", 2, false, value_at<std::int16_t>},
        {"i4", 4, false, value_at<std::int32_t>},  {"i8", 8, false, value_at<std::int64_t>},
        {"u1", 1, false, value_at<std::uint8_t>},  {"u2", 2, false, value_at<std::uint16_t>},
        {"u4", 4, false, value_at<std::uint32_t>}, {"b1", 1, false, value_at<std::uint8_t>},
    };
    if (name.empty() || name.front() == '>') return nullptr;
    for (const StoredType& type : kTypes)
        if (type.name == name.substr(1)) return &type;
    return nullptr;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    return text + ")";
}

/// Position in a file of Fortran order of the element at `offset` in C order.
std::size_t fortran_position(const std::vector<std::int64_t>& shape, std::size_t offset) {
    std::vector<std::size_t> index(shape.size());
    for (std::size_t i = shape.size(); i-- > 0;) {
        index[i] = offset % static_cast<std::size_t>(shape[i]);
        offset /= static_cast<std::size_t>(shape[i]);
    }
    std::size_t position = 0;
    for (std::size_t i = shape.size(); i-- > 0;)
        position = position * static_cast<std::size_t>(shape[i]) + index[i];
    return position;
}

template <class Stored>
void append(std::string& bytes, double value) {
    const Stored stored = static_cast<Stored>(value);
    char raw[sizeof(Stored)];
    std::memcpy(raw, &stored, sizeof(Stored));
    bytes.append(raw, sizeof(Stored));
}

}  // namespace

Result<Tensor> read_npy(const std::string& path, const Diagram& diagram, ArrayId array) {
    const Result<std::string> bytes = read_file(path, kLargestTensorFile);
    if (!bytes) return bytes.error();
    const std::optional<Header> header = parse_header(*bytes);
    if (!header) return damaged_tensor(path, "it has no header of the `.npy` format");
    Tensor tensor = make_tensor(diagram, array);
    const ElementType type = diagram[array].type;
    const StoredType* stored = stored_type(header->type);
    if (stored == nullptr || stored->floating != is_floating(type))
        return tensor_of_other_type(path, header->type, diagram[array].name, name_of(type));
    if (header->shape != tensor.extents)
        return tensor_of_other_shape(path, shape_text(header->shape), diagram[array].name,
                                     shape_text(tensor.extents));
    const std::size_t count = tensor.values.size();
    if (bytes->size() - header->data < count * stored->bytes)
        return damaged_tensor(path, "it ends before its last value");
    const char* data = bytes->data() + header->data;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = header->fortran_order ? fortran_position(header->shape, i) : i;
        const double value = stored->read(data, at);
        tensor.values[i] = stored->floating ? round_to(type, value) : value;
    }
    return tensor;
}

std::string npy_bytes(const Tensor& tensor, ElementType type) {
    struct Writer {
        const char* name;
        void (*append)(std::string&, double);
    };
    Writer writer{"<f4", append<float>};
    if (type == ElementType::F64) writer = {"<f8", append<double>};
    if (type == ElementType::I8 || type == ElementType::I4) writer = {"|i1", append<std::int8_t>};
    if (type == ElementType::I32) writer = {"<i4", append<std::int32_t>};
    if (type == ElementType::I64) writer = {"<i8", append<std::int64_t>};
    if (type == ElementType::Bool) writer = {"|b1", append<std::uint8_t>};

    std::string shape = "(";
    for (const std::int64_t extent : tensor.extents) shape += std::to_string(extent) + ", ";
    std::string header = "{'descr': '" + std::string(writer.name) +
                         "', 'fortran_order': False, 'shape': " + shape + "), }";
    constexpr std::size_t kAlignment = 64;  // the format asks that values begin at a multiple of it
    while ((kMagic.size() + 4 + header.size() + 1) % kAlignment != 0) header += ' ';
    header += '\n';

    std::string bytes(kMagic);
    bytes += {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
    bytes += header;
    for (const double value : tensor.values) writer.append(bytes, value);
    return bytes;
}

}  // namespace napkin::cli
