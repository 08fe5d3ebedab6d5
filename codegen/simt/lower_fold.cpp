// Folds that are no contractions, scans and selections. Where there are many results, a thread
// computes each; where there are few and the fold is long, a warp does.
#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/simt/simt_lowering.h"
#include "diagrams/value_kind.h"
#include "schedule/plain_block.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::For;
using kernel::only_if;
using kernel::thread_index;
using kernel::variable;

constexpr int kWarp = 32;

/// `name` as a value of an accumulator's sort.
Code accumulator_code(const std::string& name, Sort sort) {
    if (sort == Sort::Integer) return integer_code(variable(name), kAny64, true);
    Code code = real_code(variable(name), sort != Sort::Real);
    code.sort = sort;
    return code;
}

Code as_accumulator(const Code& value, Sort sort) {
    Code code = as_sort(value, sort);
    if (sort == Sort::Integer && !code.wide) {
        const kernel::Integer* number = integer_in(code.value);
        code.value = number != nullptr ? kernel::Expression(kernel::Integer{number->value, true})
                                       : call("i64", {code.value});
        code.wide = true;
        code.index.reset();
    }
    return code;
}

For rows_by_warp(std::int64_t rows) {
    For loop;
    loop.name = "row";
    loop.begin = thread_index() / kWarp;
    loop.end = rows;
    loop.step = variable("kThreads") / kWarp;
    loop.remark = "a warp each";
    return loop;
}

/// What the lanes of a warp do for their elements `f`. All lanes begin a turn together: where the
/// loop itself begins at the lane and columns of shared memory are added up, NVRTC 13.0 crashes.
For elements_by_lane(std::int64_t elements, Body work) {
    For loop;
    loop.name = "turn";
    loop.end = elements;
    loop.step = kWarp;
    loop.body.push_back(define("int", "f", variable("turn") + thread_index() % kWarp));
    append(loop.body, elements % kWarp == 0 ? std::move(work)
                                            : only_if(variable("f") < elements, std::move(work)));
    return loop;
}

kernel::Expression first_lane() {
    return equal(thread_index() % kWarp, 0);
}

kernel::Expression from_other_lane(kernel::Expression value) {
    return call("shuffle_xor", {std::move(value), variable("lane")});
}

}  // namespace

/// One fold: its accumulators and how they combine.
class FoldLowering {
public:
    FoldLowering(const SimtLowering& region, const Fold& fold, const Compute& compute,
                 ExpressionScope& scope)
        : region_(region), fold_(fold), compute_(compute), scope_(scope) {
        for (std::size_t c = 0; c < compute.statement.targets.size(); ++c) {
            const Array& array = region.region_.arrays[compute.statement.targets[c].index()];
            // What is rounded is so after the last element: reals to integers, integers to reals.
            const bool real = computes_reals(scope_of(region.region_), compute.statement, c);
            const bool rounds = array.rounds && array.type != ElementType::Bool;
            sorts_.push_back(!rounds ? sort_of(array.type) : real ? Sort::Real : Sort::Integer);
        }
    }

    [[nodiscard]] Body by_threads(const std::vector<AxisId>& axes) const;
    [[nodiscard]] Body by_warps(const std::vector<AxisId>& axes) const;

private:
    [[nodiscard]] For lanes(const std::vector<LocalIndex>& locals) const;
    template <class Inner>
    [[nodiscard]] Body folded_loops(ElementScope element, const Inner& inner) const;
    [[nodiscard]] std::size_t components() const { return sorts_.size(); }
    [[nodiscard]] std::string name(const std::string& base, std::size_t component) const {
        return components() == 1 ? base : base + std::to_string(component);
    }

    /// `float acc = identity;`, one a component.
    void declare_identity(Body& body, const std::string& base) const {
        const Monoid& monoid = region_.region_.monoids[fold_.monoid.index()];
        const ElementScope nowhere;
        for (std::size_t c = 0; c < components(); ++c) {
            Code value = ExpressionPrinter(scope_).print(monoid.identity[c], nowhere);
            if (sorts_[c] == Sort::Integer && value.constant && std::isinf(*value.constant))
                value = limit_of_integers(*value.constant > 0);
            body.push_back(kernel::declare(type_of(sorts_[c]), name(base, c),
                                           as_accumulator(value, sorts_[c]).value));
        }
    }
    /// The seed where there is one, else the identity.
    void declare_start(Body& body, const std::string& base, const ElementScope& element) const {
        if (fold_.seed.empty()) return declare_identity(body, base);
        for (std::size_t c = 0; c < components(); ++c) {
            const Code value = ExpressionPrinter(scope_).print(fold_.seed[c], element);
            body.push_back(kernel::declare(type_of(sorts_[c]), name(base, c),
                                           as_accumulator(value, sorts_[c]).value));
        }
    }
    /// base = base combined with the values.
    void combine(Body& body, const std::string& base, const std::vector<Code>& right) const {
        std::vector<Code> left;
        for (std::size_t c = 0; c < components(); ++c)
            left.push_back(accumulator_code(name(base, c), sorts_[c]));
        if (components() == 1) {
            body.push_back(assign(variable(base), combined(left, right, 0).value));
            return;
        }
        for (std::size_t c = 0; c < components(); ++c)
            body.push_back(
                define(type_of(sorts_[c]), name("next", c), combined(left, right, c).value));
        for (std::size_t c = 0; c < components(); ++c)
            body.push_back(assign(variable(name(base, c)), variable(name("next", c))));
    }
    /// The values at an element, declared when there are several so that each is computed once.
    [[nodiscard]] std::vector<Code> values(Body& body, const ElementScope& element) const {
        std::vector<Code> result;
        int next = 0;
        ElementScope split = element;
        split.temporaries = &body;
        split.next_temporary = &next;
        for (std::size_t c = 0; c < components(); ++c) {
            const ExpressionPrinter printer(scope_);
            Code value = as_accumulator(sorts_[c] == Sort::Integer
                                            ? printer.print_integer(fold_.values[c], split)
                                            : printer.print(fold_.values[c], split),
                                        sorts_[c]);
            if (components() > 1 || fold_.monoid.value > kMin.value || fold_.monoid == kMax ||
                fold_.monoid == kMin) {
                body.push_back(define(type_of(sorts_[c]), name("value", c), value.value));
                value = accumulator_code(name("value", c), sorts_[c]);
            }
            result.push_back(std::move(value));
        }
        return result;
    }
    [[nodiscard]] std::vector<Code> named(const std::string& base) const {
        std::vector<Code> result;
        for (std::size_t c = 0; c < components(); ++c)
            result.push_back(accumulator_code(name(base, c), sorts_[c]));
        return result;
    }
    void store(Body& body, const std::string& base, const ElementScope& element) const {
        for (std::size_t c = 0; c < components(); ++c)
            region_.store(body, compute_, c, accumulator_code(name(base, c), sorts_[c]), element);
    }

    [[nodiscard]] Code combined(const std::vector<Code>& left, const std::vector<Code>& right,
                                std::size_t component) const {
        ExpressionScope inner = scope_;
        inner.operands = left;
        inner.operands.insert(inner.operands.end(), right.begin(), right.end());
        const Monoid& monoid = region_.region_.monoids[fold_.monoid.index()];
        const Code value =
            ExpressionPrinter(inner).print(monoid.combine[component], ElementScope{});
        return as_accumulator(value, sorts_[component]);
    }

    const SimtLowering& region_;
    const Fold& fold_;
    const Compute& compute_;
    ExpressionScope& scope_;
    std::vector<Sort> sorts_;
};

namespace {

std::vector<AxisId> without(const std::vector<AxisId>& axes, const std::vector<AxisId>& removed) {
    std::vector<AxisId> kept;
    for (const AxisId axis : axes)
        if (std::find(removed.begin(), removed.end(), axis) == removed.end()) kept.push_back(axis);
    return kept;
}

}  // namespace

/// Nested loops over the folded axes around what `inner` makes of an element.
template <class Inner>
Body FoldLowering::folded_loops(ElementScope element, const Inner& inner) const {
    for (const AxisId axis : fold_.over) {
        const AxisRange& range = region_.ranges_.at(axis);
        const bool single = range.capacity == 1 && range.exact();
        element.index[axis] = single ? range.start : range.start + region_.local_index(axis);
    }
    return region_.axis_loops(fold_.over, inner(element));
}

/// A thread computes each result, in order.
Body FoldLowering::by_threads(const std::vector<AxisId>& axes) const {
    Body inner;
    const std::vector<LocalIndex> locals = region_.decompose("e", axes, inner);
    const ElementScope element = region_.element_at(locals);
    Body work;
    ElementScope first = element;
    // A scan's seed belongs to the first element of the range.
    if (fold_.every_prefix)
        for (const AxisId axis : fold_.over) first.index[axis] = region_.ranges_.at(axis).start;
    declare_start(work, "acc", first);
    append(work, folded_loops(element, [&](const ElementScope& at) {
               Body step;
               const std::vector<Code> found = values(step, at);
               combine(step, "acc", found);
               if (fold_.every_prefix) store(step, "acc", at);
               return step;
           }));
    if (!fold_.every_prefix) store(work, "acc", element);
    append(inner, only_if(region_.tests_of(locals), std::move(work)));
    return region_.thread_loop(region_.elements_of(axes), std::move(inner));
}

/// A warp computes each result: every lane a part, then all lanes together.
Body FoldLowering::by_warps(const std::vector<AxisId>& axes) const {
    For rows = rows_by_warp(region_.elements_of(axes));
    const std::vector<LocalIndex> locals = region_.decompose("row", axes, rows.body);
    const ElementScope element = region_.element_at(locals);
    Body work;
    declare_identity(work, "acc");
    work.push_back({lanes(locals)});
    work.push_back({kernel::Comment{"over the lanes of the warp"}});
    Body exchange;
    for (std::size_t c = 0; c < components(); ++c)
        exchange.push_back(define(type_of(sorts_[c]), name("other", c),
                                  from_other_lane(variable(name("acc", c)))));
    combine(exchange, "acc", named("other"));
    work.push_back({kernel::Halve{"lane", kWarp / 2, std::move(exchange)}});
    Body finish;
    if (!fold_.seed.empty()) {
        declare_start(finish, "last", element);
        combine(finish, "last", named("acc"));
    }
    store(finish, fold_.seed.empty() ? "acc" : "last", element);
    append(work, only_if(first_lane(), std::move(finish)));
    append(rows.body, only_if(region_.tests_of(locals), std::move(work)));
    return {{std::move(rows)}};
}

/// A lane's part of a result's elements.
For FoldLowering::lanes(const std::vector<LocalIndex>& locals) const {
    Body work;
    const std::vector<LocalIndex> folded = region_.decompose("f", fold_.over, work);
    std::vector<LocalIndex> all = locals;
    all.insert(all.end(), folded.begin(), folded.end());
    Body step;
    const std::vector<Code> found = values(step, region_.element_at(all));
    combine(step, "acc", found);
    append(work, only_if(region_.tests_of(folded), std::move(step)));
    return elements_by_lane(region_.elements_of(fold_.over), std::move(work));
}

kernel::Phase SimtLowering::lower_fold(const Fold& fold, const Compute& compute) {
    ExpressionScope scope = scope_for(compute);
    for (const VariableId target : compute.targets) define_target(target);
    kernel::Phase phase;
    std::vector<const Expression*> values;
    for (const Expression& value : fold.values) values.push_back(&value);
    declare_known(values, scope, phase.body);
    const FoldLowering lowering(*this, fold, compute, scope);

    std::vector<AxisId> axes = target_axes(compute);
    for (const AxisId axis : fold.over)
        if (ranges_.at(axis).limits) held_.insert(axis);
    if (fold.every_prefix) axes = without(axes, fold.over);
    const bool ordered = fold.every_prefix || !region_.monoids[fold.monoid.index()].commutative;
    const bool by_warps =
        !ordered &&
        schedule::folds_by_warps(elements_of(axes), elements_of(fold.over), program_.threads);
    append(phase.body, by_warps ? lowering.by_warps(axes) : lowering.by_threads(axes));
    return phase;
}

// The best element that comes after the last one found, once a rank: no sorting, and ties go to the
// lowest index.
kernel::Phase SimtLowering::lower_select(const Select& select, const Compute& compute) {
    ExpressionScope scope = scope_for(compute);
    for (const VariableId target : compute.targets) define_target(target);
    kernel::Phase phase;
    declare_known({&select.value}, scope, phase.body);
    std::vector<AxisId> axes = target_axes(compute);
    if (select.rank) axes = without(axes, {*select.rank});

    For rows = rows_by_warp(elements_of(axes));
    const std::vector<LocalIndex> locals = decompose("row", axes, rows.body);
    Body work;
    const auto ranked = [](kernel::Expression value, kernel::Expression index) {
        return kernel::braces({std::move(value), std::move(index)});
    };
    Body work_of_lane;
    const std::vector<LocalIndex> folded = decompose("f", {select.over}, work_of_lane);
    std::vector<LocalIndex> all = locals;
    all.insert(all.end(), folded.begin(), folded.end());
    const ElementScope element = element_at(all);
    const ExpressionPrinter printer(scope);
    const ArrayId kept = compute.statement.targets.front();
    const Array& kept_array = region_.arrays[kept.index()];
    Code value = sort_of(kept_array.type) == Sort::Integer && !kept_array.rounds
                     ? printer.print_integer(select.value, element)
                     : printer.print(select.value, element);
    const Sort sort = std::max(value.sort, Sort::Integer);
    value = as_accumulator(value, sort);
    const bool integers = sort == Sort::Integer;
    const kernel::Type type = integers ? "RankedInteger" : "Ranked";
    const auto limit = [&](bool greatest) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        return integers ? limit_of_integers(greatest).value
                        : kernel::real(greatest ? kInfinity : -kInfinity);
    };
    work.push_back(kernel::declare(type, "last", ranked(limit(true), -1)));

    For ranks;
    ranks.name = "rank";
    ranks.end = 1;
    if (select.rank) {
        const AxisRange& range = ranges_.at(*select.rank);
        ranks.end = expression_of(range.start + range.count);
    }
    ranks.body.push_back(kernel::declare(
        type, "best", ranked(limit(false), std::numeric_limits<std::int32_t>::max())));
    Body step;
    const kernel::Expression best = variable("best");
    const auto precedes = [](const kernel::Expression& a, const kernel::Expression& b) {
        return call("precedes", {a, b});
    };
    const auto found = variable("found");
    step.push_back(
        define(type, "found", ranked(value.value, expression_of(element.index.at(select.over)))));
    append(step, only_if((equal(variable("rank"), 0) || precedes(variable("last"), found)) &&
                             precedes(found, best),
                         {assign(best, found)}));
    append(work_of_lane, only_if(tests_of(folded), std::move(step)));
    ranks.body.push_back({elements_by_lane(elements_of({select.over}), std::move(work_of_lane))});
    Body exchange = {define(type_of(sort), "value", from_other_lane(member(best, "value"))),
                     define("int", "index", from_other_lane(member(best, "index"))),
                     define(type, "other", ranked(variable("value"), variable("index")))};
    append(exchange, only_if(precedes(variable("other"), best), {assign(best, variable("other"))}));
    ranks.body.push_back({kernel::Halve{"lane", kWarp / 2, std::move(exchange)}});
    ranks.body.push_back(assign(variable("last"), best));
    ElementScope target = element_at(locals);
    kernel::Expression writes = first_lane();
    if (select.rank) {
        target.index[*select.rank] = index_along(*select.rank, "rank");
        const IndexForm& start = ranges_.at(*select.rank).start;
        if (!start.is_constant(0))
            writes = std::move(writes) && (variable("rank") >= expression_of(start));
    }
    Body winner;
    const kernel::Expression most = member(best, "value");
    store(winner, compute, 0, integers ? integer_code(most, kAny64, true) : real_code(most),
          target);
    store(winner, compute, 1, integer_code(member(best, "index"), kAny32), target);
    append(ranks.body, only_if(std::move(writes), std::move(winner)));
    work.push_back({std::move(ranks)});
    append(rows.body, only_if(tests_of(locals), std::move(work)));
    phase.body.push_back({std::move(rows)});
    return phase;
}

}  // namespace napkin::lowering
