// Images in a terminal, by the protocol that it takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/terminal/answers.h"

namespace napkin::cli {

enum class ImageProtocol { Kitty, ITerm, Sixel };
/// The best that a terminal takes, if any.
[[nodiscard]] std::optional<ImageProtocol> protocol_of(const Answers& answers);

/// What shows a PNG in so many columns. Sixels know pixels only, and show the image as it is.
[[nodiscard]] std::string image_text(ImageProtocol protocol, const std::string& png, int columns);

/// RFC 4648, with padding.
[[nodiscard]] std::string to_base64(std::string_view bytes);

}  // namespace napkin::cli
