// Expressions as canonical text.
#pragma once

#include "diagrams/syntax.h"
#include "diagrams/syntax/text_writer.h"

namespace napkin::syntax {

/// Writes the expression with the fewest parentheses that give the same tree back (a few more where
/// a reader would stumble: conditionals among operators, exponents).
void write_expression(TextWriter& writer, const Expression& expression);

/// `(a, b)`, or one expression as it is.
void write_tuple(TextWriter& writer, const std::vector<Expression>& parts);

}  // namespace napkin::syntax
