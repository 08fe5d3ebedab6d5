// How a diagram uses its inputs, as far as random values must respect it.
//
// An array that indexes an axis holds indices (Array::indexes); one that is compared with an axis
// holds positions (or lengths, up to and including the size, where the comparison orders); arrays
// compared with each other hold document numbers, small and non-decreasing along their last axis,
// and, where whole numbers stand in these comparisons, as often as not one of these more. What is
// compared with whole numbers, sizes and defaults of parameters holds, often enough to be met,
// those at which such a comparison changes; positions among them lie outside their axis only where
// it then says other than of the nearest position, as `label != -100` does.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "diagrams/diagram.h"

namespace napkin {

inline constexpr std::int64_t kMostDocuments = 4;  ///< numbered from 0

struct InputUse {
    std::int64_t positions = 0;  ///< the largest size of an axis it is compared with, or 0
    bool ordered = false;        ///< by `<` and the like, so that the size itself is a value
    bool document = false;       ///< compared with another array or another element
    /// Whole ones at which a comparison of an element of it, or of what it is compared with,
    /// changes; of documents, those that stand beside them too.
    std::set<std::int64_t> numbers;
    bool positive = false;  ///< under a root or logarithm, or a divisor
};

/// By array; one that is absent is only read.
[[nodiscard]] std::map<ArrayId, InputUse> input_uses(const Diagram& diagram);

/// Integers that elements of an array which is used so are drawn from, or the ends of many; none of
/// an index into a long axis.
[[nodiscard]] std::set<std::int64_t> drawn_integers(const Diagram& diagram, ArrayId array,
                                                    const InputUse& use);

}  // namespace napkin
