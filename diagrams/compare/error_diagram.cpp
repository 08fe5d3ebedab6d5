// Builds the diagram of error bounds: beside each statement, statements that bound the error of its
// targets. See diagrams/compare.h for the rules.
#include <algorithm>
#include <cmath>
#include <limits>

#include "diagrams/checked.h"
#include "diagrams/compare.h"
#include "diagrams/compare/error_expression.h"
#include "diagrams/overloaded.h"
#include "diagrams/value_kind.h"

namespace napkin {
namespace {

using error_bounds::Bounds;
using error_bounds::error_of;
using error_bounds::is_of_integers;
using error_bounds::is_zero;
using error_bounds::magnitude;
using error_bounds::plus;
using error_bounds::rounding;
using error_bounds::times;

/// What the tensor core cuts off sums of numbers of 8 bits, beside the largest addend.
constexpr double kNarrowCut = 0x1p-13;

/// How often the size of a sum of products errs by a rounding of its operands: rounding errors have
/// any sign.
constexpr double kRoundedOperands = 1.5;

/// How a sum of products on the tensor core rounds its operands. Of f32 it multiplies two parts of
/// tf32, the second of which lacks 2^-21 of the whole, but not the two second parts.
double roundoff_of_operands(ElementType type) {
    constexpr double kOfParts = 0x1p-20;
    return is_in_parts(type) ? kOfParts : unit_roundoff(type);
}

/// How large a value is before anything cancels: of sums the sum of magnitudes. A derivation may
/// multiply the parts of an operand apart, each of which is rounded.
Expression magnitude_of_parts(const Expression& value) {
    const Apply* call = std::get_if<Apply>(&value.node);
    if (call == nullptr) return magnitude(value);
    const auto part = [&](std::size_t i) { return magnitude_of_parts(call->arguments[i]); };
    switch (call->function) {
    case Function::Add:
    case Function::Subtract: return plus(part(0), part(1));
    case Function::Negate: return part(0);
    case Function::Multiply: return times(part(0), part(1));
    case Function::Divide: return apply(Function::Divide, {part(0), magnitude(call->arguments[1])});
    case Function::Select: return apply(Function::Select, {call->arguments[0], part(1), part(2)});
    default: return magnitude(value);
    }
}

/// What underflow adds to an error, where the type's exponents are few.
double noticeable_underflow(ElementType type) {
    constexpr double kNegligible = 1e-30;
    const double error = underflow_error(type);
    return error < kNegligible ? 0 : error;
}

/// Makes room for the left element's errors before the slots of the right one.
Expression shift_right_operand(const Expression& part, std::uint32_t components) {
    if (!std::holds_alternative<Operand>(part.node)) return part;
    const std::uint32_t slot = std::get<Operand>(part.node).slot;
    return {Operand{slot < components ? slot : slot + components}, part.span};
}

class Builder {
public:
    Builder(const Diagram& diagram, const Precision& precision)
        : source_(diagram), precision_(precision) {
        result.diagram = diagram;
        result.diagram.statements.clear();
        bounds_.diagram = &source_;
        bounds_.arithmetic = precision.arithmetic;
        roundoff_ = unit_roundoff(precision.arithmetic);
    }

    void add(const Statement& statement) {
        Statement raw = statement;
        for (ArrayId& target : raw.targets) target = raw_array(target);
        result.diagram.statements.push_back(raw);
        std::visit(
            overloaded{
                [&](const Map& map) { set_bound(raw.targets[0], error_of(bounds_, map.value)); },
                [&](const Fold& fold) { bound_fold(raw, fold); },
                [&](const Select& select) { bound_select(raw, select); },
                [](const Opaque&) {},
            },
            raw.body);
        for (std::size_t at = 0; at < raw.targets.size(); ++at)
            finish(statement.targets[at], raw.targets[at]);
    }

    ErrorDiagram result;

private:
    [[nodiscard]] const std::vector<AxisId>& axes_of_array(ArrayId array) const {
        return result.diagram[array].axes;
    }
    [[nodiscard]] Expression at_own_axes(ArrayId array) const {
        return read_axes(array, axes_of_array(array));
    }
    ArrayId new_array(const std::string& what, const std::vector<AxisId>& axes) {
        Array array;
        array.name = what + "." + std::to_string(result.diagram.arrays.size());
        array.named = false;
        array.axes = axes;
        array.type = ElementType::F64;
        for (std::size_t at = 0; at < axes.size(); ++at)
            array.layout.push_back(static_cast<std::uint32_t>(at));
        result.diagram.arrays.push_back(std::move(array));
        return ArrayId{static_cast<std::uint32_t>(result.diagram.arrays.size() - 1)};
    }
    void define(std::vector<ArrayId> targets, std::variant<Map, Fold, Select, Opaque> body) {
        Statement statement;
        statement.targets = std::move(targets);
        statement.body = std::move(body);
        result.diagram.statements.push_back(std::move(statement));
    }
    ArrayId define_map(const std::string& what, const std::vector<AxisId>& axes, Expression value) {
        const ArrayId array = new_array(what, axes);
        define({array}, Map{std::move(value)});
        return array;
    }
    /// The array that a statement defines before its rounding, when it rounds.
    ArrayId raw_array(ArrayId target) {
        const Array& array = source_[target];
        return array.rounds ? new_array("raw", array.axes) : target;
    }
    void set_bound(ArrayId array, Expression bound) {
        if (is_zero(bound)) return;
        const std::vector<AxisId> axes = axes_of_array(array);
        bounds_.arrays[array] = define_map("error", axes, std::move(bound));
    }
    [[nodiscard]] Expression bound_of(ArrayId array) const {
        const auto found = bounds_.arrays.find(array);
        return found == bounds_.arrays.end() ? number(0) : at_own_axes(found->second);
    }

    /// Rounding and storage of a target.
    void finish(ArrayId target, ArrayId raw) {
        const Array array = source_[target];
        if (array.rounds) {
            const Expression value = at_own_axes(raw);
            define({target}, Map{Expression{Convert{array.type, {value}}, {}}});
            set_bound(target, error_bounds::rounded_error(array.type, value, bound_of(raw)));
        }
        const auto stored = precision_.stored.find(target);
        const bool narrower = stored != precision_.stored.end() && is_floating(array.type) &&
                              is_floating(stored->second) &&
                              stored->second != precision_.arithmetic &&
                              !(array.rounds && array.type == stored->second);
        if (narrower)
            set_bound(target, plus(plus(bound_of(target), rounding(unit_roundoff(stored->second),
                                                                   at_own_axes(target))),
                                   number(noticeable_underflow(stored->second))));
    }

    /// Of an element that a fold or a selection takes: one whose results are integers keeps them,
    /// with the least or the greatest in place of an infinity.
    [[nodiscard]] Expression error_of_element(ArrayId kept, const Expression& element) const {
        const Apply* call = std::get_if<Apply>(&element.node);
        if (is_floating(result.diagram[kept].type) || call == nullptr ||
            call->function != Function::Select || !is_zero(error_of(bounds_, call->arguments[0])))
            return error_of(bounds_, element);
        const auto branch = [&](std::size_t i) {
            return error_of_element(kept, call->arguments[i]);
        };
        const Expression taken = branch(1);
        const Expression otherwise = branch(2);
        if (is_zero(taken) && is_zero(otherwise)) return taken;
        return apply(Function::Select, {call->arguments[0], taken, otherwise});
    }

    void bound_fold(const Statement& statement, const Fold& fold) {
        if (fold.monoid > kMin) return bound_tuple(statement, fold);
        const ArrayId target = statement.targets[0];
        const Expression& value = fold.values[0];
        Expression error = error_of_element(target, value);
        Expression seed = fold.seed.empty() ? number(0) : error_of(bounds_, fold.seed[0]);
        std::int64_t terms = 1;
        for (const AxisId axis : fold.over)
            terms = saturating_multiply(terms, source_[axis].extent);
        // Products of reals grow beyond any f32, and operands may be rounded.
        const bool integral =
            kind_of(source_, statement) == ValueKind::Integer ||
            (fold.monoid != kProduct && !precision_.operands.contains(statement.box) &&
             error_bounds::is_integral(source_, value, terms));
        if (fold.monoid == kMax || fold.monoid == kMin) {
            if (is_zero(error) && is_zero(seed)) return;
            set_bound(target, error_bounds::larger(error_of_extreme(statement, fold, error), seed));
        } else if (fold.monoid == kSum && !(integral && is_zero(error))) {
            Expression sum = fold_of(statement, fold, kSum, std::move(error));
            if (precision_.alike)
                return set_bound(target, plus(plus(std::move(sum), seed),
                                              roundings_of_one_sign(statement, fold)));
            const Expression squares = fold_of(statement, fold, kSum, times(value, value));
            const Expression size =
                plus(magnitude(at_own_axes(target)), apply(Function::Sqrt, {squares}));
            const auto operands = precision_.operands.find(statement.box);
            const bool in_parts =
                operands != precision_.operands.end() && is_in_parts(operands->second);
            Expression bound =
                plus(plus(std::move(sum), seed),
                     rounding(rounding_steps(fold, precision_.truncates && !in_parts) * roundoff_,
                              size));
            if (operands != precision_.operands.end()) {
                const Expression parts = magnitude_of_parts(value);
                const Expression of_parts = fold_of(statement, fold, kSum, times(parts, parts));
                bound =
                    plus(plus(std::move(bound),
                              rounding(kRoundedOperands * roundoff_of_operands(operands->second),
                                       apply(Function::Sqrt, {of_parts}))),
                         underflow_of_operands(statement, fold, operands->second));
            }
            if (precision_.narrow.contains(statement.box))
                bound = plus(plus(std::move(bound),
                                  rounding(24 * kNarrowCut, magnitude(at_own_axes(target)))),
                             rounding(6 * kNarrowCut, apply(Function::Sqrt, {squares})));
            set_bound(target, std::move(bound));
        } else if (fold.monoid == kProduct && !(integral && is_zero(error))) {
            Expression relative = is_zero(error)
                                      ? number(0)
                                      : fold_of(statement, fold, kSum,
                                                apply(Function::Divide, {error, magnitude(value)}));
            relative = plus(std::move(relative), number(length_of(fold) * roundoff_));
            set_bound(target, times(magnitude(at_own_axes(target)), std::move(relative)));
        }
    }

    /// The most that a sum errs by roundings of its own and of its operands.
    Expression roundings_of_one_sign(const Statement& statement, const Fold& fold) {
        const Expression& value = fold.values[0];
        const Expression sizes = fold_of(statement, fold, kSum, magnitude_of_parts(value));
        double most = length_of(fold) * roundoff_;
        Expression underflow = number(0);
        const auto operands = precision_.operands.find(statement.box);
        if (operands != precision_.operands.end()) {
            most += 2 * roundoff_of_operands(operands->second);
            underflow = underflow_of_operands(statement, fold, operands->second);
        }
        if (precision_.narrow.contains(statement.box)) most += 32 * kNarrowCut;
        return plus(rounding(most / kSafety, sizes), std::move(underflow));
    }

    /// Of a maximum or minimum: the largest of an element that may be it, which none is that stays
    /// behind another whatever either errs by, such as a hidden score beside one that counts.
    Expression error_of_extreme(const Statement& statement, const Fold& fold,
                                const Expression& error) {
        if (fold.every_prefix || is_zero(error)) return fold_of(statement, fold, kMax, error);
        const bool greatest = fold.monoid == kMax;
        const Expression most = error_bounds::at_most(error);
        const auto towards = [&](bool extreme) {
            const Function moved = extreme == greatest ? Function::Add : Function::Subtract;
            return apply(moved, {fold.values[0], most});
        };
        const Expression certain = fold_of(statement, fold, fold.monoid, towards(false));
        // Of what is not known at all, -inf is no more than a value that it may have.
        const Expression may_be =
            apply(Function::Or, {error_bounds::is_unknown(error),
                                 apply(greatest ? Function::GreaterEqual : Function::LessEqual,
                                       {towards(true), certain})});
        return fold_of(statement, fold, kMax, apply(Function::Select, {may_be, error, number(0)}));
    }

    /// What a sum of products loses where operands are too small for a short type.
    Expression underflow_of_operands(const Statement& statement, const Fold& fold,
                                     ElementType type) {
        const double error = noticeable_underflow(type);
        std::vector<Expression> factors;
        collect_factors(fold.values[0], factors);
        if (error == 0 || factors.size() < 2) return number(0);
        Expression beside = number(0);  // each factor: what it is multiplied by
        for (std::size_t i = 0; i < factors.size(); ++i) {
            Expression others = number(1);
            for (std::size_t j = 0; j < factors.size(); ++j)
                if (j != i) others = times(std::move(others), magnitude(factors[j]));
            beside = plus(std::move(beside), std::move(others));
        }
        const Expression squares = fold_of(statement, fold, kSum, times(beside, beside));
        return rounding(4 * error, apply(Function::Sqrt, {squares}));
    }
    static void collect_factors(const Expression& product, std::vector<Expression>& factors) {
        const Apply* call = std::get_if<Apply>(&product.node);
        if (call == nullptr || call->function != Function::Multiply)
            return factors.push_back(product);
        for (const Expression& argument : call->arguments) collect_factors(argument, factors);
    }

    /// How often the rounding of a sum counts in full: errors of rounding cancel, cuts add up.
    [[nodiscard]] double rounding_steps(const Fold& fold, bool truncates) const {
        constexpr double kDepthOfStep = 16;  // of the tensor core, along k
        const double length = length_of(fold);
        return std::sqrt(length) + (truncates ? length / kDepthOfStep : 0);
    }

    [[nodiscard]] double length_of(const Fold& fold) const {
        double length = 1;
        for (const AxisId axis : fold.over) length *= static_cast<double>(source_[axis].extent);
        return length;
    }

    /// A new array that folds `value` as `fold` does, read at the target's axes.
    Expression fold_of(const Statement& statement, const Fold& fold, MonoidId monoid,
                       Expression value) {
        if (is_zero(value)) return value;
        const ArrayId array = new_array("folded", axes_of_array(statement.targets[0]));
        define({array}, Fold{monoid, fold.over, {std::move(value)}, {}, fold.every_prefix});
        return at_own_axes(array);
    }

    /// Whether all that a user's monoid combines is exact: integers, by operations on integers.
    [[nodiscard]] bool folds_integers(const Statement& statement, const Fold& fold) const {
        const std::vector<ValueKind> operands(2 * fold.values.size(), ValueKind::Integer);
        for (std::size_t at = 0; at < fold.values.size(); ++at)
            if (kept_kind(result.diagram, statement, at) != ValueKind::Integer ||
                !is_of_integers(bounds_, source_[fold.monoid].combine[at], operands) ||
                !is_zero(error_of_element(statement.targets[at], fold.values[at])) ||
                (!fold.seed.empty() && !is_zero(error_of(bounds_, fold.seed[at]))))
                return false;
        return true;
    }

    /// A user's monoid: the same fold over values and errors side by side.
    void bound_tuple(const Statement& statement, const Fold& fold) {
        if (folds_integers(statement, fold)) return;
        const Monoid& monoid = source_[fold.monoid];
        const auto components = static_cast<std::uint32_t>(monoid.combine.size());
        Monoid dual = monoid;
        Fold both = fold;
        std::vector<ArrayId> targets;
        bounds_.components = components;
        for (Expression& combine : dual.combine)
            combine = rewrite(std::move(combine), [&](const Expression& part) {
                return shift_right_operand(part, components);
            });
        for (std::uint32_t at = 0; at < components; ++at) {
            dual.identity.push_back(number(0));
            dual.combine.push_back(error_of(bounds_, dual.combine[at]));
            both.values.push_back(error_of(bounds_, fold.values[at]));
            if (!fold.seed.empty()) both.seed.push_back(error_of(bounds_, fold.seed[at]));
        }
        both.monoid = MonoidId{static_cast<std::uint32_t>(result.diagram.monoids.size())};
        result.diagram.monoids.push_back(std::move(dual));
        for (const char* what : {"value", "error"})
            for (const ArrayId target : statement.targets)
                targets.push_back(new_array(what, std::vector<AxisId>(axes_of_array(target))));
        for (std::uint32_t at = 0; at < components; ++at)
            bounds_.arrays[statement.targets[at]] = targets[components + at];
        define(std::move(targets), std::move(both));
    }

    /// Values err by at most the largest error of any candidate; an index is undecided where
    /// another candidate comes within the errors of the selected value.
    void bound_select(const Statement& statement, const Select& select) {
        const Expression error = error_of_element(statement.targets[0], select.value);
        if (is_zero(error)) return;
        const ArrayId values = statement.targets[0];
        const ArrayId indices = statement.targets[1];
        std::vector<AxisId> rows;
        for (const AxisId axis : axes_of_array(values))
            if (axis != select.rank) rows.push_back(axis);
        const ArrayId largest = new_array("largest", rows);
        define({largest}, Fold{kMax, {select.over}, {error}, {}, false});
        set_bound(values, read_axes(largest, rows));
        const Expression gap =
            magnitude(apply(Function::Subtract, {select.value, at_own_axes(values)}));
        const Expression near =
            apply(Function::LessEqual,
                  {gap, error_bounds::at_most(plus(error, read_axes(largest, rows)))});
        const Expression other =
            apply(Function::NotEqual, {axis_index(select.over), at_own_axes(indices)});
        const Expression doubt =
            apply(Function::Select, {apply(Function::And, {other, near}),
                                     number(std::numeric_limits<double>::infinity()), number(0)});
        const ArrayId undecided = new_array("undecided", axes_of_array(indices));
        define({undecided}, Fold{kMax, {select.over}, {doubt}, {number(0)}, false});
        set_bound(indices, at_own_axes(undecided));
    }

    const Diagram& source_;
    const Precision& precision_;
    Bounds bounds_;
    double roundoff_ = 0;

public:
    [[nodiscard]] const std::map<ArrayId, ArrayId>& bounds() const { return bounds_.arrays; }
};

}  // namespace

ErrorDiagram error_diagram(const Diagram& diagram, const Precision& precision) {
    Builder builder(diagram, precision);
    for (const Statement& statement : diagram.statements) builder.add(statement);
    builder.result.bounds = builder.bounds();
    return std::move(builder.result);
}

}  // namespace napkin
