#include "cli/numbers.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace napkin::cli {
namespace {

std::string with_unit(double value, double base, const char* const* units, std::size_t count) {
    std::size_t unit = 0;
    // 999.5 would round to 1000 and belongs to the next unit.
    while (unit + 1 < count && std::abs(value) >= base * 0.9995) {
        value /= base;
        ++unit;
    }
    char buffer[48];
    const bool whole = unit == 0 && value == std::floor(value);
    const int digits = std::abs(value) >= 100 ? 0 : std::abs(value) >= 10 ? 1 : 2;
    std::snprintf(buffer, sizeof buffer, "%.*f %s", whole ? 0 : digits, value, units[unit]);
    return buffer;
}

}  // namespace

std::string bytes_text(double bytes) {
    static constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
    return with_unit(bytes, 1000, kUnits.data(), kUnits.size());
}

std::string capacity_text(std::int64_t bytes) {
    if (bytes < 1024) return std::to_string(bytes) + " B";
    char buffer[48];
    std::snprintf(buffer, sizeof buffer, "%.4g KiB", static_cast<double>(bytes) / 1024);
    return buffer;
}

std::string time_text(double seconds) {
    if (!std::isfinite(seconds)) return "not known";
    static constexpr std::array kUnits{"ns", "us", "ms", "s"};
    return with_unit(seconds * 1e9, 1000, kUnits.data(), kUnits.size());
}

std::string interval_text(double low, double high) {
    const std::string first = time_text(low);
    const std::string last = time_text(high);
    return first == last ? first : first + " to " + last;
}

std::string three_digits(double value) {
    char buffer[32];
    constexpr double kWrittenOut = 1e6;
    if (std::abs(value) >= 999.5 && std::abs(value) < kWrittenOut) {
        const double unit = std::abs(value) < 9995 ? 10 : std::abs(value) < 99950 ? 100 : 1000;
        return grouped(std::llround(value / unit) * static_cast<std::int64_t>(unit));
    }
    std::snprintf(buffer, sizeof buffer, "%.3g", value);
    return buffer;
}

std::string as_many_text(double ratio) {
    const std::string times = three_digits(ratio);
    return times == "1" ? "as many" : times + " times as many";
}

std::string change_text(double before, double after) {
    if (before == after && std::isfinite(before)) return "the same";
    if (before <= 0 || after <= 0 || !std::isfinite(before) || !std::isfinite(after)) return "";
    constexpr double kVisible = 0.005;
    if (std::abs(after / before - 1) < kVisible) return "the same";
    return after < before ? "/ " + three_digits(before / after)
                          : "x " + three_digits(after / before);
}

std::size_t width_of(const std::string& text) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        // U+0300 to U+036F, which are put over the character before.
        const bool combines = byte == 0xCCU || (byte == 0xCDU && at + 1 < text.size() &&
                                                static_cast<unsigned char>(text[at + 1]) < 0xB0U);
        if ((byte & 0xC0U) != 0x80U && !combines) ++width;
    }
    return width;
}

std::string padded(std::string text, std::size_t width) {
    const std::size_t has = width_of(text);
    if (has < width) text.append(width - has, ' ');
    return text;
}

std::string padded_left(const std::string& text, std::size_t width) {
    const std::size_t has = width_of(text);
    return has < width ? std::string(width - has, ' ') + text : text;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

}  // namespace napkin::cli
