// The base protocol of language servers: messages of JSON, each behind a header that says how long
// it is.
#pragma once

#include <istream>
#include <string>
#include <variant>

namespace napkin::lsp {

/// Messages above this are passed over: no text that is served is as long.
inline constexpr std::size_t kLongestMessage = std::size_t{1} << 27;

struct EndOfInput {};
/// Why what was read is no message; reading goes on behind it.
struct BrokenFrame {
    std::string why;
};
using Frame = std::variant<std::string, BrokenFrame, EndOfInput>;

[[nodiscard]] Frame read_frame(std::istream& in);
[[nodiscard]] std::string framed(const std::string& message);

}  // namespace napkin::lsp
