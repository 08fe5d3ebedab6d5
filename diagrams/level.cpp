#include "diagrams/level.h"

#include <array>
#include <utility>

namespace napkin {
namespace {

constexpr std::array<std::pair<std::string_view, Level>, 9> kLevelNames = {{
    {"device", Level::Device},
    {"cache", Level::Cache},
    {"cluster", Level::Cluster},
    {"block", Level::Block},
    {"warps", Level::Warps},
    {"thread", Level::Thread},
    {"l0", Level::Device},
    {"l1", Level::Block},
    {"l2", Level::Warps},
}};

}  // namespace

std::string_view name_of(Level level) {
    for (const auto& [name, value] : kLevelNames)
        if (value == level) return name;
    return "?";
}

std::optional<Level> level_named(std::string_view name) {
    for (const auto& [known, value] : kLevelNames)
        if (known == name) return value;
    return std::nullopt;
}

}  // namespace napkin
