// The letters of pictures as fonts in base64, made by scripts/make-font.
#pragma once

namespace napkin {

[[nodiscard]] const char* roman_letters();
[[nodiscard]] const char* italic_letters();
[[nodiscard]] const char* mono_letters();

}  // namespace napkin
