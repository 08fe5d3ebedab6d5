// Of conditions inside residue classes: from quotients back to indices.
#include <algorithm>

#include "diagrams/checked.h"
#include "diagrams/index/residue_classes.h"

namespace napkin::index {

namespace {

Linear constant(std::int64_t value) {
    return {value, {}};
}

}  // namespace

Linear substituted(const Linear& form, const std::vector<Linear>& variables,
                   std::size_t first_quotient) {
    Linear result = constant(form.constant);
    for (const auto& [variable, coefficient] : form.terms)
        result = sum(std::move(result),
                     variable < variables.size()
                         ? variables[variable]
                         : Linear{0, {{first_quotient + variable - variables.size(), 1}}},
                     coefficient);
    return result;
}

ClassBoxes::ClassBoxes(const ClassSplit& split, const std::vector<Expression>& outer,
                       const std::vector<Expression>& inner)
    : split_(split), outer_(outer.size()) {
    const auto place = [](const auto& all, const auto& what) -> std::optional<std::size_t> {
        const auto found = std::find(all.begin(), all.end(), what);
        return found == all.end() ? std::nullopt
                                  : std::optional(static_cast<std::size_t>(found - all.begin()));
    };
    for (const AxisId member : split.members) members_.push_back(*place(outer, axis_index(member)));
    for (const Expression& coordinate : inner) {
        const AxisIndex* index = std::get_if<AxisIndex>(&coordinate.node);
        inner_members_.push_back(index != nullptr ? place(split.quotients, index->axis)
                                                  : std::nullopt);
        inner_outer_.push_back(place(outer, coordinate));
        const SizeOf* size = std::get_if<SizeOf>(&coordinate.node);
        is_known_ = is_known_ && (inner_members_.back() || inner_outer_.back() ||
                                  (size != nullptr && size->axis == split.above));
    }
}

Linear ClassBoxes::quotient_of(Linear dividend, std::int64_t divisor, Clause& clause) const {
    if (divisor == 1) return dividend;
    Quotient quotient{std::move(dividend), divisor};
    const auto same =
        std::find_if(clause.quotients.begin(), clause.quotients.end(), [&](const Quotient& known) {
            return known.divisor == divisor && known.dividend == quotient.dividend;
        });
    const std::size_t at =
        2 * outer_ + 2 + static_cast<std::size_t>(same - clause.quotients.begin());
    if (same == clause.quotients.end()) clause.quotients.push_back(std::move(quotient));
    return {0, {{at, 1}}};
}

Linear ClassBoxes::remainder_of(std::size_t variable, Clause& clause) const {
    const Linear value{0, {{variable, 1}}};
    return sum(value, quotient_of(value, split_.period, clause), -split_.period);
}

ClassBoxes::Class ClassBoxes::class_of(Clause when, Linear number) const {
    Class result{std::move(when), std::move(number), {}};
    std::vector<std::pair<Linear, Linear>> ends;
    for (const std::size_t member : members_) {
        const Linear low = sum(Linear{split_.period - 1, {{2 * member, 1}}}, result.number, -1);
        const Linear high = sum(Linear{0, {{2 * member + 1, 1}}}, result.number, -1);
        const Linear first = quotient_of(low, split_.period, result.when);
        const Linear last = quotient_of(high, split_.period, result.when);
        if (split_.period > 1) result.when.not_negative.push_back(sum(last, first, -1));
        const std::int64_t coarser = split_.coarser[ends.size()];
        ends.emplace_back(quotient_of(first, coarser, result.when),
                          quotient_of(last, coarser, result.when));
    }
    for (std::size_t c = 0; c < inner_members_.size(); ++c) {
        if (const std::optional<std::size_t> member = inner_members_[c]) {
            result.inner.push_back(ends[*member].first);
            result.inner.push_back(ends[*member].second);
        } else if (const std::optional<std::size_t> same = inner_outer_[c]) {
            result.inner.push_back({0, {{2 * *same, 1}}});
            result.inner.push_back({0, {{2 * *same + 1, 1}}});
        } else {  // the axis that has one index more than the class' number
            result.inner.insert(result.inner.end(), 2, sum(result.number, constant(1), 1));
        }
    }
    // The number of a chunk, and what comes after the ends.
    result.inner.insert(result.inner.end(), 2, Linear{});
    return result;
}

std::vector<ClassBoxes::Class> ClassBoxes::first_classes() const {
    std::vector<Class> result;
    for (const std::int64_t start : split_.starts) result.push_back(class_of({}, constant(start)));
    if (split_.period == 1) return result;
    for (const std::size_t member : members_) {
        Clause low;
        Linear at_low = remainder_of(2 * member, low);
        result.push_back(class_of(std::move(low), std::move(at_low)));
        Clause high;
        const Linear past_high = sum(remainder_of(2 * member + 1, high), constant(1), 1);
        high.not_negative.push_back(sum(constant(split_.period - 1), past_high, -1));
        result.push_back(class_of(std::move(high), past_high));
    }
    return result;
}

std::vector<ClassBoxes::Class> ClassBoxes::last_classes() const {
    std::vector<Class> result;
    for (const std::int64_t start : split_.starts)
        result.push_back(class_of({}, constant(start == 0 ? split_.period - 1 : start - 1)));
    for (const std::size_t member : members_) {
        Clause low;
        const Linear before_low = sum(remainder_of(2 * member, low), constant(1), -1);
        low.not_negative.push_back(before_low);
        result.push_back(class_of(std::move(low), before_low));
        Clause high;
        Linear at_high = remainder_of(2 * member + 1, high);
        result.push_back(class_of(std::move(high), std::move(at_high)));
    }
    return result;
}

Clause ClassBoxes::inside_of(const Class& one, const Clause& clause) const {
    Clause result = one.when;
    const std::size_t first = 2 * outer_ + 2 + result.quotients.size();
    const auto said = [&](const Linear& form) { return substituted(form, one.inner, first); };
    for (const Quotient& quotient : clause.quotients)
        result.quotients.push_back({said(quotient.dividend), quotient.divisor});
    for (const Linear& form : clause.zero) result.zero.push_back(said(form));
    for (const Linear& form : clause.not_negative) result.not_negative.push_back(said(form));
    return result;
}

std::vector<Clause> ClassBoxes::met(const std::vector<Clause>& inside) const {
    std::vector<Clause> result;
    for (const Class& one : first_classes())
        for (const Clause& clause : inside) result.push_back(inside_of(one, clause));
    return result;
}

std::optional<std::vector<ChunkRun>> ClassBoxes::chunks(const std::vector<ChunkRun>& inside,
                                                        std::size_t coordinate, std::int64_t size,
                                                        bool from_zero) const {
    const auto member = std::find(members_.begin(), members_.end(), coordinate);
    if (member == members_.end() || size < split_.period) return std::nullopt;
    const std::int64_t coarser =
        split_.coarser[static_cast<std::size_t>(member - members_.begin())];
    std::vector<Class> classes = first_classes();
    // Between the first and the last of classes that have the same quotients, keys have no gap that
    // is as long as a chunk.
    if (split_.period > 1)
        for (Class& last : last_classes()) classes.push_back(std::move(last));
    std::vector<ChunkRun> result;
    for (const Class& one : classes)
        for (const ChunkRun& run : inside) {
            if (run.step != 1) return std::nullopt;
            ChunkRun outside;
            outside.when = inside_of(one, run.when);
            const std::size_t first = 2 * outer_ + 2 + one.when.quotients.size();
            const auto rounded = [&](const Quotient& end, std::int64_t sign) {
                const Linear dividend = sum({}, substituted(end.dividend, one.inner, first), sign);
                return sum({}, quotient_of(dividend, end.divisor, outside.when), sign);
            };
            // The ends of the member's quotients in the box, of which a run says nothing.
            const auto end_of_box = [&](bool high) {
                const Linear end = high ? Linear{0, {{2 * coordinate + 1, 1}}}
                                        : Linear{split_.period - 1, {{2 * coordinate, 1}}};
                return quotient_of(sum(end, one.number, -1), split_.period, outside.when);
            };
            std::vector<Linear> least{end_of_box(false)};
            std::vector<Linear> most{end_of_box(true)};
            for (const Quotient& end : run.least)
                least.push_back(sum({}, rounded(end, -1), coarser));
            for (const Quotient& end : run.most)
                most.push_back(sum(constant(coarser - 1), rounded(end, 1), coarser));
            for (const Linear& low : least)
                for (const Linear& high : most)
                    outside.when.not_negative.push_back(sum(high, low, -1));
            const auto index = [&](const Linear& quotient) {
                const Linear number = sum(one.number, quotient, split_.period);
                return from_zero ? number : sum(number, Linear{0, {{2 * coordinate, 1}}}, -1);
            };
            for (const Linear& low : least)
                outside.least.push_back({sum(index(low), constant(size - 1), -1), size});
            for (const Linear& high : most) outside.most.push_back({index(high), size});
            result.push_back(std::move(outside));
        }
    return result;
}

}  // namespace napkin::index
