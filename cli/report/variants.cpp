#include "cli/report/variants.h"

#include <algorithm>

#include "cli/workbench.h"
#include "perfmodel/affine.h"

namespace napkin::cli {
namespace {

/// The largest whole number up to which a page counts exactly.
constexpr std::int64_t kExact = std::int64_t{1} << 53;

bool gives(const Formula& formula, const SymbolValues& sizes, std::int64_t value) {
    return value < kExact && evaluate(formula, sizes) == Rational{value, 1};
}

bool gives(const Amount& formulas, const Amount& numbers, const SymbolValues& sizes) {
    return gives(formulas.formula, sizes, numbers.values) &&
           gives(formulas.bit_formula, sizes, numbers.bits);
}

/// A type that is inferred may be another at another size, and so is then what formulas count with.
bool has_symbols_of(const RegionCost& numbers, const RegionCost& formulas) {
    return std::all_of(formulas.sizes.begin(), formulas.sizes.end(),
                       [&](const auto& size) { return numbers.sizes.contains(size.first); });
}

/// Whether the formulas of a region give the numbers of another, at the other's sizes.
bool gives(const RegionCost& formulas, const RegionCost& numbers) {
    if (!has_symbols_of(numbers, formulas)) return false;
    const SymbolValues& sizes = numbers.sizes;
    const CountFormulas& counts = formulas.formulas;
    bool all = gives(counts.operations, sizes, numbers.arithmetic.operations) &&
               gives(counts.exponentials, sizes, numbers.arithmetic.exponentials) &&
               gives(counts.blocks, sizes, numbers.blocks) &&
               gives(counts.compulsory_bits, sizes, numbers.compulsory_bits) &&
               formulas.levels.size() == numbers.levels.size() &&
               counts.products.size() == numbers.arithmetic.products.size();
    for (const auto& [type, count] : numbers.arithmetic.products) {
        const auto formula = counts.products.find(type);
        all = all && formula != counts.products.end() && gives(formula->second, sizes, count);
    }
    for (const auto& [level, cost] : numbers.levels) {
        const auto own = formulas.levels.find(level);
        all = all && own != formulas.levels.end() &&
              gives(own->second.transferred, cost.transferred, sizes) &&
              gives(own->second.memory, cost.memory, sizes) &&
              gives(own->second.allocated, cost.allocated, sizes);
    }
    return all;
}

/// Whether axes that no slider moves, which a step made of another, have the size that they had.
bool keeps_sizes(const Diagram& own, const Variant& variant) {
    const Diagram& other = variant.state.diagram;
    if (own.axes.size() != other.axes.size()) return false;
    for (std::uint32_t i = 0; i < own.axes.size(); ++i)
        if (has_own_size(own, AxisId{i}) && own.axes[i].extent != other.axes[i].extent &&
            !find_axis(variant.plain, own.axes[i].name))
            return false;
    return true;
}

}  // namespace

Position together(Position first, const Position& second) {
    first.axes.insert(second.axes.begin(), second.axes.end());
    first.commands.insert(second.commands.begin(), second.commands.end());
    return first;
}

Result<Variant> Variants::at(const Position& position) {
    Diagram plain = loaded_.plain;
    if (!position.axes.empty()) {
        Settings settings = loaded_.settings;
        for (const auto& [name, value] : position.axes) settings[name] = value;
        Result<Checked> checked = check_text(context_, loaded_.text, settings);
        if (!checked) return checked.error();
        plain = std::move(checked->diagram);
    }
    std::vector<Command> commands = commands_of(last_.state);
    for (const auto& [k, size] : position.commands) commands[k].size = size;
    Result<State> state = replay(plain, commands);
    if (!state) return state.error();
    Result<Cost> cost = cost_(*state);
    if (!cost) return cost.error();
    return Variant{std::move(plain), std::move(*state), std::move(*cost)};
}

bool Variants::agrees(const Variant& variant) const {
    const std::vector<RegionCost>& regions = last_.cost.regions;
    return keeps_sizes(last_.state.diagram, variant) &&
           std::equal(regions.begin(), regions.end(), variant.cost.regions.begin(),
                      variant.cost.regions.end(), [](const RegionCost& a, const RegionCost& b) {
                          return a.name == b.name && gives(a, b);
                      });
}

std::vector<bool> Variants::touched(const Variant& variant) const {
    const Relabelling& own = last_.state.relabelling;
    const Relabelling& other = variant.state.relabelling;
    const bool all = variant.state.diagram != last_.state.diagram || other.places != own.places ||
                     other.wire_types != own.wire_types ||
                     other.regions.size() != own.regions.size();
    std::vector<bool> touched(own.regions.size(), all);
    for (std::size_t r = 0; r < touched.size() && !all; ++r)
        touched[r] = !(own.regions[r] == other.regions[r]);
    return touched;
}

}  // namespace napkin::cli
