// The model against the interpreter's counters.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "derive/interpret.h"
#include "tests/perfmodel/derive_support.h"

namespace napkin::test {

/// Search's shortcut gives the same numbers as the whole model.
inline void check_quick(const RegionProgram& program, const RegionCost& region) {
    const Result<RegionCost> quick = quick_cost_of(program);
    REQUIRE(quick.has_value());
    CHECK_EQ(quick->levels.at(Level::Block).transferred.values,
             region.levels.at(Level::Block).transferred.values);
    CHECK_EQ(quick->levels.at(Level::Block).allocated.bits,
             region.levels.at(Level::Block).allocated.bits);
    CHECK_EQ(quick->arithmetic.operations, region.arithmetic.operations);
    CHECK_EQ(quick->arithmetic.exponentials, region.arithmetic.exponentials);
    CHECK_EQ(quick->blocks, region.blocks);
}

/// Compares the formulas of counts at the sizes of another cost with what is counted there.
inline void check_formulas(const RegionCost& formulas, const RegionCost& numbers) {
    const auto check = [&](const Formula& formula, std::int64_t value) {
        INFO(print(formula, formulas.names));
        CHECK_EQ(evaluate_integer(formula, numbers.sizes), value);
    };
    check(formulas.formulas.operations, numbers.arithmetic.operations);
    check(formulas.formulas.exponentials, numbers.arithmetic.exponentials);
    for (const auto& [type, count] : numbers.arithmetic.products)
        check(formulas.formulas.products.at(type), count);
    check(formulas.formulas.blocks, numbers.blocks);
    check(formulas.formulas.compulsory_bits, numbers.compulsory_bits);
    for (const auto& [level, cost] : numbers.levels) {
        const LevelCost& other = formulas.levels.at(level);
        check(other.transferred.formula, cost.transferred.values);
        check(other.transferred.bit_formula, cost.transferred.bits);
        check(other.memory.formula, cost.memory.values);
        check(other.memory.bit_formula, cost.memory.bits);
        check(other.allocated.formula, cost.allocated.values);
        check(other.allocated.bit_formula, cost.allocated.bits);
    }
}

/// Compares every number of the model with the interpreter's, and formulas with their values.
inline void check_counted(const std::string& name, const State& state) {
    const TileProgram program = test::expanded(state);
    const Cost model = test::cost(state);
    const std::vector<Counters> counted = count(program);
    REQUIRE_EQ(model.regions.size(), counted.size());
    for (std::size_t i = 0; i < counted.size(); ++i) {
        const RegionCost& region = model.regions[i];
        INFO(name, ", region ", region.name);
        for (const auto& [level, transferred] : counted[i].transferred)
            if (transferred != 0) CHECK_EQ(region.levels.count(level), 1);
        for (const auto& [level, cost] : region.levels) {
            INFO("level ", std::string(name_of(level)));
            const auto at = [&](const std::map<Level, std::int64_t>& of) {
                const auto found = of.find(level);
                return found == of.end() ? 0 : found->second;
            };
            CHECK_EQ(cost.transferred.values, at(counted[i].transferred));
            CHECK_EQ(cost.transferred.bits, at(counted[i].transferred_bits));
            CHECK_EQ(cost.allocated.values, at(counted[i].peak));
            CHECK_EQ(cost.allocated.bits, at(counted[i].peak_bits));
            CHECK_LE(cost.memory.values, cost.allocated.values);
            for (const Amount* amount : {&cost.transferred, &cost.memory, &cost.allocated}) {
                INFO(print(amount->formula, region.names));
                CHECK_EQ(evaluate_integer(amount->formula, region.sizes), amount->values);
                CHECK_EQ(evaluate_integer(amount->bit_formula, region.sizes), amount->bits);
            }
        }
        CHECK_EQ(region.arithmetic.operations, counted[i].flops);
        CHECK_EQ(region.arithmetic.exponentials, counted[i].exponentials);
        CHECK_EQ(region.blocks, counted[i].blocks);
        check_formulas(region, region);
        check_quick(program.regions[i], region);
    }
}

}  // namespace napkin::test
