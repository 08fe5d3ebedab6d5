// Whether kinds of values fit together, and the types that follow from them.
#pragma once

#include "diagrams/check/context.h"
#include "diagrams/value_kind.h"

namespace napkin::checking {

/// Reports what does not fit together inside an expression; whether all did.
bool check_types(Context& context, const Expression& expression);
/// Gives the targets of a statement their types, inferred or as declared; reports what does not
/// fit.
void assign_types(Context& context, const Statement& statement);

}  // namespace napkin::checking
