// No exponent above zero, no overflow: interval arithmetic over a tile program, for real inputs in
// a stated range and integers of any value of their types (up to 2^53, which arrays hold).
//
// Intervals alone lose that a maximum bounds what it is the maximum of, so facts of the form
// `expression <= array` are kept beside them: from every fold of a maximum and every call of max.
// An exponent `A - B` is at most zero where such facts lead from A to B. A sum of exponentials
// relative to the maximum of their own exponents, repaired as that grows, is at least one where
// anything is visible. Everything else is a hull.
#pragma once

#include <string>
#include <vector>

#include "derive/region_program.h"

namespace napkin::proof {

/// One exponential of the program.
struct ExponentBound {
    std::string region;
    std::string exponent;  ///< `S - guard(P_max_new)`
    double most = 0;       ///< at most this, up to rounding
    /// It may overflow, but all that reads it is a quotient by something at least as large, which
    /// is then 0.
    bool saturates = false;
    [[nodiscard]] bool safe() const;
    bool operator==(const ExponentBound&) const = default;
};

/// The range of one array of a region's program.
struct ArrayRange {
    std::string region;
    std::string array;
    ElementType type = ElementType::F32;  ///< in which it is kept
    double low = 0;
    double high = 0;
    [[nodiscard]] bool safe() const;
    bool operator==(const ArrayRange&) const = default;
};

struct Safety {
    double range = 0;           ///< real inputs lie in [-range, range]
    bool any_integers = false;  ///< and there are integer inputs, of any value of their types
    std::vector<ExponentBound> exponents;
    std::vector<ArrayRange> arrays;
    [[nodiscard]] bool exponents_safe() const;
    [[nodiscard]] bool arrays_safe() const;
    bool operator==(const Safety&) const = default;
};

/// What is safe and for which inputs, or the exponentials and arrays of which that is not shown.
[[nodiscard]] std::string describe(const Safety& safety);

[[nodiscard]] Safety check_safety(const Diagram& diagram, const TileProgram& program, double range);

}  // namespace napkin::proof
