// The machine files of perfmodel/machines/ as they are built into the binary.
#pragma once

#include <span>
#include <string_view>

namespace napkin {

struct EmbeddedMachine {
    std::string_view name;  ///< as the file calls it, `H200`
    std::string_view text;
};

/// In the order in which CMakeLists.txt lists them.
[[nodiscard]] std::span<const EmbeddedMachine> embedded_machines();
/// By name, upper and lower case alike; null when there is none.
[[nodiscard]] const EmbeddedMachine* find_embedded(std::string_view name);

}  // namespace napkin
