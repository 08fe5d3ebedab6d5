// Formulas for people: arrays by name, without their own axes; folds as `sum(x) e * V`.
#pragma once

#include <string>

#include "diagrams/diagram.h"

namespace napkin::separation {

/// `exp(m - m_new)`: an expression with arrays named bare where they are read at their own axes.
[[nodiscard]] std::string formula_text(const Diagram& scope, const Expression& expression);
/// The value a statement gives its target `component`: `max(m, max(x) S)`.
[[nodiscard]] std::string value_text(const Diagram& scope, const Statement& statement,
                                     std::size_t component);

}  // namespace napkin::separation
