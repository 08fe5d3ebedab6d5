// Rewriting what a statement says.
#pragma once

#include <utility>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/overloaded.h"

namespace napkin {

/// Calls `change` on every expression of a statement (values, seeds, reads).
template <class Change>
void for_each_expression(Statement& statement, const Change& change) {
    const auto each = [&](std::vector<Expression>& list) {
        for (Expression& expression : list) change(expression);
    };
    std::visit(overloaded{
                   [&](Map& map) { change(map.value); },
                   [&](Fold& fold) {
                       each(fold.values);
                       each(fold.seed);
                   },
                   [&](Select& select) { change(select.value); },
                   [&](Opaque& opaque) { each(opaque.reads); },
               },
               statement.body);
}

/// Calls `change` on every expression that a call was written with, and on what stands for it.
template <class Change>
void for_each_expression(Spellings& spellings, const Change& change) {
    for (NamedCall& call : spellings.calls) {
        for (Expression& argument : call.arguments) change(argument);
        change(call.value);
    }
}

/// The statement with `replace` applied to every node of its expressions, leaves first.
template <class Replacer>
[[nodiscard]] Statement rewrite_statement(Statement statement, const Replacer& replace) {
    for_each_expression(statement, [&](Expression& expression) {
        expression = rewrite(std::move(expression), replace);
    });
    return statement;
}

}  // namespace napkin
