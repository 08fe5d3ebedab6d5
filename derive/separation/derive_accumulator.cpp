// The order of work, a room each:
//
//   read/         the region as a cascade of folds, no name hiding structure
//   normal_form/  every fold's body as sums of products u(x) * w(r)
//   place/        u into states, w into the tail
//   stabilise/    gauges, so that exponentials stay in range (maxima) and differences do not cancel
//                 (means)
//   write/        states, repairs and tail as statements, and the accumulator in formulas
//   judge/        what finite arithmetic could spoil, and why there is no accumulator
//
// Terms and polynomials are those of algebra/. A gauge is any value that a state is kept relative
// to.
#include "derive/derive_accumulator.h"

#include <algorithm>
#include <set>

#include "derive/separation/judge/refusal.h"
#include "derive/separation/judge/unsafe_differences.h"
#include "derive/separation/normal_form/normal_form.h"
#include "derive/separation/place/plan.h"
#include "derive/separation/read/cascade.h"
#include "derive/separation/write/builder.h"
#include "diagrams/contains.h"

namespace napkin {
namespace {

using separation::Algebra;
using separation::Builder;
using separation::Cascade;
using separation::Form;
using separation::Kind;
using separation::NormalForm;
using separation::Obstacle;
using separation::Part;
using separation::Plan;
using separation::PolynomialId;
using separation::RegionStatement;
using separation::Term;
using separation::TermId;

bool carries(const Cascade& cascade, ArrayId array) {
    const std::vector<AxisId>& axes = cascade.diagram()[array].axes;
    return std::any_of(axes.begin(), axes.end(),
                       [&](AxisId axis) { return cascade.is_streamed(axis); });
}

std::optional<ArrayId> output_in_the_way(const Cascade& cascade) {
    for (const RegionStatement& each : cascade.statements())
        for (const ArrayId target : cascade.diagram()[each.statement].targets)
            if (cascade.is_saved(target) &&
                (each.part == Part::Mixed || (each.part == Part::Tail && carries(cascade, target))))
                return target;
    return std::nullopt;
}

/// An array that is saved chunk by chunk along some of several streamed axes: the chunks of the
/// others would write it again and again.
std::optional<ArrayId> saved_repeatedly(const Cascade& cascade) {
    for (const RegionStatement& each : cascade.statements()) {
        if (each.part != Part::Chunk) continue;
        for (const ArrayId target : cascade.diagram()[each.statement].targets) {
            const std::vector<AxisId>& own = cascade.diagram()[target].axes;
            const bool lacks = std::any_of(
                cascade.axes().begin(), cascade.axes().end(),
                [&](AxisId axis) { return std::find(own.begin(), own.end(), axis) == own.end(); });
            if (lacks && cascade.is_saved(target)) return target;
        }
    }
    return std::nullopt;
}

/// The value of a fold at the indices of a term, over states only.
Form resolve(Cascade& cascade, Plan& plan, NormalForm& tail, TermId id) {
    const Term term = cascade.algebra()[id];
    if (!plan.value(term.ref)) return std::nullopt;
    const Form there = plan.value_at(term);
    return there ? tail.of(*there) : tail.refuse(separation::Why::Capture, id);
}

/// Whether products in it have differences to a maximum, which cancels from the fold's value.
bool is_relative_to_maximum(const Algebra& algebra, PolynomialId form) {
    const auto& terms = algebra[form].terms;
    return std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
        const auto& powers = term.first.powers;
        return std::any_of(powers.begin(), powers.end(), [&](const auto& factor) {
            const Term& value = algebra[factor.first];
            return value.kind == Kind::Relative && algebra[value.parts[1]].kind == Kind::Fold;
        });
    });
}

/// Every statement reads what is loaded, computed before the loop, or written by an earlier one;
/// what a chunk computes along a streamed axis is gone after the last.
void check_order(const Cascade& cascade, const Accumulator& accumulator) {
    const std::size_t own = cascade.diagram().arrays.size();
    std::set<ArrayId> written;
    const auto run = [&](const std::vector<Statement>& statements) {
        for (const Statement& statement : statements) {
            for (const ArrayId input : inputs_of(statement))
                invariant(written.contains(input) ||
                              (input.index() < own && cascade.part_of(input) == Part::Before),
                          "an accumulator reads what is not there yet");
            written.insert(statement.targets.begin(), statement.targets.end());
        }
    };
    run(accumulator.initial);
    run(accumulator.body);
    std::erase_if(written, [&](ArrayId id) { return id.index() < own && carries(cascade, id); });
    run(accumulator.tail);
}

/// Why the accumulator cannot be carried out: where a value is the same all along an axis, any
/// array that holds it may be read instead, and along an axis that the reader lacks nothing says
/// where.
std::optional<NotApplicable> why_unbound(const Diagram& diagram, const Accumulator& accumulator) {
    const std::size_t own = diagram.arrays.size();
    const auto array = [&](ArrayId id) -> const Array& {
        return id.index() < own ? diagram[id] : accumulator.arrays[id.index() - own];
    };
    for (const auto* phase : {&accumulator.initial, &accumulator.body, &accumulator.tail})
        for (const Statement& statement : *phase) {
            if (std::holds_alternative<Opaque>(statement.body)) continue;
            std::vector<AxisId> bound = folded_axes(statement);
            const Array& target = array(statement.targets.front());
            bound.insert(bound.end(), target.axes.begin(), target.axes.end());
            for (const Expression* value : expressions_of(statement))
                for (const AxisId axis : axes_used(*value))
                    if (!contains(bound, axis))
                        return NotApplicable{
                            "`" + target.name + "` reads what is the same all along `" +
                                diagram[axis].name + "`, and at no place of it",
                            "leave `" + diagram[axis].name +
                                "` out of what does not depend on it, or keep that in a region of "
                                "its own"};
        }
    return std::nullopt;
}

}  // namespace

std::variant<Accumulator, NotApplicable> derive_accumulator(
    const Diagram& diagram, const Region& region, const std::vector<AxisId>& axes,
    const std::map<ArrayId, ElementType>& stored) {
    Cascade cascade(diagram, region, axes);
    if (cascade.obstacle()) return refusal(cascade, *cascade.obstacle());
    const std::vector<RegionStatement>& statements = cascade.statements();
    const bool any = std::any_of(statements.begin(), statements.end(),
                                 [](const auto& each) { return each.part != Part::Before; });
    if (!any)
        return NotApplicable{"no statement of the region uses `" + cascade.axis_names() + "`",
                             "stream an axis that the region maps or folds"};

    NormalForm normal(cascade.algebra(), cascade.facts());
    NormalForm relative(cascade.algebra(), cascade.facts());
    const std::size_t folds = cascade.folds().size();
    Plan plan(cascade, normal, relative);
    if (const std::optional<Obstacle> obstacle = plan.prepare()) return refusal(cascade, *obstacle);
    plan.store(stored);
    plan.weigh_means();
    if (const std::optional<ArrayId> output = output_in_the_way(cascade))
        return separation::output_refusal(cascade, *output);
    if (const std::optional<ArrayId> output = saved_repeatedly(cascade))
        return NotApplicable{
            "`" + diagram[*output].name + "` is saved here and does not have all of `" +
                cascade.axis_names() + "`, so chunks of the others would save it again",
            "keep `" + diagram[*output].name + "` in a region of its own"};

    NormalForm tail(cascade.algebra(), cascade.facts());
    std::set<TermId> differences;
    for (const separation::Invariance& each : plan.invariances())
        differences.insert(each.difference);
    for (const separation::MultipliedOut& each : plan.multiplied_out())
        if (each.relative && is_relative_to_maximum(cascade.algebra(), plan.form(each.fold)))
            differences.insert(
                cascade.algebra().reference(Kind::Fold, each.fold, plan.folds()[each.fold].axes));
    tail.multiply_out([&](TermId id) { return plan.is_gauge(id); }, std::move(differences));
    tail.know({.at_most = [&](TermId a, TermId b) { return plan.is_at_most(a, b); },
               .at_least_one = [&](TermId id) { return plan.is_at_least_one(id); },
               .unrounded = [&](TermId id) -> std::optional<TermId> {
                   const Term& term = cascade.algebra()[id];
                   if (term.kind != Kind::Late) return std::nullopt;
                   const auto value = cascade.unrounded(napkin::ArrayId{term.ref});
                   return value && *value != id ? value : std::nullopt;
               }});
    tail.resolve_folds([&](TermId id) { return resolve(cascade, plan, tail, id); });
    for (std::uint32_t i = 0; i < folds; ++i)
        if (!plan.value(i)) return refusal(cascade, *plan.obstacle());

    if (const std::optional<ArrayId> wire = plan.stored_too_late())
        return separation::late_storage_refusal(cascade, *wire, stored.at(*wire));
    if (const std::optional<ArrayId> wire = plan.not_stored())
        return separation::storage_refusal(cascade, *wire, stored.at(*wire));

    // Every fold has a value in states; what is used beyond the region is now written.
    Builder builder(cascade, plan, normal, tail, stored);
    try {
        for (const RegionStatement& each : statements) {
            if (each.part == Part::Before) continue;
            for (const ArrayId target : diagram[each.statement].targets) {
                if (!cascade.is_saved(target)) continue;
                carries(cascade, target) ? builder.need_chunk(target) : builder.need_tail(target);
            }
        }
        Accumulator result = builder.finish();
        check_order(cascade, result);
        if (std::optional<NotApplicable> refused = why_unbound(diagram, result)) return *refused;
        for (Obligation& lost : separation::unsafe_differences(diagram, region, axes))
            result.obligations.push_back(std::move(lost));
        return result;
    } catch (const separation::Inexact& inexact) {
        return NotApplicable{"`" + diagram[inexact.target].name +
                                 "` is made of integers, which its accumulator would compute as "
                                 "real numbers, no longer exactly",
                             "keep `" + diagram[inexact.target].name + "` in a region of its own"};
    } catch (const separation::Unresolved&) {
        // A fold that others are relative to, or what is made of folds.
        return refusal(cascade, plan.obstacle() ? *plan.obstacle() : tail.obstacle());
    }
}

}  // namespace napkin
