#include "derive/rewriting/signs.h"

#include "derive/rewriting/simplify.h"
#include "derive/rewriting/unify.h"

namespace napkin::rules {

bool is_sum_of_exponentials(const Diagram& diagram, const Expression& expression) {
    if (const double* value = literal(expression)) return *value > 0;
    if (std::holds_alternative<SizeOf>(expression.node)) return true;
    const auto positive = [&](const Expression& part) {
        return is_sum_of_exponentials(diagram, part);
    };
    if (const Read* element = std::get_if<Read>(&expression.node)) {
        const std::optional<StatementId> source = producer(diagram, element->array);
        if (!source) return false;
        if (const Map* map = std::get_if<Map>(&diagram[*source].body)) return positive(map->value);
        const Fold* fold = std::get_if<Fold>(&diagram[*source].body);
        return fold != nullptr && fold->monoid == kSum && fold->seed.empty() &&
               positive(fold->values.front());
    }
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return false;
    const std::vector<Expression>& args = call->arguments;
    switch (call->function) {
    case Function::Exp: return true;
    case Function::Add:
    case Function::Multiply:
    case Function::Divide: return positive(args[0]) && positive(args[1]);
    case Function::Select:
        return positive(args[1]) && (positive(args[2]) || is_literal(args[2], 0));
    default: return false;
    }
}

}  // namespace napkin::rules
