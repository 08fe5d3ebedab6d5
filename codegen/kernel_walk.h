// Going through kernel trees.
#pragma once

#include <functional>

#include "codegen/kernel_tree.h"

namespace napkin::kernel {

/// Calls visit for every expression that stands in a statement itself, not in bodies within it.
void for_expressions(Statement& statement, const std::function<void(Expression&)>& visit);
void for_expressions(const Statement& statement,
                     const std::function<void(const Expression&)>& visit);
/// Calls visit for every body that stands in a statement, and for those of functions in it.
void for_bodies(Statement& statement, const std::function<void(Body&)>& visit);
void for_bodies(const Statement& statement, const std::function<void(const Body&)>& visit);
void for_functions(Statement& statement, const std::function<void(Body&)>& visit);
void for_functions(const Statement& statement, const std::function<void(const Body&)>& visit);
/// Calls visit for an expression and all its parts, template arguments and bodies of functions
/// included.
void walk(const Expression& expression, const std::function<void(const Expression&)>& visit);
void walk(const Statement& statement, const std::function<void(const Expression&)>& visit);
/// Replaces every expression of a body by change(expression), parts first.
void rewrite(Body& body, const std::function<Expression(Expression)>& change);

}  // namespace napkin::kernel
