// Numbers and lists as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perfmodel/grouped.h"

namespace napkin::cli {

inline constexpr double kMicroseconds = 1e6;  ///< in a second

/// `69.2 MB`, in powers of 1000; whole bytes below 1000.
[[nodiscard]] std::string bytes_text(double bytes);
/// `48 KiB`: for capacities, which come in powers of 1024.
[[nodiscard]] std::string capacity_text(std::int64_t bytes);
/// `12.3 us`, `4.56 ms`.
[[nodiscard]] std::string time_text(double seconds);
/// `12.3 us to 13 us`, or one of them where both read alike.
[[nodiscard]] std::string interval_text(double low, double high);
/// Three significant digits: `0.125`, `12.3`, `4,560`, `4.56e+07`.
[[nodiscard]] std::string three_digits(double value);
/// `1.5 times as many`, `as many` of a ratio that reads as 1.
[[nodiscard]] std::string as_many_text(double ratio);
/// `/ 12.5` where it became less, `x 3.1` where more, `the same` where neither.
[[nodiscard]] std::string change_text(double before, double after);
/// Columns of a text in UTF-8: its code points, but for those that are put over another.
[[nodiscard]] std::size_t width_of(const std::string& text);
/// Text filled with blanks to a width in columns.
[[nodiscard]] std::string padded(std::string text, std::size_t width);
[[nodiscard]] std::string padded_left(const std::string& text, std::size_t width);

/// With commas between.
[[nodiscard]] std::string joined(const std::vector<std::string>& words);

}  // namespace napkin::cli
