// How a diagram uses its inputs, as far as random values must respect it.
//
// An array that indexes an axis holds indices (Array::indexes); one that is compared with an axis
// holds positions (or lengths, up to and including the size, where the comparison orders); arrays
// compared with each other hold document numbers, small and non-decreasing along their last axis,
// and, where whole numbers stand in these comparisons, as often as not one of these more. Others,
// if they are compared with whole numbers, hold these as often as not.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "diagrams/diagram.h"

namespace napkin {

struct InputUse {
    std::int64_t positions = 0;  ///< the largest size of an axis it is compared with, or 0
    bool ordered = false;        ///< by `<` and the like, so that the size itself is a value
    bool document = false;       ///< compared with another array or another element
    /// Whole ones that an element of it, or of what it is compared with, is compared with.
    std::set<std::int64_t> numbers;
    bool positive = false;  ///< under a root or logarithm, or a divisor
};

/// By array; one that is absent is only read.
[[nodiscard]] std::map<ArrayId, InputUse> input_uses(const Diagram& diagram);

}  // namespace napkin
