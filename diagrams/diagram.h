// The checked diagram: axes, arrays, and statements that define arrays element by element. Plain
// values; passes return new ones.
//
// Statements are primitive: a map, a fold, a selection or an opaque box. A library call such as
// softmax[x](S[q, x]) is several of them; the Box that holds them keeps the call's name and glyph
// for the drawing. Nothing after the checker looks at names.
//
// Invariants (`verify` checks them; the checker establishes them):
//  * statements are in an order in which every array is defined before it is read; every array that
//  is no input has
//    exactly one defining statement;
//  * the target of a Map has exactly the axes that its value varies over, as Array::axes lists
//  them; a Fold's target lacks
//    the folded axes, but a Fold with `every_prefix` keeps its one axis;
//  * an axis is a bound index: two statements may use one AxisId in unrelated ways, so data flow
//  decides what is one role
//    (derive/roles.h);
//  * weaves are already applied: every array has all of its axes, woven ones outermost unless
//  `layout` says otherwise.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "diagrams/element_type.h"
#include "diagrams/expression.h"
#include "diagrams/formula.h"
#include "diagrams/id.h"
#include "diagrams/result.h"

namespace napkin {

/// Sizes by the name of an axis, as users give them.
using Sizes = std::map<std::string, std::int64_t>;

/// No axis whose size a kernel learns at run time is longer, unless its default is.
inline constexpr std::int64_t kMostAtRunTime = std::int64_t{1} << 29;

/// A named dimension, drawn as a wire.
struct Axis {
    std::string name;
    Formula size;  ///< over the sizes of other axes; a base axis is the symbol of its own
    std::int64_t extent = 0;  ///< the size in numbers, after `--set`
    bool dynamic =
        false;           ///< a run-time size: a kernel argument, never a constant in generated code
    bool woven = false;  ///< came from a `weave` line: grouped by 1 from the start
    Span span;
    bool operator==(const Axis&) const = default;
};

enum class ArrayRole { Input, Parameter, Intermediate, Output };

/// A stack of axes with an element type.
struct Array {
    std::string name;   ///< unique; unnamed intermediates get one that no user can write (`O.1`)
    bool named = true;  ///< false for what the checker hoisted out of an expression
    ArrayRole role = ArrayRole::Intermediate;
    std::vector<AxisId> axes;  ///< the order in which the language indexes it, woven axes first
    std::vector<std::uint32_t> layout;  ///< memory order, slowest first, as positions in `axes`
    ElementType type = ElementType::F32;
    bool rounds = false;    ///< a type the user wrote: the reference rounds to it
    bool is_gauge = false;  ///< a mean that a rule made for others to be relative to
    /// Elements are means of that array's, by weights of at least 1: a rule made them so.
    std::optional<ArrayId> mean_of;
    std::optional<double> value;  ///< the default of a Parameter
    /// Index values (an integer input that indexes another array) must lie below this axis' size,
    /// by contract.
    std::optional<AxisId> indexes;
    Span span;
    bool operator==(const Array&) const = default;
};

/// A set with an associative, commutative combine and an identity; elements may be tuples.
struct Monoid {
    std::string name;
    std::vector<Expression> identity;  ///< one constant a component
    std::vector<Expression> combine;   ///< one expression a component, over Operand leaves
    bool commutative = true;
    Span span;
    bool operator==(const Monoid&) const = default;
};
// The first four of Diagram::monoids, always.
inline constexpr MonoidId kSum{0};
inline constexpr MonoidId kProduct{1};
inline constexpr MonoidId kMax{2};
inline constexpr MonoidId kMin{3};

/// target[axes] = value.
struct Map {
    Expression value;
    bool operator==(const Map&) const = default;
};
/// target = seed combined with the value at every index of `over`. One value and one target a
/// component of the monoid.
struct Fold {
    MonoidId monoid;
    std::vector<AxisId> over;
    std::vector<Expression> values;
    std::vector<Expression>
        seed;  ///< empty for the monoid's identity; may read the target itself (an accumulator)
    bool every_prefix =
        false;  ///< a scan: element t of the target is the fold over 0..t; `over` is one axis
    bool operator==(const Fold&) const = default;
};
/// The largest elements along an axis, ties to the lowest index: targets are [values, indices],
/// with the axis `rank` in place of `over`; without `rank` the single largest (argmax).
struct Select {
    AxisId over;
    std::optional<AxisId> rank;
    Expression value;
    bool operator==(const Select&) const = default;
};
/// A box known only by its arrays: drawn and costed, never evaluated or emitted.
struct Opaque {
    std::string name;
    std::vector<Expression> reads;  ///< Read nodes over the box's own axes
    bool operator==(const Opaque&) const = default;
};

struct Statement {
    std::vector<ArrayId> targets;
    std::variant<Map, Fold, Select, Opaque> body;
    BoxId box;
    Span span;
    bool operator==(const Statement&) const = default;
};

struct NamedNumber {
    std::string name;
    double value = 0;
    bool operator==(const NamedNumber&) const = default;
};

/// What the user wrote as one statement: the unit of drawing, and the regions a derivation starts
/// from.
struct Box {
    std::string name;   ///< `softmax`, or empty for plain index notation
    std::string glyph;  ///< `triangle`, `cup`, `box`, ... as the library's `glyph` says; empty:
                        ///< chosen by the drawing
    std::vector<AxisId> glyph_axes;      ///< the axes in the call's brackets, `x` of softmax[x]
    std::vector<NamedNumber> numbers{};  ///< among the call's arguments, as its definition calls
                                         ///< them; of parameters, what they are where none is set
    bool of_arrays = true;  ///< whether the call takes arrays as they stand and numbers, no more
    std::vector<StatementId> statements;  ///< in order; the last defines what the user named
    Span span;
    bool operator==(const Box&) const = default;
};

/// A call of an operation within an expression, and what stands for it there.
struct NamedCall {
    std::string name;
    std::vector<Expression> arguments;
    Expression value;
    bool library = true;  ///< others are definitions of the file
};
/// How expressions were written, for those who show them: no part of what a diagram is.
struct Spellings {
    std::vector<NamedCall> calls;
    bool operator==(const Spellings&) const { return true; }
};

struct Diagram {
    std::string name;
    std::vector<Axis> axes;
    std::vector<Array> arrays;
    std::vector<Monoid> monoids;
    std::vector<Statement> statements;
    std::vector<Box> boxes;  ///< in the order of the source
    Spellings spellings{};

    [[nodiscard]] const Axis& operator[](AxisId id) const { return axes[id.index()]; }
    [[nodiscard]] const Array& operator[](ArrayId id) const { return arrays[id.index()]; }
    [[nodiscard]] const Monoid& operator[](MonoidId id) const { return monoids[id.index()]; }
    [[nodiscard]] const Statement& operator[](StatementId id) const {
        return statements[id.index()];
    }
    [[nodiscard]] const Box& operator[](BoxId id) const { return boxes[id.index()]; }
    bool operator==(const Diagram&) const = default;
};

[[nodiscard]] std::optional<AxisId> find_axis(const Diagram& diagram, std::string_view name);
[[nodiscard]] std::optional<ArrayId> find_array(const Diagram& diagram, std::string_view name);
/// The statement that defines an array; nullopt for inputs and parameters.
[[nodiscard]] std::optional<StatementId> producer(const Diagram& diagram, ArrayId array);
[[nodiscard]] bool reads(const Statement& statement, ArrayId array);
/// Statements that read an array, in order.
[[nodiscard]] std::vector<StatementId> consumers(const Diagram& diagram, ArrayId array);
/// Every expression of a statement (values, seeds, reads).
[[nodiscard]] std::vector<const Expression*> expressions_of(const Statement& statement);
/// Arrays a statement reads, without duplicates, in the order first met.
[[nodiscard]] std::vector<ArrayId> inputs_of(const Statement& statement);
/// Axes a statement loops over: those of its targets, then the ones it folds.
[[nodiscard]] std::vector<AxisId> axes_of(const Diagram& diagram, const Statement& statement);
[[nodiscard]] std::vector<AxisId> folded_axes(const Statement& statement);
[[nodiscard]] std::vector<ArrayId> outputs_of(const Diagram& diagram);
/// Extents by axis name.
[[nodiscard]] Sizes sizes_of(const Diagram& diagram);
/// Extents as values for formulas.
[[nodiscard]] SymbolValues extents_of(const std::vector<Axis>& axes);
/// Whether an axis has a size of its own rather than one that follows from others.
[[nodiscard]] bool has_own_size(const Diagram& diagram, AxisId axis);
/// The fewest elements that an axis has at run time: as many as are selected of it.
[[nodiscard]] std::int64_t least_size(const Diagram& diagram, AxisId axis);

/// The four built-in monoids, in the order of kSum, kProduct, kMax, kMin.
[[nodiscard]] std::vector<Monoid> builtin_monoids();
/// Throws InternalError when an invariant above does not hold.
void verify(const Diagram& diagram);
/// One line a statement, resolved names, for goldens and debugging (`fmt` prints the source
/// language).
[[nodiscard]] std::string print(const Diagram& diagram);
/// An expression in the language's own notation.
[[nodiscard]] std::string print(const Diagram& diagram, const Expression& expression);

}  // namespace napkin
