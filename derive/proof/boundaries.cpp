#include "derive/proof/boundaries.h"

#include <cmath>
#include <optional>

#include "diagrams/evaluate/number_test.h"

namespace napkin::proof {
namespace {

std::optional<double> signed_literal(const Expression& expression) {
    if (const double* value = literal(expression)) return *value;
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr || call->function != Function::Negate) return std::nullopt;
    const std::optional<double> value = signed_literal(call->arguments[0]);
    return value ? std::optional(-*value) : std::nullopt;
}

class Collector {
public:
    explicit Collector(const Diagram& diagram) : diagram_(diagram) {}

    Boundaries run() {
        for (const Statement& statement : diagram_.statements) {
            for (const Expression* expression : expressions_of(statement)) look(*expression, {});
            if (const Fold* fold = std::get_if<Fold>(&statement.body))
                for (const Expression& part : diagram_[fold->monoid].combine)
                    look(part, fold->values);
        }
        return std::move(found_);
    }

private:
    using Operands = std::vector<Expression>;  ///< what a monoid's are, by component

    void look(const Expression& expression, const Operands& operands) {
        walk(expression, [&](const Expression& part) {
            const Apply* call = std::get_if<Apply>(&part.node);
            if (call == nullptr || !is_comparison(call->function)) return;
            for (const std::size_t side : {0, 1})
                if (const std::optional<double> value = signed_literal(call->arguments[1 - side]))
                    note(call->arguments[side], *value, operands);
        });
    }

    /// Where the expression may be `value`.
    void note(const Expression& expression, double value, const Operands& operands) {
        if (!std::isfinite(value)) return;
        if (const Read* read = std::get_if<Read>(&expression.node)) return note(read->array, value);
        if (const Convert* convert = std::get_if<Convert>(&expression.node))
            return note(convert->argument[0], value, operands);
        if (const Operand* operand = std::get_if<Operand>(&expression.node))
            return note(operands[operand->slot % operands.size()], value, {});
        const Apply* call = std::get_if<Apply>(&expression.node);
        if (call == nullptr) return;
        const bool negates = call->function == Function::Negate;
        const bool keeps = call->function == Function::Multiply && value == 0;
        if (!negates && !keeps && call->function != Function::Abs) return;
        for (const Expression& argument : call->arguments)
            note(argument, negates ? -value : value, operands);
    }
    void note(ArrayId array, double value) {
        const Array& known = diagram_[array];
        if (known.role == ArrayRole::Input && is_floating(known.type)) found_[array].insert(value);
        for (const Statement& statement : diagram_.statements) {
            const Map* map = std::get_if<Map>(&statement.body);
            if (map != nullptr && statement.targets[0] == array) note(map->value, value, {});
        }
    }

    const Diagram& diagram_;
    Boundaries found_;
};

}  // namespace

Boundaries boundaries_of(const Diagram& diagram) {
    return Collector(diagram).run();
}

}  // namespace napkin::proof
