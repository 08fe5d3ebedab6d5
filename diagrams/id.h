// Tagged identifiers: an index into one of a value's own vectors, typed so that kinds cannot be
// mixed.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace napkin {

/// An index into the vector of things that `Tag` names; ordered, so it can key a map.
template <class Tag>
struct Id {
    std::uint32_t value = 0;
    // clang-tidy 14 takes the zero that <=> is compared with for a pointer.
    auto operator<=>(const Id&) const = default;  // NOLINT(modernize-use-nullptr)
    [[nodiscard]] std::size_t index() const { return value; }
};

using AxisId = Id<struct AxisTag>;            ///< into Diagram::axes
using ArrayId = Id<struct ArrayTag>;          ///< into Diagram::arrays
using StatementId = Id<struct StatementTag>;  ///< into Diagram::statements
using MonoidId = Id<struct MonoidTag>;        ///< into Diagram::monoids
using BoxId = Id<struct BoxTag>;              ///< into Diagram::boxes

}  // namespace napkin
