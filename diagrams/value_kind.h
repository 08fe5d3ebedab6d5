// Kinds of values: conditions, whole numbers, real numbers. Integers are exact only while nothing
// on their way is a real number, so whatever makes arrays asks here of which type they are.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin {

enum class ValueKind { Bool, Integer, Real };

/// The kind of an array's elements.
[[nodiscard]] ValueKind kind_of(ElementType type);
/// The kind of an expression; `operands` are those of a monoid's operands. Says nothing of errors.
[[nodiscard]] ValueKind kind_of(const Diagram& diagram, const Expression& expression,
                                const std::vector<ValueKind>& operands = {});
/// The kind of a component of what a statement makes, before it is rounded; nullopt of what has
/// none: an opaque box, and an infinity alone, in whose place integers have their least or their
/// greatest.
[[nodiscard]] std::optional<ValueKind> kind_of(const Diagram& diagram, const Statement& statement,
                                               std::size_t component = 0);

/// Gives arrays that a derivation made, and nobody gave a type, those of their values: f32 of what
/// is real; i64 where all that defines one is computed from integers, since a part of a sum may be
/// more than the sum. An array may be kept up from itself.
void settle_types(Diagram& diagram, const std::set<ArrayId>& made,
                  const std::vector<const Statement*>& statements);

/// Whether a component is computed from reals, infinities aside: in the place of one that a
/// condition chooses integers have their least or their greatest.
[[nodiscard]] bool computes_reals(const Diagram& diagram, const Statement& statement,
                                  std::size_t component = 0);
/// The kind of a component as its target keeps it: what is an integer or infinite is an integer
/// where the target is one that nothing is rounded to.
[[nodiscard]] std::optional<ValueKind> kept_kind(const Diagram& diagram, const Statement& statement,
                                                 std::size_t component = 0);
/// A target of integers that the statement would compute from reals, other than by rounding them as
/// the user asks.
[[nodiscard]] std::optional<ArrayId> inexact_target(const Diagram& diagram,
                                                    const Statement& statement);

}  // namespace napkin
