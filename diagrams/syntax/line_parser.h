// The lines of a diagram.
#pragma once

#include "diagrams/syntax/expression_parser.h"

namespace napkin::syntax {

class LineParser {
public:
    LineParser(Cursor& cursor, ExpressionParser& expressions)
        : cursor_(cursor), expressions_(expressions) {}

    /// One line, up to its end; after an error the cursor has failed and the value means nothing.
    [[nodiscard]] LineBody parse();
    /// `a, b, c` up to `end`.
    [[nodiscard]] std::vector<Name> names(TokenKind end, std::string_view what);

private:
    LineBody unnamed_line();
    std::vector<AxisItem> axis_items();
    InputLine input_line();
    ParamLine param_line();
    WeaveLine weave_line();
    LetLine let_line();
    LineBody output_line();
    StatementLine statement(bool output);
    OpaqueLine opaque(bool output);
    Target target(std::string_view what, bool with_type);
    void type_of(Target& target);
    /// Where nothing else follows them, a comma is all that can be missing between two.
    std::vector<Target> targets(std::string_view what, bool at_end);

    Cursor& cursor_;
    ExpressionParser& expressions_;
};

}  // namespace napkin::syntax
