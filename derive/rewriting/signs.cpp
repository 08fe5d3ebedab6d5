#include "derive/rewriting/signs.h"

#include <cmath>

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

std::optional<NotApplicable> Infinities::refusal(const Expression& factor) {
    if (!may_be_infinite(factor)) return std::nullopt;
    return NotApplicable{"`" + print(diagram_, factor) +
                             "` may be infinite, and a product of it with a sum is then not the "
                             "sum of its products",
                         "write the finite value that it should have where it is infinite"};
}

Infinities::Reach Infinities::of(const Expression& expression) {
    if (const double* value = literal(expression)) return {std::isinf(*value), *value == 0};
    if (const Read* element = std::get_if<Read>(&expression.node)) return of_array(element->array);
    if (const Convert* convert = std::get_if<Convert>(&expression.node))
        return of(convert->argument.front());
    const Apply* call = std::get_if<Apply>(&expression.node);
    return call != nullptr ? of(*call) : Reach{};
}

Infinities::Reach Infinities::of_array(ArrayId array) {
    const auto found = known_.find(array);
    if (found != known_.end()) return found->second;
    Reach reach;
    if (const std::optional<StatementId> source = producer(diagram_, array)) {
        const Statement& statement = diagram_[*source];
        const Select* select = std::get_if<Select>(&statement.body);
        const bool index = select != nullptr && statement.targets.front() != array;
        for (const Expression* value : expressions_of(statement)) {
            if (index) break;
            const Reach one = of(*value);
            reach.infinite |= one.infinite;
            reach.vanishes |= one.vanishes;
        }
    }
    return known_[array] = reach;
}

Infinities::Reach Infinities::of(const Apply& call) {
    if (is_comparison_or_logic(call.function)) return {};
    std::vector<Reach> parts;
    for (const Expression& argument : call.arguments) parts.push_back(of(argument));
    const Reach first = parts.front();
    const Reach last = parts.back();
    const double* power =
        call.function == Function::Power ? literal(call.arguments.back()) : nullptr;
    const bool inverts = call.function == Function::Rsqrt || (power != nullptr && *power < 0);
    if (inverts) return {first.vanishes, first.infinite};
    switch (call.function) {
    case Function::Exp: return {false, first.infinite};
    case Function::Log: return {first.infinite || first.vanishes, false};
    case Function::Tanh:
    case Function::Erf:
    case Function::Sin:
    case Function::Cos:
    case Function::Guard: return {false, first.vanishes};
    case Function::Add:
    case Function::Subtract:
        return {first.infinite || last.infinite, first.vanishes && last.vanishes};
    case Function::Divide:  // 0 / 0 is 0
        return {first.infinite || (last.vanishes && !first.vanishes),
                first.vanishes || last.infinite};
    case Function::Power: return first;
    case Function::Select: parts.erase(parts.begin()); break;
    default: break;
    }
    Reach any;
    for (const Reach& part : parts) {
        any.infinite |= part.infinite;
        any.vanishes |= part.vanishes;
    }
    return any;
}

}  // namespace napkin::rules
