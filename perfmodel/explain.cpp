#include "perfmodel/explain.h"

#include <algorithm>

#include "perfmodel/grouped.h"

namespace napkin {

namespace {

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
        text += names[i];
    }
    return text;
}

void add_once(const std::string& name, std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::int64_t tiles_of(const RegionCost& cost, const Partition& partition) {
    const std::vector<SizeInUse>& uses = partition.is_loop ? cost.streams : cost.groups;
    for (const SizeInUse& use : uses)
        if (use.symbol == partition.symbol()) return use.count;
    return 1;
}

/// Arrays that the same groups and chunks load again.
struct Repetition {
    std::vector<std::string> arrays;
    std::vector<std::string> axes;
    std::int64_t groups = 1;
    std::int64_t chunks = 1;
    Level level = Level::Block;
};

std::vector<Repetition> repetitions_of(const RegionCost& cost, const std::vector<Axis>& axes) {
    std::vector<Repetition> result;
    for (const Transfer& transfer : cost.transfers) {
        if (transfer.is_save) continue;
        Repetition repetition;
        repetition.level = transfer.level;
        for (const Partition& partition : transfer.repeats) {
            const std::int64_t count = tiles_of(cost, partition);
            if (count <= 1) continue;
            add_once(axes[partition.axis.index()].name, repetition.axes);
            (partition.is_loop ? repetition.chunks : repetition.groups) *= count;
        }
        if (repetition.axes.empty()) continue;
        const auto same = std::find_if(result.begin(), result.end(), [&](const Repetition& other) {
            return other.axes == repetition.axes && other.groups == repetition.groups &&
                   other.chunks == repetition.chunks && other.level == repetition.level;
        });
        Repetition& into = same != result.end() ? *same : result.emplace_back(repetition);
        add_once(transfer.name, into.arrays);
    }
    return result;
}

std::string sentence(const Repetition& repetition) {
    const bool several = repetition.arrays.size() > 1;
    std::string text = listed(repetition.arrays) + (several ? " lack " : " lacks ") +
                       listed(repetition.axes) + ": each of ";
    if (repetition.groups > 1) text += grouped(repetition.groups) + " groups";
    if (repetition.groups > 1 && repetition.chunks > 1) text += " and ";
    if (repetition.chunks > 1) text += grouped(repetition.chunks) + " chunks";
    text += several ? " loads them" : " loads it";
    if (repetition.level != Level::Block) text += " to " + std::string(name_of(repetition.level));
    return text;
}

}  // namespace

std::string explain_mask(const RegionCost& cost) {
    if (cost.chunks_visited >= cost.chunks) return "";
    return "the mask leaves " + grouped(cost.chunks_visited) + " of " + grouped(cost.chunks) +
           " chunks to visit: numbers count these, formulas all";
}

std::vector<std::string> explain_transfers(const RegionCost& cost, const std::vector<Axis>& axes) {
    std::vector<std::string> sentences;
    for (const Repetition& repetition : repetitions_of(cost, axes))
        sentences.push_back(sentence(repetition));
    std::vector<std::string> halos;
    std::vector<std::string> gathers;
    for (const Transfer& transfer : cost.transfers) {
        if (transfer.has_halo) add_once(transfer.name, halos);
        if (transfer.is_gather) add_once(transfer.name, gathers);
    }
    if (!halos.empty())
        sentences.push_back("tiles of " + listed(halos) +
                            " overlap: neighbours load the shared part again");
    if (!gathers.empty())
        sentences.push_back(listed(gathers) + (gathers.size() > 1 ? " are" : " is") +
                            " read at indices from data, one element at a time");
    if (cost.data_decides)
        sentences.emplace_back("data decides which of the chunks counted here a kernel visits");
    if (std::string mask = explain_mask(cost); !mask.empty()) sentences.push_back(std::move(mask));
    if (sentences.empty()) sentences.emplace_back("every array is loaded once");
    return sentences;
}

}  // namespace napkin
