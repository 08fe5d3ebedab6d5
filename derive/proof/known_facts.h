// What is known of a region's values while its program is read: which are below which, and which
// sums of exponentials reach one.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin::proof {

/// What is subtracted, without the guard for rows on which nothing is visible.
[[nodiscard]] const Expression& unguarded(const Expression& expression);
/// The expression as a call of this function, or null.
[[nodiscard]] const Apply* call_of(const Expression& expression, Function function);
[[nodiscard]] std::optional<ArrayId> array_read(const Expression& expression);
[[nodiscard]] bool array_in(const Expression& expression, ArrayId array);

class KnownFacts {
public:
    /// What holds after `target = value`, the old facts about it being forgotten.
    void note_map(ArrayId target, const Expression& value);
    /// What holds after a fold by max, likewise.
    void note_maximum(ArrayId target, const Fold& fold);
    void forget(const std::vector<ArrayId>& targets);

    /// Whether facts lead from `a` to `b`.
    [[nodiscard]] bool at_most(const Expression& a, const Expression& b, int depth = 0) const;
    /// Where a sum is one of exponentials relative to the maximum of their own exponents, so that
    /// its largest term is exp(0): those exponents. Else null.
    [[nodiscard]] const Expression* attained(ArrayId target, const Fold& fold) const;

private:
    struct Fact {
        Expression below;
        ArrayId above;
    };

    /// The definition behind a read, where it is a map.
    [[nodiscard]] const Expression& resolved(const Expression& expression) const;

    std::vector<Fact> facts_;
    std::map<ArrayId, Expression> maps_;
    std::map<ArrayId, Fold> maxima_;
};

}  // namespace napkin::proof
