// Which boxes of indices a condition meets, and which it covers, in closed form.
//
// What varies in a box (indices, products of run-time sizes) lies between two ends. isl projects it
// out of the condition, once; what remains are inequalities of the ends, sizes and floor divisions
// of those, so that a box is judged by some additions: `x <= q` meets it where x.low <= q.high.
//
// Whoever asks gets the same answers: interpreter, counts and printed kernels visit the same
// chunks. Where an answer is not known, or would take isl too long, a mask meets a box and does not
// cover it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/index/domain.h"
#include "diagrams/index/interval.h"

namespace napkin::index {

/// constant + sum of coefficient * variable. Variable 2c is the low end of coordinate c, 2c + 1 its
/// high end; from 2n + 2 on of n coordinates they are the quotients of the clause.
struct Linear {
    std::int64_t constant = 0;
    std::vector<std::pair<std::size_t, std::int64_t>> terms;
    bool operator==(const Linear&) const = default;
};
/// a + factor * b; numbers saturate.
[[nodiscard]] Linear sum(Linear a, const Linear& b, std::int64_t factor);
/// Rounded down.
struct Quotient {
    Linear dividend;
    std::int64_t divisor = 1;
};
/// Holds where every one of `zero` is 0 and none of `not_negative` is negative.
struct Clause {
    std::vector<Quotient> quotients;  ///< each of ends and earlier ones
    std::vector<Linear> zero;
    std::vector<Linear> not_negative;
};
/// Holds where one of the clauses does, or, `inverted`, where none does.
struct Choice {
    std::vector<Clause> clauses;
    bool inverted = false;
};
/// Holds where every choice does.
using BoxCondition = std::vector<Choice>;

/// Chunks in arithmetic progression: where `when` holds, every number k with k = residue (mod
/// step), divisor * k >= dividend for each of `least` and divisor * k <= dividend for each of
/// `most`.
struct ChunkRun {
    Clause when;
    std::vector<Quotient> least;
    std::vector<Quotient> most;
    std::int64_t step = 1;
    Linear residue;
};
/// Those of all runs, which may overlap, where `when` holds.
struct Chunks {
    BoxCondition when;
    std::vector<ChunkRun> runs;
};

/// An axis cut into tiles of so many indices, the last of what is left.
struct Tiling {
    AxisId axis;
    std::int64_t size = 1;
    bool operator==(const Tiling&) const = default;
};

class Mask {
public:
    /// Of the points where all conditions hold. Elements of arrays that `elements` knows are
    /// coordinates, whose ends only a closed form can be given.
    Mask(const std::vector<Axis>& axes, const std::vector<Expression>& conditions,
         const Elements& elements = {});
    Mask(Mask&&) noexcept;
    ~Mask();

    /// The integers on which answers depend: indices, sizes, and what is computed of them. A box
    /// has an interval of each.
    [[nodiscard]] const std::vector<Expression>& coordinates() const;
    /// Where an index of the box may satisfy the conditions.
    [[nodiscard]] const BoxCondition& where_met() const;
    /// Where certainly every index does.
    [[nodiscard]] const BoxCondition& where_covered() const;
    /// Whether `where_met` says no less than visiting every index would.
    [[nodiscard]] bool is_exact() const;
    /// Which points it has: a box of one point, every coordinate's value at its low end. Nullopt
    /// where it would take too long to say.
    [[nodiscard]] std::optional<BoxCondition> where_holds() const;
    /// The chunks of so many indices that the mask meets, where the axis' own coordinate is the
    /// part that is cut into chunks, the first of which is number 0, and begins at index 0 if
    /// `from_zero`; nullopt where they are no progressions.
    [[nodiscard]] std::optional<Chunks> chunks_met(AxisId axis, std::int64_t size,
                                                   bool from_zero) const;

    /// How many boxes of these tiles it meets in a part that has a range of each of their axes,
    /// as diagrams/index/visit_count.h counts them, once.
    [[nodiscard]] std::optional<std::int64_t> boxes_met(const std::vector<Axis>& axes,
                                                        const std::vector<Tiling>& tilings,
                                                        const Ranges& within) const;

    /// The coordinates of a box, until the next question.
    [[nodiscard]] const std::vector<Interval>& box(const Ranges& ranges) const;
    [[nodiscard]] bool meets(const Ranges& ranges) const;
    [[nodiscard]] bool covers(const Ranges& ranges) const;

private:
    struct Parts;
    [[nodiscard]] static std::shared_ptr<Parts> shared(const std::vector<Axis>& axes,
                                                       std::vector<Expression> conjuncts);
    std::shared_ptr<Parts> parts_;
};

/// The first chunk from this number on that is met in a box, of those that lie in it.
[[nodiscard]] std::optional<std::int64_t> next_chunk(const Chunks& chunks,
                                                     const std::vector<Interval>& box,
                                                     std::int64_t from);

}  // namespace napkin::index
