// What a mask asks isl, and how it asks: all conjuncts that share a coordinate together, or, where
// that is sooner told, in residue classes and term by term.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "diagrams/index/closed_form.h"
#include "diagrams/index/isl.h"
#include "diagrams/index/quasi_affine.h"

namespace napkin::index {

/// Ends and quotients of more alternatives are slower to compare than the elements of a chunk.
inline constexpr int kMostClauses = 64;
/// Some 40 ms of small numbers, seconds of those in a large modulus; most masks need a fortieth.
inline constexpr unsigned long kMostMaskOperations = 400'000;
/// To name the divisions of what is left of a projection, the one step whose operations are slow
/// where it does not end soon: masks that people use need a third.
inline constexpr unsigned long kMostDivisionOperations = 40'000;

inline bool is_small(const Set& set) {
    return set && isl_set_n_basic_set(set.get()) <= kMostClauses;
}

struct Mask::Parts {
    enum class Kind { Free, Fixed, Ranged };

    Parts(const std::vector<Axis>& known, std::vector<Expression> all, const Elements& given)
        : axes(known),
          conjuncts(std::move(all)),
          elements(given),
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

    /// Indices are in their axes: what that says of conditions need not be projected. The rest in
    /// few pieces.
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
                context.begin();
                // Half the pieces are a quarter of the work, or less.
                Set joined(isl_set_coalesce(isl_set_compute_divs(set.copy())));
                if (joined) set = std::move(joined);
            }
    }

    /// The boxes in which the set has a point; null where that takes too long.
    [[nodiscard]] Set boxes_of(Set set, const Set& known) {
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
        context.allow(kMostDivisionOperations);
        set = Set(isl_set_compute_divs(set.release()));
        context.allow(kMostMaskOperations);
        set = Set(isl_set_coalesce(set.release()));
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
    [[nodiscard]] Set together(const std::vector<std::size_t>& group) {
        context.begin();
        Set set = translator.everything();
        for (const std::size_t at : group) set = both(std::move(set), held[at]);
        return set;
    }
    [[nodiscard]] std::optional<std::vector<Clause>> clauses_of(Set set, const Set& known) {
        context.begin();
        if (!is_small(set)) return std::nullopt;
        return closed_form(boxes_of(std::move(set), known), coordinates().size());
    }
    [[nodiscard]] std::vector<Expression> conditions_of(
        const std::vector<std::size_t>& group) const {
        std::vector<Expression> conditions;
        for (const std::size_t at : group) conditions.push_back(conjuncts[at]);
        return conditions;
    }
    [[nodiscard]] std::vector<std::size_t> all() const {
        std::vector<std::size_t> every(conjuncts.size());
        std::iota(every.begin(), every.end(), std::size_t{0});
        return every;
    }
    /// The terms of a union that is a group of its own, where one of them is about residue classes.
    [[nodiscard]] std::vector<Expression> terms_of_classes(
        const std::vector<std::size_t>& group) const;
    /// Of a term over the same axes, in the coordinates of all of them.
    [[nodiscard]] Linear renumbered(const Parts& term, const Linear& form) const;
    [[nodiscard]] Clause renumbered(const Parts& term, Clause clause) const;
    [[nodiscard]] std::optional<std::vector<Clause>> clauses_in_parts(
        const std::vector<std::size_t>& group) const;
    [[nodiscard]] std::optional<std::vector<ChunkRun>> runs_alone(std::size_t streamed,
                                                                  std::int64_t size,
                                                                  bool from_zero);
    [[nodiscard]] std::optional<std::vector<ChunkRun>> runs_in_parts(
        const std::vector<std::size_t>& group, std::size_t streamed, std::int64_t size,
        bool from_zero) const;

    void add_met(const std::vector<std::size_t>& group, BoxCondition& condition) {
        if (std::optional<std::vector<Clause>> clauses = clauses_in_parts(group))
            return condition.push_back({std::move(*clauses), false});
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
    Elements elements;
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
    // By axis, size and part of each tiling.
    std::map<std::vector<std::tuple<AxisId, std::int64_t, std::int64_t, std::int64_t>>,
             std::optional<std::int64_t>>
        known_boxes;
};

}  // namespace napkin::index
