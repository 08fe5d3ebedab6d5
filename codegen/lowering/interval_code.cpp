#include "codegen/lowering/interval_code.h"

#include <algorithm>
#include <set>

#include "codegen/expression_text.h"

namespace napkin::lowering {
namespace {

/// `a <= 0` or `a == 0`, folded where it is known.
kernel::Expression compare(const IndexForm& a, kernel::Operator relation) {
    const Interval range = range_of(a);
    const bool equal = relation == kernel::Operator::Equal;
    if (range.low > 0 || (equal && range.high < 0)) return false;
    if (range.high < 0 || (range.high == 0 && (!equal || range.low == 0))) return true;
    // A sum with one subtracted side reads better as a comparison of two sides.
    IndexForm left;
    IndexForm right;
    for (const auto& [atom, coefficient] : a.terms) {
        IndexForm term;
        term.terms.emplace_back(atom, 1);
        if (coefficient > 0)
            left = left + term * coefficient;
        else
            right = right + term * -coefficient;
    }
    if (a.constant > 0)
        left = left + a.constant;
    else
        right = right - a.constant;
    return binary(relation, expression_of(left), expression_of(right));
}

/// Closed forms of a mask over the ends of its coordinates. Quotients, and long alternatives where
/// there are several, are declared before.
class ClosedFormPrinter {
public:
    ClosedFormPrinter(std::vector<IntervalCode> ends, Names& names, kernel::Body& body)
        : ends_(std::move(ends)), names_(names), body_(body) {}

    kernel::Expression print(const index::BoxCondition& condition) {
        kernel::Expression all = true;
        for (const index::Choice& choice : condition) {
            kernel::Expression any = choice.inverted;
            for (const index::Clause& clause : choice.clauses) {
                kernel::Expression each = print(clause, choice.inverted);
                if (choice.clauses.size() > 1) each = named(std::move(each));
                any = choice.inverted ? std::move(any) && std::move(each)
                                      : std::move(any) || std::move(each);
            }
            all = std::move(all) && (condition.size() > 1 ? named(std::move(any)) : std::move(any));
        }
        return all;
    }
    /// Where a clause holds, or, `inverted`, where it does not.
    kernel::Expression print(const index::Clause& clause, bool inverted) {
        read_quotients(clause);
        kernel::Expression result = !inverted;
        const auto add = [&](kernel::Expression part) {
            result = inverted ? std::move(result) || std::move(part)
                              : std::move(result) && std::move(part);
        };
        for (const index::Linear& each : clause.zero) {
            kernel::Expression zero = compare(form(each), kernel::Operator::Equal);
            add(inverted ? !std::move(zero) : std::move(zero));
        }
        for (const index::Linear& each : clause.not_negative)
            add(compare(inverted ? form(each) + 1 : form(each) * -1, kernel::Operator::LessEqual));
        return result;
    }
    /// Chunks of `size` that begin at `start` and end before `end`.
    ChunkProgression progression(const index::ChunkRun& run, const IndexForm& start,
                                 const IndexForm& end, std::int64_t size) {
        ChunkProgression result{start, end, run.step * size, print(run.when, false), {}};
        for (const index::Quotient& least : run.least) {
            const IndexForm above = form(least.dividend) + (least.divisor - 1);
            const IndexForm first = start + floor_divide(maximum(above, 0), least.divisor) * size;
            result.first = result.first == start ? first : maximum(result.first, first);
        }
        for (const index::Quotient& most : run.most) {
            const IndexForm dividend = form(most.dividend);
            const IndexForm last = size % most.divisor == 0
                                       ? dividend * (size / most.divisor)
                                       : floor_divide(dividend, most.divisor) * size;
            result.end = minimum(result.end, start + last + 1);
        }
        if (run.step > 1) result.origin = start + form(run.residue) * size;
        return result;
    }

private:
    void read_quotients(const index::Clause& clause) {
        quotients_.clear();
        for (const index::Quotient& quotient : clause.quotients)
            quotients_.push_back(named(floor_divide(form(quotient.dividend), quotient.divisor)));
    }
    [[nodiscard]] IndexForm named(const IndexForm& quotient) {
        if (quotient.is_constant()) return quotient;
        const auto known = std::find_if(declared_.begin(), declared_.end(),
                                        [&](const auto& entry) { return entry.first == quotient; });
        if (known != declared_.end()) return known->second;
        const std::string name = names_.fresh("part");
        body_.push_back(kernel::define(type_of(quotient), name, expression_of(quotient)));
        declared_.emplace_back(quotient, index_atom(name, range_of(quotient), is_wide(quotient)));
        return declared_.back().second;
    }
    [[nodiscard]] kernel::Expression named(kernel::Expression condition) {
        constexpr std::size_t kShort = 40;
        if (width_of(condition) < kShort) return condition;
        const std::string name = names_.fresh("part");
        body_.push_back(kernel::define("bool", name, std::move(condition)));
        return kernel::variable(name);
    }
    [[nodiscard]] IndexForm form(const index::Linear& linear) const {
        IndexForm sum = linear.constant;
        for (const auto& [variable, coefficient] : linear.terms)
            sum = sum + value(variable) * coefficient;
        return sum;
    }
    [[nodiscard]] IndexForm value(std::size_t variable) const {
        const std::size_t coordinate = variable / 2;
        if (coordinate == ends_.size()) return 0;  // of a quotient that only a chunk's number uses
        if (coordinate > ends_.size()) return quotients_[variable - 2 * (ends_.size() + 1)];
        return variable % 2 == 0 ? ends_[coordinate].low : ends_[coordinate].high;
    }

    std::vector<IntervalCode> ends_;
    std::vector<IndexForm> quotients_;
    std::vector<std::pair<IndexForm, IndexForm>> declared_;  // quotients and their names
    Names& names_;
    kernel::Body& body_;
};

}  // namespace

struct IntervalPrinter::Linear {
    IndexForm fixed;
    std::map<AxisId, std::int64_t> axes;
    std::vector<std::pair<IntervalCode, std::int64_t>> others;
};

/// Adds factor * expression; false where it depends on data.
bool IntervalPrinter::add_linear(const Expression& expression, std::int64_t factor,
                                 Linear& sum) const {
    if (const Number* number = std::get_if<Number>(&expression.node)) {
        if (!number->is_integer) return false;
        sum.fixed = sum.fixed + static_cast<std::int64_t>(number->value) * factor;
        return true;
    }
    if (const SizeOf* size = std::get_if<SizeOf>(&expression.node)) {
        sum.fixed = sum.fixed + sizes_[size->axis.index()] * factor;
        return true;
    }
    if (const AxisIndex* index = std::get_if<AxisIndex>(&expression.node)) {
        sum.axes[index->axis] += factor;
        return true;
    }
    if (const Apply* call = std::get_if<Apply>(&expression.node)) {
        const std::vector<Expression>& args = call->arguments;
        switch (call->function) {
        case Function::Negate: return add_linear(args[0], -factor, sum);
        case Function::Add:
            return add_linear(args[0], factor, sum) && add_linear(args[1], factor, sum);
        case Function::Subtract:
            return add_linear(args[0], factor, sum) && add_linear(args[1], -factor, sum);
        case Function::Multiply:
            for (const std::size_t side : {0U, 1U}) {
                const Number* number = std::get_if<Number>(&args[side].node);
                if (number != nullptr && number->is_integer)
                    return add_linear(args[1 - side],
                                      factor * static_cast<std::int64_t>(number->value), sum);
            }
            break;
        default: break;
        }
    }
    const std::optional<IntervalCode> other = nonlinear(expression);
    if (!other) return false;
    sum.others.emplace_back(*other, factor);
    return true;
}

std::optional<IntervalCode> IntervalPrinter::bounds(const Expression& expression) const {
    if (const Read* element = std::get_if<Read>(&expression.node))
        return elements_ ? elements_(*element) : std::nullopt;
    Linear sum;
    if (!add_linear(expression, 1, sum)) return std::nullopt;
    IntervalCode result{sum.fixed, sum.fixed};
    const auto add = [&](const IndexForm& low, const IndexForm& high, std::int64_t factor) {
        result.low = result.low + (factor > 0 ? low : high) * factor;
        result.high = result.high + (factor > 0 ? high : low) * factor;
    };
    for (const auto& [axis, factor] : sum.axes) {
        const auto found = ranges_.find(axis);
        if (found == ranges_.end())
            add(0, sizes_[axis.index()] - 1, factor);
        else
            add(found->second.start, found->second.start + found->second.count - 1, factor);
    }
    for (const auto& [other, factor] : sum.others) add(other.low, other.high, factor);
    return result;
}

std::optional<IntervalCode> IntervalPrinter::quotient(const Apply& call) const {
    const std::optional<IntervalCode> a = bounds(call.arguments[0]);
    const std::optional<IntervalCode> b = bounds(call.arguments[1]);
    if (!a || !b || b->low != b->high) return std::nullopt;
    if (b->low.is_constant() && b->low.constant <= 0) return std::nullopt;
    const IndexForm low = floor_divide(a->low, b->low);
    const IndexForm high = floor_divide(a->high, b->low);
    if (call.function == Function::FloorDivide) return IntervalCode{low, high};
    if (low == high) return IntervalCode{modulo(a->low, b->low), modulo(a->high, b->low)};
    if (low.is_constant() && high.is_constant()) return IntervalCode{0, b->low - 1};
    const kernel::Expression same = equal(expression_of(low), expression_of(high));
    const auto chosen = [&](const IndexForm& yes, const IndexForm& no) {
        const bool wide = is_wide(yes) || is_wide(no);
        return index_atom(choose(same, expression_as(yes, wide), expression_as(no, wide)),
                          hull(range_of(yes), range_of(no)), wide);
    };
    return IntervalCode{chosen(modulo(a->low, b->low), 0),
                        chosen(modulo(a->high, b->low), b->low - 1)};
}

std::optional<IntervalCode> IntervalPrinter::nonlinear(const Expression& expression) const {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return std::nullopt;
    const auto side = [&](std::size_t at) { return bounds(call->arguments[at]); };
    switch (call->function) {
    case Function::Multiply: {
        const std::optional<IntervalCode> a = side(0);
        const std::optional<IntervalCode> b = side(1);
        if (!a || !b) return std::nullopt;
        if (a->low == a->high && b->low == b->high)
            return IntervalCode{a->low * b->low, a->low * b->low};
        const IntervalCode& fixed = a->low == a->high ? *a : *b;
        const IntervalCode& other = a->low == a->high ? *b : *a;
        if (fixed.low != fixed.high) return std::nullopt;
        if (fixed.low.is_constant() && fixed.low.constant < 0)
            return IntervalCode{other.high * fixed.low, other.low * fixed.low};
        // Anything else that is fixed is a product of sizes, which are positive.
        return IntervalCode{other.low * fixed.low, other.high * fixed.low};
    }
    case Function::FloorDivide:
    case Function::Modulo: return quotient(*call);
    case Function::Min:
    case Function::Max: {
        const std::optional<IntervalCode> a = side(0);
        const std::optional<IntervalCode> b = side(1);
        if (!a || !b) return std::nullopt;
        if (call->function == Function::Min)
            return IntervalCode{minimum(a->low, b->low), minimum(a->high, b->high)};
        return IntervalCode{maximum(a->low, b->low), maximum(a->high, b->high)};
    }
    case Function::Select: {
        const std::optional<IntervalCode> a = side(1);
        const std::optional<IntervalCode> b = side(2);
        if (!a || !b) return std::nullopt;
        return IntervalCode{minimum(a->low, b->low), maximum(a->high, b->high)};
    }
    default: return std::nullopt;
    }
}

/// Coordinates that nothing is known of are in no condition.
std::vector<IntervalCode> IntervalPrinter::ends_of(const index::Mask& mask) const {
    std::vector<IntervalCode> ends;
    for (const Expression& coordinate : mask.coordinates())
        ends.push_back(bounds(coordinate).value_or(IntervalCode{}));
    return ends;
}

/// Of arrays all of whose elements in the conditions have ends.
index::Mask IntervalPrinter::mask_of(const std::vector<Expression>& conditions) const {
    std::set<ArrayId> unknown;
    for (const Expression& condition : conditions)
        walk(condition, [&](const Expression& part) {
            const Read* element = std::get_if<Read>(&part.node);
            if (element != nullptr && elements_ && !elements_(*element))
                unknown.insert(element->array);
        });
    index::Elements known;
    if (elements_)
        known = [unknown =
                     std::move(unknown)](ArrayId array) -> std::optional<index::ElementRange> {
            if (unknown.contains(array)) return std::nullopt;
            return index::ElementRange{};
        };
    return {axes_, conditions, known};
}

kernel::Expression IntervalPrinter::may_hold(const std::vector<Expression>& conditions,
                                             Names& names, kernel::Body& body) const {
    const index::Mask mask = mask_of(conditions);
    return ClosedFormPrinter(ends_of(mask), names, body).print(mask.where_met());
}

kernel::Expression IntervalPrinter::must_hold(const Expression& condition, Names& names,
                                              kernel::Body& body) const {
    const index::Mask mask = mask_of({condition});
    return ClosedFormPrinter(ends_of(mask), names, body).print(mask.where_covered());
}

std::optional<std::vector<ChunkProgression>> IntervalPrinter::chunks(
    const std::vector<Expression>& conditions, AxisId axis, std::int64_t size, Names& names,
    kernel::Body& body) const {
    const index::Mask mask = mask_of(conditions);
    const std::optional<index::Chunks> chunks =
        mask.chunks_met(axis, size, ranges_.at(axis).start.is_constant(0));
    if (!chunks) return std::nullopt;
    ClosedFormPrinter printer(ends_of(mask), names, body);
    const kernel::Expression when = printer.print(chunks->when);
    const AxisRange& range = ranges_.at(axis);
    std::vector<ChunkProgression> result;
    for (const index::ChunkRun& run : chunks->runs) {
        ChunkProgression next =
            printer.progression(run, range.start, range.start + range.count, size);
        next.when = when && std::move(next.when);
        if (!is(next.when, false)) result.push_back(std::move(next));
    }
    return result;
}

}  // namespace napkin::lowering
