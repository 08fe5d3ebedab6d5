#include "diagrams/index/mask.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "diagrams/checked.h"
#include "diagrams/contains.h"
#include "diagrams/index/closed_form.h"
#include "diagrams/index/isl.h"
#include "diagrams/index/quasi_affine.h"

namespace napkin::index {

namespace {

/// Ends and quotients of more alternatives are slower to compare than the elements of a chunk.
constexpr int kMostClauses = 64;
/// Some 40 ms of small numbers, seconds of those in a large modulus; most masks need a fortieth.
constexpr unsigned long kMostMaskOperations = 400'000;
constexpr std::size_t kMostShared = 32;

bool is_small(const Set& set) {
    return set && isl_set_n_basic_set(set.get()) <= kMostClauses;
}

}  // namespace

struct Mask::Parts {
    enum class Kind { Free, Fixed, Ranged };

    Parts(const std::vector<Axis>& known, std::vector<Expression> all, const Elements& elements)
        : axes(known),
          conjuncts(std::move(all)),
          context(kMostMaskOperations),
          translator(context, axes, elements) {
        for (const Expression& conjunct : conjuncts) {
            held.push_back(translator.condition(conjunct, true));
            failed.push_back(translator.condition(conjunct, false));
        }
        for (const Expression& parameter : translator.parameters()) {
            const Read* element = std::get_if<Read>(&parameter.node);
            const bool known_element = element != nullptr && elements && elements(element->array);
            kinds.push_back(known_element ? Kind::Ranged : kind_of(parameter));
            whole.push_back(bounds(axes, parameter, {}).value_or(kAny64));
        }
        assume_ends();
        drop_what_always_holds();
    }

    [[nodiscard]] const std::vector<Expression>& coordinates() const {
        return translator.parameters();
    }
    [[nodiscard]] Kind kind_of(const Expression& parameter) const {
        if (std::holds_alternative<AxisIndex>(parameter.node)) return Kind::Ranged;
        if (!arrays_read(parameter).empty() || !bounds(axes, parameter, {})) return Kind::Free;
        if (axes_used(parameter).empty()) return Kind::Fixed;
        const Apply* call = std::get_if<Apply>(&parameter.node);
        if (call == nullptr || call->arguments.size() != 2) return Kind::Free;
        const bool scaled = axes_used(call->arguments[1]).empty();
        switch (call->function) {
        case Function::Multiply:
            return scaled || axes_used(call->arguments[0]).empty() ? Kind::Ranged : Kind::Free;
        case Function::FloorDivide:
        case Function::Modulo: return scaled ? Kind::Ranged : Kind::Free;
        default: return Kind::Free;
        }
    }
    void set_box(const Ranges& ranges) {
        box = whole;
        for (std::size_t c = 0; c < kinds.size(); ++c) {
            if (kinds[c] != Kind::Ranged) continue;
            const Expression& what = coordinates()[c];
            const AxisIndex* index = std::get_if<AxisIndex>(&what.node);
            if (index == nullptr)
                box[c] = bounds(axes, what, ranges).value_or(kAny64);
            else if (const auto range = ranges.find(index->axis); range != ranges.end())
                box[c] = range->second;
        }
    }
    [[nodiscard]] Piecewise parameter(const std::string& name) const {
        isl_id* id = isl_id_alloc(context.get(), name.c_str(), nullptr);
        isl_space* space =
            isl_space_add_param_id(isl_space_params_alloc(context.get(), 0), isl_id_copy(id));
        return Piecewise(isl_pw_aff_from_aff(isl_aff_param_on_domain_space_id(space, id)));
    }
    [[nodiscard]] Piecewise coordinate(std::size_t c) const { return parameter(value_name(c)); }
    [[nodiscard]] Piecewise low(std::size_t c) const { return parameter(low_name(c)); }
    [[nodiscard]] Piecewise high(std::size_t c) const { return parameter(high_name(c)); }

    /// What is always so of boxes.
    void assume_ends() {
        ends = translator.everything();
        for (std::size_t c = 0; c < kinds.size(); ++c) {
            const Expression& what = coordinates()[c];
            if (std::holds_alternative<SizeOf>(what.node))
                ends = both(ends, at_most(translator.constant(1), coordinate(c)));
            if (kinds[c] != Kind::Ranged) continue;
            ends = both(ends, at_most(low(c), high(c)));
            if (const AxisIndex* index = std::get_if<AxisIndex>(&what.node))
                ends = both(ends, both(at_most(translator.constant(0), low(c)),
                                       below(high(c), translator.size(index->axis))));
        }
    }

    /// Indices are in their axes: what that says of conditions need not be projected.
    void drop_what_always_holds() {
        Set inside = translator.everything();
        for (std::size_t c = 0; c < kinds.size(); ++c)
            if (const AxisIndex* index = std::get_if<AxisIndex>(&coordinates()[c].node))
                inside = both(inside, both(at_most(translator.constant(0), coordinate(c)),
                                           below(coordinate(c), translator.size(index->axis))));
        for (std::vector<Set>* sets : {&held, &failed})
            for (Set& set : *sets) {
                context.begin();
                Set rest(isl_set_gist(set.copy(), inside.copy()));
                if (rest) set = std::move(rest);
            }
    }

    /// The boxes in which the set has a point; null where that takes too long.
    [[nodiscard]] Set boxes_of(Set set, const Set& known) const {
        for (std::size_t c = 0; c < kinds.size(); ++c) {
            const int at =
                isl_set_find_dim_by_name(set.get(), isl_dim_param, value_name(c).c_str());
            if (at < 0 || kinds[c] == Kind::Fixed) continue;
            if (kinds[c] == Kind::Ranged)
                set = both(std::move(set),
                           both(at_most(low(c), coordinate(c)), at_most(coordinate(c), high(c))));
            const int place =
                isl_set_find_dim_by_name(set.get(), isl_dim_param, value_name(c).c_str());
            set = Set(
                isl_set_project_out(set.release(), isl_dim_param, static_cast<unsigned>(place), 1));
        }
        set = Set(isl_set_coalesce(isl_set_compute_divs(set.release())));
        set = Set(isl_set_gist(set.release(), known.copy()));
        set = Set(isl_set_coalesce(isl_set_remove_redundancies(set.release())));
        return is_small(set) ? set : Set();
    }

    /// Conjuncts that share a coordinate that varies, together.
    [[nodiscard]] std::vector<std::vector<std::size_t>> groups() const;
    [[nodiscard]] bool mentions(const Set& set, std::size_t c) const {
        const int at = isl_set_find_dim_by_name(set.get(), isl_dim_param, value_name(c).c_str());
        return at >= 0 && isl_set_involves_dims(set.get(), isl_dim_param, static_cast<unsigned>(at),
                                                1) == isl_bool_true;
    }
    [[nodiscard]] Set together(const std::vector<std::size_t>& group) const {
        Set set = translator.everything();
        for (const std::size_t at : group) set = both(std::move(set), held[at]);
        return set;
    }
    [[nodiscard]] std::optional<std::vector<Clause>> clauses_of(Set set, const Set& known) {
        context.begin();
        if (!is_small(set)) return std::nullopt;
        return closed_form(boxes_of(std::move(set), known), coordinates().size());
    }
    void add_met(const std::vector<std::size_t>& group, BoxCondition& condition) {
        if (!exhausted.contains(group)) {
            if (std::optional<std::vector<Clause>> clauses = clauses_of(together(group), ends))
                return condition.push_back({std::move(*clauses), false});
            if (context.is_exhausted()) exhausted.insert(group);
        }
        exact = false;
        if (group.size() > 1)
            for (const std::size_t each : group) add_met({each}, condition);
    }
    [[nodiscard]] BoxCondition met();
    [[nodiscard]] BoxCondition covered();
    [[nodiscard]] std::optional<Chunks> chunks(std::size_t streamed, std::int64_t size,
                                               bool from_zero);

    std::vector<Axis> axes;
    std::vector<Expression> conjuncts;
    Context context;
    Translator translator;
    std::vector<Set> held;        // where each conjunct holds
    std::vector<Set> failed;      // and where it does not
    std::vector<Kind> kinds;      // of coordinates
    std::vector<Interval> whole;  // of coordinates where no axis is restricted
    std::vector<Interval> box;
    std::vector<std::int64_t> quotients;
    Set ends;
    bool exact = true;  // so far
    // Groups whose boxes took all operations: their chunks, of any size, would too.
    std::set<std::vector<std::size_t>> exhausted;
    std::optional<BoxCondition> where_met;
    std::optional<BoxCondition> where_covered;
    std::map<std::tuple<std::size_t, std::int64_t, bool>, std::optional<Chunks>> known_chunks;
};

std::vector<std::vector<std::size_t>> Mask::Parts::groups() const {
    std::vector<std::vector<std::size_t>> result;
    for (std::size_t at = 0; at < held.size(); ++at) {
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
        exact = exact && clauses;
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
        if (each->conjuncts == conjuncts && each->axes == axes) return each;
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
    static_cast<void>(where_covered());
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
