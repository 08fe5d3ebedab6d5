// In which order loops bring the elements of a fold. A fold over (t, u) combines them row by row, t
// outermost, and a monoid that is not commutative needs just that. Loops over chunks keep it where
// an axis is cut only after every axis before it is down to one index.
#include <algorithm>
#include <limits>
#include <map>

#include "derive/rules/rule_support.h"

namespace napkin::rules {

namespace {

constexpr std::int64_t kUnknownWidth = std::numeric_limits<std::int64_t>::max();

/// The first axis of the fold that still has several indices where a loop cuts one after it.
struct OutOfOrder {
    AxisId before;
    AxisId cut;
};

std::optional<OutOfOrder> out_of_order(const Diagram& diagram, const Region& region,
                                       const Fold& fold) {
    std::map<AxisId, std::int64_t> width;
    for (const AxisId axis : fold.over)
        width[axis] = diagram[axis].dynamic ? kUnknownWidth : diagram[axis].extent;
    for (const Stream& loop : region.streams) {
        if (!width.contains(loop.axis) || width[loop.axis] <= loop.size) continue;
        for (const AxisId before : fold.over) {
            if (before == loop.axis) break;
            if (width[before] > 1) return OutOfOrder{before, loop.axis};
        }
        width[loop.axis] = loop.size;
    }
    return std::nullopt;
}

std::string order_text(const Diagram& diagram, const Fold& fold) {
    std::string text;
    for (const AxisId axis : fold.over)
        text += (text.empty() ? "`" : ", then `") + diagram[axis].name + "`";
    return text;
}

}  // namespace

bool is_ordered(const Diagram& diagram, const Fold& fold) {
    return !diagram[fold.monoid].commutative && fold.over.size() > 1;
}

std::string why_ordered(const Diagram& diagram, const Fold& fold) {
    return "`" + diagram[fold.monoid].name +
           "` is not commutative: elements are combined in the order of " +
           order_text(diagram, fold);
}

std::optional<NotApplicable> why_not_in_order(const Diagram& diagram, const Region& region) {
    for (const StatementId id : region.statements) {
        const Fold* fold = std::get_if<Fold>(&diagram[id].body);
        if (fold == nullptr || !is_ordered(diagram, *fold)) continue;
        const std::optional<OutOfOrder> wrong = out_of_order(diagram, region, *fold);
        if (!wrong) continue;
        const std::string& before = diagram[wrong->before].name;
        const std::string& cut = diagram[wrong->cut].name;
        return NotApplicable{why_ordered(diagram, *fold) + ", and chunks of `" + cut +
                                 "` would come before all of `" + before + "`",
                             "stream `" + diagram[fold->over.front()].name + "`, the outermost; `" +
                                 cut + "` too once `" + before + "` is streamed by 1"};
    }
    return std::nullopt;
}

}  // namespace napkin::rules
