#include "perfmodel/amount.h"

#include "diagrams/checked.h"

namespace napkin {

namespace {

std::optional<Polynomial> sum_of(const std::optional<Polynomial>& a,
                                 const std::optional<Polynomial>& b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
}

}  // namespace

bool add(const Amount& amount, Amount& total) {
    for (const auto& [type, values] : amount.by_type)
        if (!put(CheckedInt(total.by_type[type]) + values, total.by_type[type])) return false;
    total.formula = total.formula + amount.formula;
    total.bit_formula = total.bit_formula + amount.bit_formula;
    total.ideal = sum_of(total.ideal, amount.ideal);
    total.ideal_bits = sum_of(total.ideal_bits, amount.ideal_bits);
    return put(CheckedInt(total.values) + amount.values, total.values) &&
           put(CheckedInt(total.bits) + amount.bits, total.bits);
}

Amount nothing() {
    Amount amount;
    amount.ideal = Polynomial{};
    amount.ideal_bits = Polynomial{};
    return amount;
}

void substitute_size(Amount& amount, Symbol symbol, std::int64_t size) {
    for (std::optional<Polynomial>* ideal : {&amount.ideal, &amount.ideal_bits})
        if (*ideal) *ideal = substitute(**ideal, symbol, size);
}

bool add_values(std::int64_t values, const Formula& formula, ElementType type, Amount& total) {
    total.formula = total.formula + formula;
    total.bit_formula = total.bit_formula + Formula(bits_in(type)) * formula;
    return put(CheckedInt(total.values) + values, total.values) &&
           put(CheckedInt(total.by_type[type]) + values, total.by_type[type]) &&
           put(CheckedInt(total.bits) + CheckedInt(values) * bits_of(type), total.bits);
}

}  // namespace napkin
