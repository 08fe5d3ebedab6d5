#include "diagrams/evaluate/npy_header.h"

#include <charconv>

namespace napkin::npy {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;

/// Reads the dictionary that NumPy writes: three keys, each once, in any order.
class DictionaryReader {
public:
    explicit DictionaryReader(std::string_view text) : text_(text) {}

    bool read(Header& header) {
        if (!take('{')) return false;
        int seen = 0;
        while (!take('}')) {
            const std::optional<std::string> key = quoted();
            if (!key || !take(':')) return false;
            if (!value_of(*key, header)) return false;
            ++seen;
            if (!take(',') && peek() != '}') return false;
        }
        return seen == 3 && !header.descr.empty();
    }

private:
    void skip_spaces() {
        while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n'))
            text_.remove_prefix(1);
    }
    char peek() {
        skip_spaces();
        return text_.empty() ? '\0' : text_.front();
    }
    bool take(char wanted) {
        if (peek() != wanted || text_.empty()) return false;
        text_.remove_prefix(1);
        return true;
    }
    bool take_word(std::string_view word) {
        skip_spaces();
        if (text_.substr(0, word.size()) != word) return false;
        text_.remove_prefix(word.size());
        return true;
    }
    std::optional<std::string> quoted() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') return std::nullopt;
        const std::size_t end = text_.find(quote, 1);
        if (end == std::string_view::npos) return std::nullopt;
        std::string result(text_.substr(1, end - 1));
        text_.remove_prefix(end + 1);
        return result;
    }
    bool integer(std::int64_t& value) {
        skip_spaces();
        const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
        if (error != std::errc() || value < 0) return false;
        text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
        return true;
    }
    bool shape(std::vector<std::int64_t>& extents) {
        if (!take('(')) return false;
        while (!take(')')) {
            std::int64_t extent = 0;
            if (!integer(extent)) return false;
            extents.push_back(extent);
            if (!take(',') && peek() != ')') return false;
        }
        return true;
    }
    bool value_of(const std::string& key, Header& header) {
        if (key == "descr") {
            const std::optional<std::string> descr = quoted();
            // A list here is a record type; it is kept as text, for the message.
            header.descr = descr ? *descr : "record";
            return descr.has_value();
        }
        if (key == "fortran_order") {
            header.fortran_order = take_word("True");
            return header.fortran_order || take_word("False");
        }
        return key == "shape" && shape(header.shape);
    }

    std::string_view text_;
};

std::size_t little_endian(std::string_view bytes) {
    std::size_t value = 0;
    for (std::size_t at = bytes.size(); at-- > 0;)
        value = value * 256 + static_cast<unsigned char>(bytes[at]);
    return value;
}

}  // namespace

std::optional<Header> parse_header(std::string_view bytes, std::string& problem) {
    if (bytes.substr(0, kMagic.size()) != kMagic) {
        problem = "it does not begin as a NumPy file does";
        return std::nullopt;
    }
    const std::size_t version =
        bytes.size() > kMagic.size() ? static_cast<unsigned char>(bytes[kMagic.size()]) : 0;
    if (version < 1 || version > 3) {
        problem = "its format version is " + std::to_string(version) + ", not 1, 2 or 3";
        return std::nullopt;
    }
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    const std::size_t text_begin = kMagic.size() + 2 + length_bytes;
    const std::size_t length =
        bytes.size() < text_begin
            ? 0
            : little_endian(bytes.substr(text_begin - length_bytes, length_bytes));
    if (bytes.size() < text_begin || bytes.size() - text_begin < length) {
        problem = "it ends inside its header";
        return std::nullopt;
    }
    Header header;
    header.data_begin = text_begin + length;
    if (!DictionaryReader(bytes.substr(text_begin, length)).read(header)) {
        problem = header.descr == "record" ? "it holds records, not plain numbers"
                                           : "its header is damaged";
        return std::nullopt;
    }
    return header;
}

std::string print_header(std::string_view descr, const std::vector<std::int64_t>& shape) {
    std::string text = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
    for (const std::int64_t extent : shape) text += std::to_string(extent) + ", ";
    if (shape.size() > 1) text.resize(text.size() - 2);
    if (shape.size() == 1) text.resize(text.size() - 1);
    text += "), }";
    const std::size_t before = kMagic.size() + 4;
    while ((before + text.size() + 1) % kAlignment != 0) text += ' ';
    text += '\n';
    std::string result(kMagic);
    result += '\x01';
    result += '\0';
    result += static_cast<char>(text.size() % 256);
    result += static_cast<char>(text.size() / 256);
    return result + text;
}

}  // namespace napkin::npy
