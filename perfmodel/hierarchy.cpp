#include "perfmodel/hierarchy.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace napkin {

namespace {

/// H of the region's kind with so much memory.
Bytes least_with(const RegionCost& cost, Bytes memory) {
    const auto best = best_of(cost, memory);
    return Bytes{std::get<BestTransfers>(best).bits / 8};
}

std::vector<LevelTransfers> levels_of(const RegionCost& cost, const Machine& machine) {
    std::vector<LevelTransfers> all;
    Level from = Level::Device;
    for (const Level into : {Level::Cache, Level::Block, Level::Warps}) {
        const std::optional<BytesPerSecond> rate = machine.bandwidth(from);
        const std::int64_t blocks = into == Level::Cache ? machine.processors() : 1;
        const std::optional<Bytes> each =
            machine.capacity(into == Level::Cache ? Level::Block : into);
        if (!machine.has(into) || !rate || !each) continue;
        const Bytes held = static_cast<double>(blocks) * *each;
        if (!std::holds_alternative<BestTransfers>(best_of(cost, held))) continue;
        all.push_back({from, into, held, blocks, least_with(cost, held), *rate});
        from = into;
    }
    return all;
}

std::vector<ClusterTransfers> clusters_of(const RegionCost& cost, const Machine& machine) {
    struct Known {
        std::int64_t blocks;
        const char* rate;
    };
    constexpr std::array kKnown = {Known{2, "cluster.bandwidth"}, Known{4, "cluster.of_four"}};
    std::vector<ClusterTransfers> all;
    const std::optional<Bytes> held = machine.capacity(Level::Block);
    if (!held) return all;
    for (const auto& [blocks, key] : kKnown) {
        const std::optional<double> rate = machine.rate(key);
        if (!rate || machine.figure("cluster.blocks").value_or(0) < static_cast<double>(blocks))
            continue;
        ClusterTransfers made;
        made.blocks = blocks;
        made.outside = least_with(cost, static_cast<double>(blocks) * *held);
        made.between = least_with(cost, *held) - made.outside;
        made.rate = BytesPerSecond{*rate};
        for (const Level from : {Level::Device, Level::Cache})
            if (const std::optional<BytesPerSecond> outside = machine.bandwidth(from))
                made.saved[from] = made.between / *outside - made.between / made.rate;
        all.push_back(std::move(made));
    }
    return all;
}

std::vector<HalvedTerm> halved_terms(const RegionCost& cost, const Polynomial& form) {
    std::vector<HalvedTerm> all;
    for (const auto& [monomial, coefficient] : form.terms) {
        double fewer = 2;
        for (const auto& [symbol, exponent] : monomial)
            if (symbol.kind == SymbolKind::Memory)
                fewer *= std::pow(2.0, -static_cast<double>(exponent.numerator) /
                                           static_cast<double>(exponent.denominator));
        all.push_back({print({{{monomial, coefficient}}}, cost.names, cost.order), fewer});
    }
    std::sort(all.begin(), all.end(),
              [](const HalvedTerm& a, const HalvedTerm& b) { return a.fewer > b.fewer; });
    return all;
}

}  // namespace

std::variant<Hierarchy, NotApplicable> hierarchy_of(const RegionCost& cost,
                                                    const Machine& machine) {
    const auto best = best_of(cost, machine.capacity(Level::Block).value_or(Bytes{}));
    if (const NotApplicable* reason = std::get_if<NotApplicable>(&best)) return *reason;
    Hierarchy made;
    made.levels = levels_of(cost, machine);
    for (const LevelTransfers& level : made.levels) made.cost += level.cost();
    made.clusters = clusters_of(cost, machine);
    if (const std::optional<Polynomial>& form = std::get<BestTransfers>(best).form)
        made.halved = halved_terms(cost, *form);
    return made;
}

}  // namespace napkin
