#include "diagrams/index/mask.h"

#include <algorithm>
#include <deque>

#include "diagrams/checked.h"
#include "diagrams/contains.h"
#include "diagrams/index/mask_parts.h"
#include "diagrams/index/visit_count.h"

namespace napkin::index {

namespace {

constexpr std::size_t kMostShared = 32;

/// Whether conditions mean the same over both: the axes that they name are alike. Others, such as a
/// kernel's tile axes, do not matter.
bool mean_the_same(const std::vector<Expression>& conditions, const std::vector<Axis>& a,
                   const std::vector<Axis>& b) {
    const auto differs = [&](const Expression& part) {
        const auto* index = std::get_if<AxisIndex>(&part.node);
        const auto* size = std::get_if<SizeOf>(&part.node);
        if (index == nullptr && size == nullptr) return false;
        const std::size_t at = (index != nullptr ? index->axis : size->axis).index();
        return at >= a.size() || at >= b.size() || a[at] != b[at];
    };
    return std::none_of(conditions.begin(), conditions.end(),
                        [&](const Expression& condition) { return any_part(condition, differs); });
}

}  // namespace

std::vector<std::vector<std::size_t>> Mask::Parts::groups() const {
    std::vector<std::vector<std::size_t>> result;
    for (std::size_t at = 0; at < held.size(); ++at) {
        if (isl_set_plain_is_universe(held[at].get()) == isl_bool_true) continue;
        std::vector<std::size_t> group{at};
        std::erase_if(result, [&](const std::vector<std::size_t>& other) {
            for (std::size_t c = 0; c < kinds.size(); ++c) {
                if (kinds[c] == Kind::Fixed || !mentions(held[at], c)) continue;
                if (std::none_of(other.begin(), other.end(),
                                 [&](std::size_t each) { return mentions(held[each], c); }))
                    continue;
                group.insert(group.begin(), other.begin(), other.end());
                return true;
            }
            return false;
        });
        result.push_back(std::move(group));
    }
    return result;
}

BoxCondition Mask::Parts::met() {
    BoxCondition condition;
    for (const std::vector<std::size_t>& group : groups()) add_met(group, condition);
    return condition;
}

/// A box is covered where no conjunct fails in it.
BoxCondition Mask::Parts::covered() {
    BoxCondition condition;
    for (const Set& set : failed) {
        std::optional<std::vector<Clause>> clauses = clauses_of(set, ends);
        if (!clauses) return {Choice{}};
        condition.push_back({std::move(*clauses), true});
    }
    return condition;
}

std::optional<Chunks> Mask::Parts::chunks(std::size_t streamed, std::int64_t size, bool from_zero) {
    if (!where_met) where_met = met();
    context.begin();
    const Piecewise number = parameter(kChunkName);
    const Piecewise offset(isl_pw_aff_mul(number.copy(), translator.constant(size).release()));
    const Piecewise start = from_zero ? offset : sum(low(streamed), offset);
    const Piecewise last = sum(start, translator.constant(size - 1));
    Chunks result;
    std::vector<std::size_t> own;
    for (const std::vector<std::size_t>& group : groups()) {
        const bool cut = std::any_of(group.begin(), group.end(),
                                     [&](std::size_t at) { return mentions(held[at], streamed); });
        cut ? void(own = group) : add_met(group, result.when);
    }
    if (auto runs = runs_in_parts(own, streamed, size, from_zero)) {
        result.runs = std::move(*runs);
        return result;
    }
    if (exhausted.contains(own)) return std::nullopt;
    context.begin();
    Set inside = both(together(own), both(at_most(start, coordinate(streamed)),
                                          at_most(coordinate(streamed), last)));
    const Set known =
        both(ends, both(at_most(translator.constant(0), number), at_most(start, high(streamed))));
    if (!is_small(inside)) return std::nullopt;
    const Set numbers = boxes_of(std::move(inside), known);
    std::optional<std::vector<ChunkRun>> runs = chunk_runs(numbers, coordinates().size());
    if (!runs) return std::nullopt;
    result.runs = std::move(*runs);
    return result;
}

/// Answers depend on nothing else, and search asks about the same few masks for every schedule.
std::shared_ptr<Mask::Parts> Mask::shared(const std::vector<Axis>& axes,
                                          std::vector<Expression> conjuncts) {
    thread_local std::deque<std::shared_ptr<Parts>> latest;
    for (const std::shared_ptr<Parts>& each : latest)
        if (each->conjuncts == conjuncts && mean_the_same(conjuncts, each->axes, axes)) return each;
    if (latest.size() >= kMostShared) latest.pop_back();
    return latest.emplace_front(std::make_shared<Parts>(axes, std::move(conjuncts), Elements{}));
}

Mask::Mask(const std::vector<Axis>& axes, const std::vector<Expression>& conditions,
           const Elements& elements) {
    std::vector<Expression> conjuncts;
    for (const Expression& condition : conditions)
        for (Expression& part : conjuncts_of(condition))
            if (!contains(conjuncts, part)) conjuncts.push_back(std::move(part));
    parts_ = elements ? std::make_shared<Parts>(axes, std::move(conjuncts), elements)
                      : shared(axes, std::move(conjuncts));
}
Mask::Mask(Mask&&) noexcept = default;
Mask::~Mask() = default;

const std::vector<Expression>& Mask::coordinates() const {
    return parts_->coordinates();
}
const BoxCondition& Mask::where_met() const {
    if (!parts_->where_met) parts_->where_met = parts_->met();
    return *parts_->where_met;
}
const BoxCondition& Mask::where_covered() const {
    if (!parts_->where_covered) parts_->where_covered = parts_->covered();
    return *parts_->where_covered;
}

bool Mask::is_exact() const {
    static_cast<void>(where_met());
    return parts_->exact &&
           std::none_of(parts_->kinds.begin(), parts_->kinds.end(),
                        [](Parts::Kind kind) { return kind == Parts::Kind::Free; });
}

std::optional<BoxCondition> Mask::where_holds() const {
    BoxCondition condition;
    for (const Set& held : parts_->held) {
        parts_->context.begin();
        const Set points(isl_set_coalesce(isl_set_compute_divs(held.copy())));
        std::optional<std::vector<Clause>> clauses =
            is_small(points) ? closed_form(points, coordinates().size()) : std::nullopt;
        if (!clauses) return std::nullopt;
        condition.push_back({std::move(*clauses), false});
    }
    return condition;
}

std::optional<Chunks> Mask::chunks_met(AxisId axis, std::int64_t size, bool from_zero) const {
    const std::vector<Expression>& all = coordinates();
    const auto found = std::find(all.begin(), all.end(), axis_index(axis));
    if (found == all.end()) return std::nullopt;
    const auto streamed = static_cast<std::size_t>(found - all.begin());
    const auto [known, fresh] =
        parts_->known_chunks.try_emplace({streamed, size, from_zero}, std::nullopt);
    if (fresh) known->second = parts_->chunks(streamed, size, from_zero);
    return known->second;
}

std::optional<std::int64_t> Mask::boxes_met(const std::vector<Axis>& axes,
                                            const std::vector<Tiling>& tilings,
                                            const Ranges& within) const {
    decltype(parts_->known_boxes)::key_type question;
    for (const auto& [axis, size] : tilings)
        question.emplace_back(axis, size, within.at(axis).low, within.at(axis).high);
    const auto [known, fresh] = parts_->known_boxes.try_emplace(std::move(question), std::nullopt);
    if (fresh) known->second = VisitCounter(axes, *this, tilings).met(within);
    return known->second;
}

const std::vector<Interval>& Mask::box(const Ranges& ranges) const {
    parts_->set_box(ranges);
    return parts_->box;
}

bool Mask::meets(const Ranges& ranges) const {
    return holds(where_met(), box(ranges), parts_->quotients);
}
bool Mask::covers(const Ranges& ranges) const {
    return holds(where_covered(), box(ranges), parts_->quotients);
}

}  // namespace napkin::index
