// Integer reasoning about the points at which an expression is computed.
//
// The points are all indices of the axes, all run-time sizes, and all values of *atoms*: elements
// of integer arrays, products of what varies, comparisons of reals, whatever is not quasi-affine.
// Equal atoms have equal values; nothing else is assumed of them but their range. An answer that
// holds for all these points holds in the diagram, so what is proved is true, and what is not
// affine is only known less of. Over the points the answers are exact (isl decides); a question
// that would take too long is left open.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin::index {

/// Inclusive; an end is absent where none is known.
struct Bounds {
    std::optional<std::int64_t> low;
    std::optional<std::int64_t> high;
};

/// What is known of the elements of an integer array.
struct ElementRange {
    Bounds bounds;
    std::optional<AxisId> below;  ///< they are less than the size of this axis
};
/// Nullopt for arrays whose elements are no integers.
using Elements = std::function<std::optional<ElementRange>(ArrayId)>;

class Domain {
public:
    /// Every index of `axes`, which have to live as long; `elements` may be empty where no arrays
    /// are read.
    Domain(const std::vector<Axis>& axes, Elements elements);
    Domain(const Domain&) = delete;
    Domain& operator=(const Domain&) = delete;
    ~Domain();
    /// Leaves the points where the condition holds, or those where it does not. Of very many
    /// conditions the last ones are left out.
    void restrict_to(const Expression& condition, bool holds = true);

private:
    friend bool is_empty(const Domain& domain);
    friend struct Within is_within(const Domain& domain, const Expression& index, AxisId axis);
    friend std::optional<Bounds> range_of(const Domain& domain, const Expression& expression);
    friend std::optional<std::int64_t> count_of(const Domain& domain, AxisId axis);
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Whether it is certain that no point is left.
[[nodiscard]] bool is_empty(const Domain& domain);

/// What is certain of an index at every point.
struct Within {
    bool above = false;  ///< never below zero
    bool below = false;  ///< never the size of the axis or more
    [[nodiscard]] bool inside() const { return above && below; }
};
[[nodiscard]] Within is_within(const Domain& domain, const Expression& index, AxisId axis);

/// The least and the greatest value of an integer expression; nullopt where there is no point.
[[nodiscard]] std::optional<Bounds> range_of(const Domain& domain, const Expression& expression);

/// How many indices of an axis the points have; nullopt where atoms or run-time sizes decide, or
/// counting takes too long.
[[nodiscard]] std::optional<std::int64_t> count_of(const Domain& domain, AxisId axis);

}  // namespace napkin::index
