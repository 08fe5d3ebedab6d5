#include "derive/proof/known_facts.h"

#include <algorithm>

namespace napkin::proof {

const Expression& unguarded(const Expression& expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    return call != nullptr && call->function == Function::Guard ? call->arguments[0] : expression;
}

const Apply* call_of(const Expression& expression, Function function) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    return call != nullptr && call->function == function ? call : nullptr;
}

std::optional<ArrayId> array_read(const Expression& expression) {
    const Read* read = std::get_if<Read>(&expression.node);
    return read == nullptr ? std::nullopt : std::optional(read->array);
}

bool array_in(const Expression& expression, ArrayId array) {
    return arrays_read(expression).count(array) != 0;
}

const Expression& KnownFacts::resolved(const Expression& expression) const {
    const std::optional<ArrayId> array = array_read(expression);
    const auto map = array ? maps_.find(*array) : maps_.end();
    return map == maps_.end() ? expression : map->second;
}

const Expression* KnownFacts::attained(ArrayId target, const Fold& fold) const {
    const Apply* power = call_of(resolved(fold.values[0]), Function::Exp);
    const Apply* exponent =
        power == nullptr ? nullptr : call_of(power->arguments[0], Function::Subtract);
    if (exponent == nullptr) return nullptr;
    const Expression& gauge = unguarded(exponent->arguments[1]);
    const std::optional<ArrayId> array = array_read(gauge);
    const auto maximum = array ? maxima_.find(*array) : maxima_.end();
    if (maximum == maxima_.end() || maximum->second.values[0] != exponent->arguments[0] ||
        maximum->second.over != fold.over)
        return nullptr;
    const Expression* found = &maximum->second.values[0];
    if (fold.seed.empty() || maximum->second.seed.empty())
        return fold.seed.empty() == maximum->second.seed.empty() ? found : nullptr;
    const Apply* product = call_of(fold.seed[0], Function::Multiply);
    if (product == nullptr || array_read(product->arguments[0]) != target) return nullptr;
    const Apply* repair = call_of(resolved(product->arguments[1]), Function::Exp);
    const Apply* change =
        repair == nullptr ? nullptr : call_of(repair->arguments[0], Function::Subtract);
    const bool repaired = change != nullptr && change->arguments[0] == maximum->second.seed[0] &&
                          unguarded(change->arguments[1]) == gauge;
    return repaired ? found : nullptr;
}

void KnownFacts::forget(const std::vector<ArrayId>& targets) {
    for (const ArrayId target : targets) {
        std::erase_if(facts_, [&](const Fact& fact) {
            return fact.above == target || array_in(fact.below, target);
        });
        maps_.erase(target);
        maxima_.erase(target);
        std::erase_if(maps_, [&](const auto& map) { return array_in(map.second, target); });
    }
}

void KnownFacts::note_map(ArrayId target, const Expression& value) {
    if (const Apply* larger = call_of(value, Function::Max))
        for (const Expression& argument : larger->arguments) facts_.push_back({argument, target});
    if (const std::optional<ArrayId> source = array_read(value); source && *source != target) {
        const std::vector<Fact> known = facts_;
        for (const Fact& fact : known)
            if (fact.above == *source) facts_.push_back({fact.below, target});
    }
    maps_[target] = value;
}

bool KnownFacts::at_most(const Expression& a, const Expression& b, int depth) const {
    if (a == b) return true;
    if (depth > 6) return false;
    if (const Apply* larger = call_of(a, Function::Max))
        return at_most(larger->arguments[0], b, depth + 1) &&
               at_most(larger->arguments[1], b, depth + 1);
    if (const Apply* larger = call_of(b, Function::Max))
        return at_most(a, larger->arguments[0], depth + 1) ||
               at_most(a, larger->arguments[1], depth + 1);
    const std::optional<ArrayId> array = array_read(b);
    if (!array) return false;
    for (const Fact& fact : facts_)
        if (fact.above == *array && at_most(a, fact.below, depth + 1)) return true;
    return false;
}

void KnownFacts::note_maximum(ArrayId target, const Fold& fold) {
    facts_.push_back({fold.values[0], target});
    for (const Expression& seed : fold.seed) facts_.push_back({seed, target});
    maxima_[target] = fold;
}

}  // namespace napkin::proof
