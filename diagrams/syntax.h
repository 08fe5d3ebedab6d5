// The source language as a tree: what the parser reads and `fmt` prints. Names are not resolved
// yet. The same trees can be built from C++; parse(print(tree)) == tree.
//
// Comments are part of the tree, so that formatting loses nothing: full-line comments and blank
// lines stand before the item that follows them, a comment at the end of a line belongs to its
// item.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "diagrams/element_type.h"
#include "diagrams/result.h"
#include "diagrams/source.h"

namespace napkin::syntax {

struct Expression;

/// A name with its place.
struct Name {
    std::string text;
    Span span;
    bool operator==(const Name&) const = default;
};

struct Literal {
    double value = 0;
    bool is_integer = false;
    bool operator==(const Literal&) const = default;
};
/// A bare name: an axis index, a `let`, a parameter, a scalar array, `inf`.
struct Reference {
    Name name;
    bool operator==(const Reference&) const = default;
};
/// `K[x, d]`, also `lo[i]` of a let.
struct Access {
    Name array;
    std::vector<Expression> index;
    bool operator==(const Access&) const = default;
};
/// `exp(u)`, `max(u, v)`, `size(x)`, `bf16(u)`, and library or user calls `softmax[x](S[q,
/// x], 1.0)`.
struct Call {
    Name function;
    std::vector<Name> axes;  ///< in brackets; empty when there are none
    bool has_axes = false;
    std::vector<Expression> arguments;
    bool operator==(const Call&) const = default;
};
/// `sum(d) Q[q, d] * K[x, d]`, `argmax(e) G[e]`, `scan[t] ...` (every_prefix), `topk[e](...)` is a
/// Call. A reduction of a tuple monoid has several operands in parentheses.
struct Reduction {
    Name monoid;
    std::vector<Name> over;
    bool every_prefix = false;
    bool exclusive = false;  ///< of a prefix: without the element itself
    std::vector<Expression> operands;
    bool operator==(const Reduction&) const = default;
};
struct Unary {
    std::string op;  ///< `-`, `not`
    std::vector<Expression> operand;
    bool operator==(const Unary&) const = default;
};
struct Binary {
    std::string op;  ///< `+ - * / // % ^ < <= > >= == != and or`
    std::vector<Expression> operands;
    bool operator==(const Binary&) const = default;
};
/// `if c then a else b`.
struct Conditional {
    std::vector<Expression> parts;  ///< condition, then, otherwise
    bool operator==(const Conditional&) const = default;
};

struct Expression {
    std::variant<Literal, Reference, Access, Call, Reduction, Unary, Binary, Conditional> node;
    Span span;
    bool parenthesised =
        false;  ///< parentheses the user wrote that precedence does not need are dropped by `fmt`
    bool operator==(const Expression& other) const { return node == other.node; }
};

/// `q = 4096`, `o = d`, `n = p + r - 1`, `t = 100 dynamic`.
struct AxisItem {
    Name name;
    Expression size;
    bool dynamic = false;
    bool operator==(const AxisItem&) const = default;
};
/// `axis q = 4096, x = 4096`.
struct AxisLine {
    std::vector<AxisItem> axes;
    bool operator==(const AxisLine&) const = default;
};
/// `Q[q, d]`: an array as an input declares it or a statement defines it; a scalar has no brackets.
struct Target {
    Name name;
    std::vector<Name> axes;
    std::optional<ElementType> type;
    Span type_span;
    bool operator==(const Target&) const = default;
};
/// `input Q[q, d], K[x, d] : bf16`: a type holds for the names before it on the line that have
/// none.
struct InputLine {
    std::vector<Target> arrays;
    bool operator==(const InputLine&) const = default;
};
/// `param eps : f32 = 1e-6`.
struct ParamLine {
    Target param;
    Expression value;
    bool operator==(const ParamLine&) const = default;
};
/// `weave b = 4, h = 16`, `weave g = 4 over Q`.
struct WeaveLine {
    std::vector<AxisItem> axes;
    std::vector<Name> over;  ///< empty: every input
    bool operator==(const WeaveLine&) const = default;
};
/// `layout Q[b, q, h, d]`.
struct LayoutLine {
    Target array;
    bool operator==(const LayoutLine&) const = default;
};
/// `let lo[i] = max(i - size(w) // 2, 0)`.
struct LetLine {
    Target target;
    Expression value;
    bool operator==(const LetLine&) const = default;
};
/// `S[q, x] = ...`, `output O[q, d] : bf16 = ...`, `val[n, k], idx[n, k] = topk[e](G[n, e])`.
struct StatementLine {
    bool output = false;
    std::vector<Target> targets;
    Expression value;
    bool operator==(const StatementLine&) const = default;
};
/// `opaque F(A[a, x], W[w]) -> Y[a, y]`, also `output opaque ...`.
struct OpaqueLine {
    bool output = false;
    Name function;
    std::vector<Target> inputs;
    std::vector<Target> outputs;
    bool operator==(const OpaqueLine&) const = default;
};

using LineBody = std::variant<AxisLine, InputLine, ParamLine, WeaveLine, LayoutLine, LetLine,
                              StatementLine, OpaqueLine>;
struct Line {
    std::vector<std::string> comments_before;  ///< with `#`; an empty string is a blank line
    LineBody body;
    std::string comment_after;
    Span span;
    bool operator==(const Line&) const = default;
};

/// `def softmax[x](s) = expression glyph triangle`: a named operation, outside any diagram.
struct Definition {
    std::vector<std::string> comments_before;
    Name name;
    std::vector<Name> axes;
    std::vector<Name> parameters;
    Expression value;
    Name glyph;  ///< of no text where none is given
    std::string comment_after;
    Span span;
    bool operator==(const Definition&) const = default;
};
/// `monoid affine(a, b; c, d) = (a * c, b * c + d) identity (1, 0)`: a user's own, outside any
/// diagram.
struct MonoidDefinition {
    std::vector<std::string> comments_before;
    Name name;
    std::vector<Name> left;
    std::vector<Name> right;
    std::vector<Expression> combine;
    std::vector<Expression> identity;
    bool commutative = true;
    std::string comment_after;
    Span span;
    bool operator==(const MonoidDefinition&) const = default;
};

/// One file: definitions, then one diagram (a library file has none).
struct File {
    std::vector<std::variant<Definition, MonoidDefinition>> definitions;
    std::vector<std::string> comments_before;  ///< before `diagram`
    std::optional<Name> diagram;
    std::vector<Line> lines;
    std::vector<std::string> comments_after;  ///< inside the diagram after its last line
    std::vector<std::string> comments_at_end;
    bool operator==(const File&) const = default;
};

/// Reads a file of the source map; reports every syntax error it finds.
[[nodiscard]] Result<File> parse(const SourceMap& sources, std::uint32_t file);
/// The canonical text.
[[nodiscard]] std::string print(const File& file);
[[nodiscard]] std::string print(const Expression& expression);

}  // namespace napkin::syntax
