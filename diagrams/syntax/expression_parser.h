// Expressions, by precedence climbing.
#pragma once

#include "diagrams/syntax.h"
#include "diagrams/syntax/cursor.h"

namespace napkin::syntax {

/// How tightly an operator binds; a higher level binds tighter.
enum class Precedence : int {
    Loosest,
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Unary,
    Power,
    Tightest
};
[[nodiscard]] constexpr Precedence tighter(Precedence level) {
    return static_cast<Precedence>(static_cast<int>(level) + 1);
}

/// The level of a binary operator by its spelling; Loosest for anything else.
[[nodiscard]] Precedence precedence_of(std::string_view op);

/// The deepest tree that is built; recursion over trees is safe up to it.
inline constexpr std::size_t kDeepest = 200;
/// The deepest nesting of the text: each level of the deepest tree may stand in parentheses, as the
/// printer may write it.
inline constexpr std::size_t kDeepestText = 2 * kDeepest + 8;

class ExpressionParser {
public:
    explicit ExpressionParser(Cursor& cursor) : cursor_(cursor) {}

    /// One expression; after an error the cursor has failed and the value means nothing.
    [[nodiscard]] Expression parse();
    /// `(e, e, ...)` where the parenthesis holds a comma, else one expression.
    [[nodiscard]] std::vector<Expression> parse_tuple();

private:
    /// A tree with its height.
    struct Tree {
        Expression expression;
        std::size_t height = 1;
    };
    struct List {
        std::vector<Expression> items;
        std::size_t height = 0;
    };

    [[nodiscard]] Tree binary(Precedence least);
    [[nodiscard]] Tree prefix(Precedence least);
    [[nodiscard]] Tree primary();
    [[nodiscard]] Tree join(Tree left, const Token& op, Tree right);
    [[nodiscard]] Tree number();
    [[nodiscard]] Tree named();
    [[nodiscard]] Tree access(Name name);
    [[nodiscard]] Tree call(Name name, std::vector<Name> axes, bool has_axes);
    [[nodiscard]] Tree reduction(Name monoid, std::vector<Name> over, bool every_prefix,
                                 Span begin);
    [[nodiscard]] Tree scan();
    [[nodiscard]] Tree conditional();
    [[nodiscard]] Tree parenthesised();
    [[nodiscard]] Tree missing();
    [[nodiscard]] List list_until(const Token& open);
    [[nodiscard]] bool at_reduction() const;
    [[nodiscard]] Tree finish(Tree tree, Span begin);

    Cursor& cursor_;
    std::size_t depth_ = 0;
};

}  // namespace napkin::syntax
