// Conditions that hold inside residue classes, taken apart before isl sees them:
//
//   i % 7 == u % 7 and window(i // 21, u // 7)      i = 7 a + r, u = 7 b + r:   window(a // 3, b)
//
// Over the quotients a and b there are no remainders, which isl takes long to project and returns
// in dozens of pieces. What is left to ask is whether a class r of a box has a point. Ends of
// quotients are the same for all classes but where r passes the remainder of an end of the box, or
// a constant's: one class after each such place stands for those that follow it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagrams/index/mask.h"

namespace napkin::index {

/// Conditions over quotients and the class.
struct ClassSplit {
    std::int64_t period = 1;            ///< how many classes there are
    std::vector<AxisId> members;        ///< axes whose indices are of one class
    std::vector<AxisId> quotients;      ///< of each member
    std::vector<std::int64_t> coarser;  ///< what else each quotient is divided by
    AxisId above;                       ///< an axis that has one index more than the class' number
    std::vector<Axis> axes;             ///< all there were, quotients, and that one
    std::vector<Expression> conditions;
    std::vector<std::int64_t> starts;  ///< classes from which on constants have other quotients
};
/// One class, of quotients alone, where no condition is that two indices have the same remainder;
/// nullopt where there are no quotients either, or a condition tells more of a class than they do.
[[nodiscard]] std::optional<ClassSplit> split_classes(const std::vector<Axis>& axes,
                                                      const std::vector<Expression>& conditions);

/// What is known of quotients, said of the indices of a mask.
class ClassBoxes {
public:
    /// `outer` are the coordinates of the mask, `inner` those of the split's conditions.
    ClassBoxes(const ClassSplit& split, const std::vector<Expression>& outer,
               const std::vector<Expression>& inner);
    /// Whether the conditions depend on nothing else.
    [[nodiscard]] bool is_known() const { return is_known_; }
    [[nodiscard]] std::vector<Clause> met(const std::vector<Clause>& inside) const;
    /// Chunks of so many indices of a member's coordinate, from runs of single quotients of it;
    /// nullopt where these are not consecutive, or a chunk has fewer indices than there are
    /// classes.
    [[nodiscard]] std::optional<std::vector<ChunkRun>> chunks(const std::vector<ChunkRun>& inside,
                                                              std::size_t coordinate,
                                                              std::int64_t size,
                                                              bool from_zero) const;

private:
    /// A class of a box, and where the box has it.
    struct Class {
        Clause when;
        Linear number;
        std::vector<Linear> inner;  ///< the values of the inner coordinates' ends
    };
    [[nodiscard]] std::vector<Class> first_classes() const;
    [[nodiscard]] std::vector<Class> last_classes() const;
    [[nodiscard]] Class class_of(Clause when, Linear number) const;
    [[nodiscard]] Linear remainder_of(std::size_t variable, Clause& clause) const;
    [[nodiscard]] Linear quotient_of(Linear dividend, std::int64_t divisor, Clause& clause) const;
    [[nodiscard]] Clause inside_of(const Class& one, const Clause& clause) const;

    const ClassSplit& split_;
    std::vector<std::size_t> members_;                       // their coordinates
    std::vector<std::optional<std::size_t>> inner_members_;  // of inner coordinates
    std::vector<std::optional<std::size_t>> inner_outer_;    // the same one outside
    std::size_t outer_;                                      // coordinates
    bool is_known_ = true;
};

/// A clause over other variables: what stands for each of its own, and for its first quotient.
[[nodiscard]] Linear substituted(const Linear& form, const std::vector<Linear>& variables,
                                 std::size_t first_quotient);

}  // namespace napkin::index
