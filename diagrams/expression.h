// Expressions of a checked diagram: what one element of an array is, in terms of elements of
// others. Names are resolved, reductions are gone (each is a statement of its own), library
// operations are expanded.
//
// Arithmetic on reals has two conventions beyond IEEE (docs/language.md, "Masks and empty rows"):
// -inf absorbs in + and -, also against itself, and 0/0 is 0. They make rows on which nothing is
// visible come out as zero.
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "diagrams/element_type.h"
#include "diagrams/id.h"
#include "diagrams/source.h"

namespace napkin {

enum class Function {
    // arithmetic; Power has a constant second argument
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
    // real functions
    Exp,
    Log,
    Sqrt,
    Rsqrt,
    Tanh,
    Erf,
    Sin,
    Cos,
    Abs,
    Min,
    Max,
    Floor,
    // integers as two's complement; ShiftLeft(a, n) is a * 2^n, ShiftRight(a, n) is a // 2^n, and
    // both are 0 for a negative n
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    // comparisons and logic, of type bool
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Not,
    // Select(condition, then, otherwise) evaluates only the branch it takes
    Select,
    // Guard(x) is 0 where x is infinite, else x: the gauge subtracted from an exponent when nothing
    // is visible yet
    Guard,
};

struct Expression;

/// A literal; `-inf` and `inf` are literals too. `is_integer` keeps `2` apart from `2.0` for typing
/// and printing.
struct Number {
    double value = 0;
    bool is_integer = false;
    bool operator==(const Number&) const = default;
};
/// The index along an axis, a global position (never relative to a tile).
struct AxisIndex {
    AxisId axis;
    bool operator==(const AxisIndex&) const = default;
};
/// The size of an axis.
struct SizeOf {
    AxisId axis;
    bool operator==(const SizeOf&) const = default;
};
/// One element of an array; one integer expression a dimension, in the order of Array::axes.
struct Read {
    ArrayId array;
    std::vector<Expression> index;
    bool operator==(const Read&) const = default;
};
/// A function of one to three arguments.
struct Apply {
    Function function = Function::Add;
    std::vector<Expression> arguments;
    bool operator==(const Apply&) const = default;
};
/// Rounding to an element type.
struct Convert {
    ElementType type = ElementType::F32;
    std::vector<Expression> argument;  ///< exactly one
    bool operator==(const Convert&) const = default;
};
/// An operand of a monoid's combine: components of the left element first, then those of the right.
struct Operand {
    std::uint32_t slot = 0;
    bool operator==(const Operand&) const = default;
};

struct Expression {
    std::variant<Number, AxisIndex, SizeOf, Read, Apply, Convert, Operand> node;
    Span span;
    bool operator==(const Expression&) const = default;
};

/// A literal that nobody wrote: an integer where it is whole, since a whole number beside reals is
/// one of them, and a real one among integers would make reals of them.
[[nodiscard]] Expression number(double value);
/// A literal as it was written.
[[nodiscard]] Expression number(double value, bool is_integer);
[[nodiscard]] Expression integer(std::int64_t value);
[[nodiscard]] Expression axis_index(AxisId axis);
[[nodiscard]] Expression size_of(AxisId axis);
[[nodiscard]] Expression read(ArrayId array, std::vector<Expression> index);
/// A read whose indices are plain axes, as most are.
[[nodiscard]] Expression read_axes(ArrayId array, const std::vector<AxisId>& axes);
[[nodiscard]] Expression apply(Function function, std::vector<Expression> arguments);

/// The name a reader knows: `exp`, `+`, `<=`, `if`.
[[nodiscard]] const char* name_of(Function function);
[[nodiscard]] bool is_comparison_or_logic(Function function);
[[nodiscard]] bool is_bit_operation(Function function);

/// The value of a literal; null of anything else.
[[nodiscard]] const double* literal(const Expression& expression);
[[nodiscard]] bool is_literal(const Expression& expression, double value);
/// Axes whose index the expression uses (in values or in indices); sizes do not count.
[[nodiscard]] std::set<AxisId> axes_used(const Expression& expression);
[[nodiscard]] std::set<ArrayId> arrays_read(const Expression& expression);
/// The parts of a conjunction.
[[nodiscard]] std::vector<Expression> conjuncts_of(const Expression& condition);
/// Calls `visit` on the expression and everything inside it, outermost first.
template <class Visitor>
void walk(const Expression& expression, const Visitor& visit) {
    visit(expression);
    if (const Read* element = std::get_if<Read>(&expression.node))
        for (const Expression& index : element->index) walk(index, visit);
    if (const Apply* call = std::get_if<Apply>(&expression.node))
        for (const Expression& argument : call->arguments) walk(argument, visit);
    if (const Convert* convert = std::get_if<Convert>(&expression.node))
        for (const Expression& argument : convert->argument) walk(argument, visit);
}
/// Whether `holds` for the expression or something inside it.
template <class Predicate>
[[nodiscard]] bool any_part(const Expression& expression, const Predicate& holds) {
    if (holds(expression)) return true;
    const auto any = [&](const std::vector<Expression>& parts) {
        for (const Expression& part : parts)
            if (any_part(part, holds)) return true;
        return false;
    };
    if (const Read* element = std::get_if<Read>(&expression.node)) return any(element->index);
    if (const Apply* call = std::get_if<Apply>(&expression.node)) return any(call->arguments);
    if (const Convert* convert = std::get_if<Convert>(&expression.node))
        return any(convert->argument);
    return false;
}
/// The expression with `replace` applied to every node from the leaves up; `replace` returns the
/// node to put there.
template <class Replacer>
[[nodiscard]] Expression rewrite(Expression expression, const Replacer& replace) {
    if (Read* element = std::get_if<Read>(&expression.node))
        for (Expression& index : element->index) index = rewrite(std::move(index), replace);
    if (Apply* call = std::get_if<Apply>(&expression.node))
        for (Expression& argument : call->arguments)
            argument = rewrite(std::move(argument), replace);
    if (Convert* convert = std::get_if<Convert>(&expression.node))
        for (Expression& argument : convert->argument)
            argument = rewrite(std::move(argument), replace);
    return replace(std::move(expression));
}

}  // namespace napkin
