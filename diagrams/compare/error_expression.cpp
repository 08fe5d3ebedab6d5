#include "diagrams/compare/error_expression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "diagrams/compare.h"
#include "diagrams/infinity.h"
#include "diagrams/literal.h"
#include "diagrams/overloaded.h"
#include "diagrams/value_bounds.h"
#include "diagrams/value_kind.h"

namespace napkin::error_bounds {
namespace {

/// Roundings granted to a division, an exponential and the like on a device.
constexpr double kFunctionRoundings = 4;

Expression zero() {
    return number(0);
}

Expression select(Expression condition, Expression taken, Expression otherwise) {
    if (is_zero(taken) && is_zero(otherwise)) return zero();
    return apply(Function::Select, {std::move(condition), std::move(taken), std::move(otherwise)});
}

Expression undecided_if(Expression condition, Expression otherwise) {
    return apply(Function::Select, {std::move(condition), number(kInfinity), std::move(otherwise)});
}

Expression guard(Expression value) {
    return apply(Function::Guard, {std::move(value)});
}

Expression difference(Expression a, Expression b) {
    return apply(Function::Subtract, {std::move(a), std::move(b)});
}

/// The bound of what errs by so much at the most.
Expression in_bounds(Expression most) {
    return times(number(1 / kSafety), std::move(most));
}

/// r where the error is r times the size of the value, as of inputs and of products of them.
std::optional<double> relative_error(const Expression& error, const Expression& value) {
    if (is_zero(error)) return 0;
    const Apply* scaled = std::get_if<Apply>(&error.node);
    if (scaled == nullptr || scaled->function != Function::Multiply) return std::nullopt;
    const Number* factor = std::get_if<Number>(&scaled->arguments[0].node);
    if (factor == nullptr || scaled->arguments[1] != guard(magnitude(value))) return std::nullopt;
    return factor->value;
}

/// Bounds one call: its value, its arguments and their errors at hand.
struct CallBound {
    const Expression& value;
    const std::vector<Expression>& arguments;
    std::vector<Expression> errors;
    double roundoff = 0;
    bool integral = false;

    [[nodiscard]] bool exact_arguments() const {
        return std::all_of(errors.begin(), errors.end(), is_zero);
    }
    [[nodiscard]] Expression rounded(double roundings) const {
        return integral ? zero() : rounding(roundings * roundoff, value);
    }
    [[nodiscard]] Expression any_error() const {
        Expression most = zero();
        for (const Expression& error : errors) most = larger(std::move(most), error);
        return most;
    }
    [[nodiscard]] Expression product() const {
        const std::optional<double> left = relative_error(errors[0], arguments[0]);
        const std::optional<double> right = relative_error(errors[1], arguments[1]);
        if (left && right && !integral) return rounding(*left + *right + roundoff, value);
        // What is infinite stays so, whatever it is multiplied by errs by.
        const auto finite = [&](std::size_t i) { return guard(magnitude(arguments[i])); };
        const Expression cross = plus(times(finite(0), errors[1]), times(finite(1), errors[0]));
        return plus(plus(cross, times(errors[0], errors[1])), rounded(1));
    }
    [[nodiscard]] Expression quotient() const {
        const Expression above = plus(errors[0], times(magnitude(value), errors[1]));
        const Expression slope =
            is_zero(above) ? zero() : apply(Function::Divide, {above, magnitude(arguments[1])});
        return plus(plus(slope, beyond(1, 0x1p126, magnitude(value))), rounded(kFunctionRoundings));
    }
    /// What an argument that overflows the arithmetic does: a root or a logarithm of it is
    /// infinite.
    [[nodiscard]] Expression overflown(std::size_t argument, Expression error) const {
        return beyond(argument, std::numeric_limits<float>::max(), std::move(error));
    }
    /// An error where an argument that errs is larger than this.
    [[nodiscard]] Expression beyond(std::size_t argument, double most, Expression error) const {
        if (is_zero(errors[argument])) return zero();
        const Expression beyond =
            apply(Function::Greater, {magnitude(arguments[argument]), number(most)});
        return apply(Function::Select, {beyond, std::move(error), zero()});
    }
    /// Of a whole power all factors may round: it may be a product of them.
    [[nodiscard]] Expression power() const {
        const Number* exponent = std::get_if<Number>(&arguments[1].node);
        double roundings = kFunctionRoundings;
        if (exponent != nullptr && exponent->value == std::floor(exponent->value))
            roundings = std::max(roundings, std::abs(exponent->value));
        if (exponent != nullptr && exponent->value >= 1 && !is_zero(errors[0])) {
            // The slope at the far end: at 0 there may be none.
            const Expression far = plus(magnitude(arguments[0]), errors[0]);
            return plus(difference(apply(Function::Power, {far, arguments[1]}), magnitude(value)),
                        rounded(roundings));
        }
        const Expression slope =
            times(magnitude(apply(Function::Divide, {times(arguments[1], value), arguments[0]})),
                  errors[0]);
        return plus(is_zero(errors[0]) ? zero() : slope, rounded(roundings));
    }
    [[nodiscard]] Expression exponential() const {
        const Expression relative = plus(plus(errors[0], rounding(roundoff, arguments[0])),
                                         number(kFunctionRoundings * roundoff));
        Expression error = plus(times(value, relative), flushed());
        // A logarithm of 0 is not known either, but its exponential is small.
        bool of_logarithm = false;
        walk(arguments[0], [&](const Expression& part) {
            const Apply* call = std::get_if<Apply>(&part.node);
            of_logarithm = of_logarithm || (call != nullptr && call->function == Function::Log);
        });
        if (is_zero(errors[0]) || of_logarithm) return error;
        return undecided_if(is_unknown(errors[0]), std::move(error));  // exp(-inf) too
    }
    /// All of an exponential that a device takes for 0.
    [[nodiscard]] Expression flushed() const {
        return apply(Function::Min, {value, number(std::numeric_limits<float>::min())});
    }
    [[nodiscard]] Expression logarithm() const {
        const Expression slope =
            is_zero(errors[0]) ? zero()
                               : apply(Function::Divide, {errors[0], magnitude(arguments[0])});
        return plus(plus(slope, overflown(0, number(kInfinity))),
                    plus(rounded(kFunctionRoundings), number(kFunctionRoundings * roundoff)));
    }
    [[nodiscard]] Expression square_root() const {
        const Expression reached = apply(Function::Sqrt, {plus(arguments[0], errors[0])});
        return plus(plus(is_zero(errors[0]) ? zero() : difference(reached, value),
                         overflown(0, number(kInfinity))),
                    rounded(2));
    }
    [[nodiscard]] Expression reciprocal_root() const {
        const Expression slope =
            apply(Function::Divide, {times(value, errors[0]), magnitude(arguments[0])});
        return plus(plus(is_zero(errors[0]) ? zero() : slope, overflown(0, value)),
                    rounded(kFunctionRoundings));
    }
    /// Of a function that rises from one finite value to another: what it does to either end.
    [[nodiscard]] Expression saturating(Function function) const {
        if (exact_arguments()) return rounded(kFunctionRoundings);
        const Expression most = at_most(errors[0]);
        const auto at = [&](Expression argument) { return apply(function, {std::move(argument)}); };
        const Expression ends = larger(difference(at(plus(arguments[0], most)), value),
                                       difference(value, at(difference(arguments[0], most))));
        return undecided_if(is_unknown(most), plus(in_bounds(ends), rounded(kFunctionRoundings)));
    }
    [[nodiscard]] Expression floor() const {
        if (exact_arguments()) return zero();
        const Expression most = at_most(errors[0]);
        const auto floor_of = [](Expression x) { return apply(Function::Floor, {std::move(x)}); };
        return in_bounds(magnitude(difference(floor_of(plus(arguments[0], most)),
                                              floor_of(difference(arguments[0], most)))));
    }
    [[nodiscard]] Expression comparison() const {
        if (exact_arguments()) return zero();
        const Expression gap = magnitude(difference(arguments[0], arguments[1]));
        const Expression error = at_most(plus(errors[0], errors[1]));
        return undecided_if(apply(Function::And, {apply(Function::Greater, {error, zero()}),
                                                  apply(Function::LessEqual, {gap, error})}),
                            zero());
    }
    /// `a and b`, `a or b`: the second counts only where the first leaves it to it.
    [[nodiscard]] Expression logic(bool is_and) const {
        const Expression second = is_and ? select(arguments[0], errors[1], zero())
                                         : select(arguments[0], zero(), errors[1]);
        return larger(errors[0], second);
    }
    [[nodiscard]] Expression choice() const {
        Expression taken = select(arguments[0], errors[1], errors[2]);
        if (is_zero(errors[0])) return taken;
        return undecided_if(apply(Function::Greater, {errors[0], zero()}), taken);
    }
    /// A step function of something inexact.
    [[nodiscard]] Expression jump() const {
        const Expression error = any_error();
        if (is_zero(error)) return rounded(1);
        return undecided_if(apply(Function::Greater, {error, zero()}), rounded(1));
    }
};

Expression bound_call(Function function, const CallBound& call) {
    switch (function) {
    case Function::Add:
    case Function::Subtract: return plus(plus(call.errors[0], call.errors[1]), call.rounded(1));
    case Function::Multiply: return call.product();
    case Function::Divide: return call.quotient();
    case Function::FloorDivide:
    case Function::Modulo:
    case Function::BitAnd:
    case Function::BitOr:
    case Function::BitXor:
    case Function::ShiftLeft:
    case Function::ShiftRight: return call.jump();
    case Function::Power: return call.power();
    case Function::Exp: return call.exponential();
    case Function::Log: return call.logarithm();
    case Function::Sqrt: return call.square_root();
    case Function::Rsqrt: return call.reciprocal_root();
    case Function::Tanh:
    case Function::Erf: return call.saturating(function);
    case Function::Sin:
    case Function::Cos: return plus(call.errors[0], call.rounded(kFunctionRoundings));
    case Function::Negate:
    case Function::Abs:
    case Function::Guard:
    case Function::Min:
    case Function::Max:
    case Function::Not: return call.any_error();
    case Function::Floor: return call.floor();
    case Function::Less:
    case Function::LessEqual:
    case Function::Greater:
    case Function::GreaterEqual:
    case Function::Equal:
    case Function::NotEqual: return call.comparison();
    case Function::And: return call.logic(true);
    case Function::Or: return call.logic(false);
    case Function::Select: return call.choice();
    }
    throw InternalError("unknown function");
}

Expression bound_read(const Bounds& bounds, const Read& element) {
    Expression index_error = zero();
    for (const Expression& index : element.index)
        index_error = larger(std::move(index_error), error_of(bounds, index));
    const auto found = bounds.arrays.find(element.array);
    Expression error = found == bounds.arrays.end() ? zero() : read(found->second, element.index);
    if (is_zero(index_error)) return error;
    return undecided_if(apply(Function::Greater, {index_error, zero()}), std::move(error));
}

/// Functions that turn the least error into one of a whole step.
bool is_step(Function function) {
    return function == Function::FloorDivide || function == Function::Modulo ||
           is_bit_operation(function) || is_comparison_or_logic(function);
}

/// How large an integer can be.
double most_of(const Diagram& diagram, const Expression& integer) {
    return std::visit(
        overloaded{
            [](const Number& literal) { return std::abs(literal.value); },
            [&](const AxisIndex& at) { return static_cast<double>(diagram[at.axis].extent); },
            [&](const SizeOf& size) { return static_cast<double>(diagram[size.axis].extent); },
            [&](const Read& element) {
                const Array& array = diagram[element.array];
                if (array.indexes) return static_cast<double>(diagram[*array.indexes].extent);
                return std::exp2(static_cast<double>(bits_of(array.type) - 1));
            },
            [&](const Apply& call) {
                const auto most = [&](std::size_t i) {
                    return most_of(diagram, call.arguments[i]);
                };
                switch (call.function) {
                case Function::Add:
                case Function::Subtract: return most(0) + most(1);
                case Function::Multiply: return most(0) * most(1);
                case Function::Negate:
                case Function::Abs:
                case Function::FloorDivide: return most(0);
                case Function::Modulo: return most(1);
                case Function::Min:
                case Function::Max: return std::max(most(0), most(1));
                case Function::Select: return std::max(most(1), most(2));
                default: return kInfinity;
                }
            },
            [](const Convert&) { return kInfinity; },
            [](const Operand&) { return kInfinity; },
        },
        integer.node);
}

/// What an exact integer loses where it becomes a number of the arithmetic, which holds it up to
/// 1/u exactly.
Expression conversion(const Bounds& bounds, const Expression& integer) {
    const double roundoff = unit_roundoff(bounds.arithmetic);
    const bool literal = std::holds_alternative<Number>(integer.node);
    if (literal || most_of(*bounds.diagram, integer) <= 1 / roundoff) return zero();
    return select(apply(Function::Greater, {magnitude(integer), number(1 / roundoff)}),
                  rounding(roundoff, integer), zero());
}

/// Whether a call computes with real numbers, which integers among its arguments become.
bool computes_reals(const Bounds& bounds, const Apply& call) {
    const std::size_t first = call.function == Function::Select ? 1 : 0;
    const auto is_real = [&](const Expression& argument) {
        return kind_of(*bounds.diagram, argument) == ValueKind::Real;
    };
    return std::any_of(call.arguments.begin() + static_cast<std::ptrdiff_t>(first),
                       call.arguments.end(), is_real) ||
           (!is_step(call.function) &&
            kind_of(*bounds.diagram, Expression{call, {}}) == ValueKind::Real);
}

/// Exact for the innermost rounding; a rounding around another is granted a whole step, since the
/// exact form would double with every level.
Expression bound_convert(const Bounds& bounds, const Convert& convert) {
    const Expression& value = convert.argument[0];
    Expression error = error_of(bounds, value);
    bool nested = false;
    walk(value, [&](const Expression& part) {
        nested = nested || std::holds_alternative<Convert>(part.node);
    });
    if (!nested || is_zero(error)) return rounded_error(convert.type, value, error);
    return plus(std::move(error), rounding(2 * unit_roundoff(convert.type), value));
}

}  // namespace

bool is_zero(const Expression& expression) {
    const Number* literal = std::get_if<Number>(&expression.node);
    return literal != nullptr && literal->value == 0;
}

Expression plus(Expression a, Expression b) {
    if (is_zero(a)) return b;
    if (is_zero(b)) return a;
    return apply(Function::Add, {std::move(a), std::move(b)});
}

Expression times(Expression a, Expression b) {
    if (is_zero(a) || is_zero(b)) return zero();
    return apply(Function::Multiply, {std::move(a), std::move(b)});
}

Expression larger(Expression a, Expression b) {
    if (is_zero(a)) return b;
    if (is_zero(b)) return a;
    return apply(Function::Max, {std::move(a), std::move(b)});
}

Expression magnitude(Expression a) {
    return apply(Function::Abs, {std::move(a)});
}

Expression at_most(Expression error) {
    return times(number(kSafety), std::move(error));
}

Expression is_unknown(Expression error) {
    return apply(Function::Greater, {std::move(error), number(std::numeric_limits<float>::max())});
}

Expression rounding(double roundoff, Expression value) {
    return times(number(roundoff), guard(magnitude(std::move(value))));
}

Expression rounded_error(ElementType type, const Expression& value, const Expression& error) {
    if (is_zero(error)) return zero();
    // Whether it is 0, which is between both ends of what it may be.
    if (type == ElementType::Bool)
        return undecided_if(
            apply(Function::And, {apply(Function::Greater, {error, zero()}),
                                  apply(Function::LessEqual, {magnitude(value), at_most(error)})}),
            zero());
    const auto convert = [&](Expression of) {
        return Expression{Convert{type, {std::move(of)}}, {}};
    };
    const Expression center = convert(value);
    const Expression most = at_most(error);
    // Infinite where the type may overflow; equal infinities are not apart.
    const auto apart = [&](Expression of) {
        const Expression there = convert(std::move(of));
        return select(apply(Function::Equal, {there, center}), zero(),
                      magnitude(difference(there, center)));
    };
    return select(apply(Function::Less, {magnitude(value), number(kInfinity)}),
                  in_bounds(larger(apart(plus(value, most)), apart(difference(value, most)))),
                  zero());
}

bool is_of_integers(const Bounds& bounds, const Expression& expression,
                    const std::vector<ValueKind>& operands) {
    bool whole = true;
    walk(expression, [&](const Expression& part) {
        if (!whole) return;
        const Read* element = std::get_if<Read>(&part.node);
        whole = kind_of(*bounds.diagram, part, operands) != ValueKind::Real &&
                (element == nullptr || !bounds.arrays.contains(element->array));
    });
    return whole;
}

bool is_whole_power(const Apply& call) {
    const double* exponent = literal(call.arguments[1]);
    return exponent != nullptr && *exponent >= 0 && is_whole(*exponent);
}

namespace {

/// Whether all it is made of is whole, and stays so.
bool is_whole_throughout(const Diagram& diagram, const Expression& expression) {
    return std::visit(
        overloaded{
            [](const Number& literal) { return literal.value == std::floor(literal.value); },
            [](const AxisIndex&) { return true; },
            [](const SizeOf&) { return true; },
            [&](const Read& element) { return !is_floating(diagram[element.array].type); },
            [&](const Apply& call) {
                if (call.function == Function::Divide ||
                    (call.function == Function::Power && !is_whole_power(call)))
                    return false;
                const bool real = call.function >= Function::Exp && call.function <= Function::Cos;
                const std::size_t first = call.function == Function::Select ? 1 : 0;
                return !real &&
                       std::all_of(call.arguments.begin() + static_cast<std::ptrdiff_t>(first),
                                   call.arguments.end(), [&](const Expression& argument) {
                                       return is_whole_throughout(diagram, argument);
                                   });
            },
            [](const Convert& convert) { return !is_floating(convert.type); },
            [](const Operand&) { return false; },
        },
        expression.node);
}

}  // namespace

bool is_integral(const Diagram& diagram, const Expression& expression, std::int64_t times) {
    if (!is_whole_throughout(diagram, expression)) return false;
    if (kind_of(diagram, expression) != ValueKind::Real) return true;
    const Expression whole = rewrite(expression, [](Expression node) {
        if (Number* literal = std::get_if<Number>(&node.node))
            literal->is_integer = std::abs(literal->value) <= 0x1p53;
        return node;
    });
    const std::optional<Interval> range = integer_bounds(diagram, whole);
    return range && (*range * Interval{times, times}).within(exact_integers(ElementType::F32));
}

Expression error_of(const Bounds& bounds, const Expression& expression) {
    return std::visit(
        overloaded{
            [&](const Number& literal) {
                if (!std::isfinite(literal.value)) return zero();
                return number(std::abs(round_to(bounds.arithmetic, literal.value) - literal.value));
            },
            [](const AxisIndex&) { return zero(); },
            [](const SizeOf&) { return zero(); },
            [&](const Read& element) { return bound_read(bounds, element); },
            [&](const Apply& call) {
                if (is_of_integers(bounds, expression)) return zero();
                const bool reals = computes_reals(bounds, call);
                std::vector<Expression> errors;
                for (const Expression& argument : call.arguments) {
                    errors.push_back(error_of(bounds, argument));
                    if (reals && kind_of(*bounds.diagram, argument) == ValueKind::Integer)
                        errors.back() =
                            plus(std::move(errors.back()), conversion(bounds, argument));
                }
                const CallBound bound{expression, call.arguments, std::move(errors),
                                      unit_roundoff(bounds.arithmetic),
                                      is_integral(*bounds.diagram, expression)};
                return bound_call(call.function, bound);
            },
            [&](const Convert& convert) { return bound_convert(bounds, convert); },
            // Errors follow the values: slots [values, errors] of the left, then of the right.
            [&](const Operand& operand) {
                return Expression{Operand{operand.slot + bounds.components}, {}};
            },
        },
        expression.node);
}

}  // namespace napkin::error_bounds
