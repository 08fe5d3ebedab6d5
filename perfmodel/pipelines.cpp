#include "perfmodel/pipelines.h"

#include <algorithm>

namespace napkin {

namespace {

double bytes_at(const RegionCost& cost, Level level) {
    const auto found = cost.levels.find(level);
    return found == cost.levels.end() ? 0.0
                                      : static_cast<double>(found->second.transferred.bytes());
}

Formula byte_formula_at(const RegionCost& cost, Level level) {
    const auto found = cost.levels.find(level);
    return found == cost.levels.end() ? Formula()
                                      : ceil_divide(found->second.transferred.bit_formula, 8);
}

void add_transfers(const RegionCost& cost, const Machine& machine, std::vector<Pipeline>& all) {
    const auto add = [&](std::string name, const auto& rate, std::string figure, double least,
                         double most, Formula least_formula, Formula most_formula) {
        if (rate && most > 0)
            all.push_back({std::move(name), "B", least, most, rate->value, std::move(figure),
                           std::move(least_formula), std::move(most_formula)});
    };
    const double moved = bytes_at(cost, Level::Block);
    const Formula formula = byte_formula_at(cost, Level::Block);
    const bool cached = machine.has(Level::Cache);
    const double once = static_cast<double>(cost.compulsory_bits) / 8;
    const Formula once_formula = divide(cost.formulas.compulsory_bits, 8);
    add("device memory", machine.bandwidth(Level::Device), "device.bandwidth",
        cached ? std::min(once, moved) : moved, moved,
        cached ? min_of(once_formula, formula) : formula, formula);
    add("cache", machine.bandwidth(Level::Cache), "cache.bandwidth", moved, moved, formula,
        formula);
    const double inner = bytes_at(cost, Level::Warps) + bytes_at(cost, Level::Thread);
    const Formula inner_formula =
        byte_formula_at(cost, Level::Warps) + byte_formula_at(cost, Level::Thread);
    add("shared memory", machine.bandwidth(Level::Block), "block.bandwidth", inner, inner,
        inner_formula, inner_formula);
}

void add_arithmetic(const RegionCost& cost, const Machine& machine, std::vector<Pipeline>& all) {
    const auto add = [&](std::string name, double rate, std::string figure, double work,
                         const Formula& formula) {
        all.push_back(
            {std::move(name), "op", work, work, rate, std::move(figure), formula, formula});
    };
    double rest = static_cast<double>(cost.arithmetic.useful());
    Formula rest_formula = cost.formulas.operations - cost.formulas.operands;
    for (const auto& [type, count] : cost.arithmetic.products) {
        const auto rate = machine.tensor_core(type);
        // In f32 whatever is faster.
        const bool in_parts = is_in_parts(type);
        if (!rate ||
            (in_parts && machine.arithmetic() && machine.arithmetic()->value > rate->value))
            continue;
        const auto found = cost.formulas.products.find(type);
        const Formula formula = found == cost.formulas.products.end() ? Formula() : found->second;
        rest -= static_cast<double>(count);
        rest_formula = rest_formula - formula;
        const std::string name(name_of(type));
        add("tensor core " + name, rate->value,
            in_parts ? "tensor_core.tf32" : "tensor_core." + name, static_cast<double>(count),
            formula);
    }
    const double exponentials = static_cast<double>(cost.arithmetic.exponentials);
    if (const auto rate = machine.exponentials(); rate && exponentials > 0)
        add("exponentials", rate->value, "processor.exponential", exponentials,
            cost.formulas.exponentials);
    if (const auto rate = machine.arithmetic(); rate && rest > 0)
        add("arithmetic", rate->value, "processor.arithmetic", rest, rest_formula);
}

/// The share of the masked loop's chunks that blocks visit.
double mean_share(const KernelWork& work) {
    double visited = 0;
    for (const Visits& visits : work.pattern) visited += visits.chunks;
    double chunks = 0;
    for (const LoopWork& loop : work.loops)
        if (loop.is_masked && chunks == 0) chunks = loop.chunks;
    return chunks > 0 ? visited / static_cast<double>(work.pattern.size()) / chunks : 1;
}

}  // namespace

std::vector<Pipeline> pipelines_of(const RegionCost& cost, const Machine& machine) {
    std::vector<Pipeline> all;
    add_transfers(cost, machine, all);
    add_arithmetic(cost, machine, all);
    return all;
}

UnitWork all_of(const KernelWork& work) {
    UnitWork all = static_cast<double>(work.blocks) * work.edges;
    const double share = work.pattern.empty() ? 1 : mean_share(work);
    for (const LoopWork& loop : work.loops)
        all += (loop.is_masked ? share : 1) * loop.chunks * static_cast<double>(work.blocks) *
               loop.chunk;
    return all;
}

}  // namespace napkin
