#include <algorithm>
#include <utility>

#include "perfmodel/kernel_work.h"

namespace napkin {

void add_transfers(const RegionCost& cost, KernelWork& work) {
    for (const Transfer& transfer : cost.transfers) {
        if (transfer.level != Level::Block) continue;
        work.values += static_cast<double>(transfer.amount.values);
        const auto bytes = static_cast<double>(transfer.amount.bytes());
        (transfer.is_save ? work.saved : work.loaded) += bytes;
        work.sectors += (transfer.sectors - 1) * bytes;
        work.apart += transfer.apart * bytes;
    }
    work.compulsory = static_cast<double>(cost.compulsory_bits) / 8;
    work.data_decides = cost.data_decides;
    work.blocks = std::max<std::int64_t>(cost.blocks, 1);
}

KernelWork general_work(const RegionCost& cost) {
    KernelWork work;
    work.name = cost.name;
    add_transfers(cost, work);
    return general_work(std::move(work), cost.arithmetic,
                        static_cast<double>(cost.levels.at(Level::Block).allocated.bytes()));
}

KernelWork general_work(KernelWork work, const ArithmeticCost& arithmetic, double held) {
    constexpr double kOfFragment = 32;      // operations for a byte fetched, tiles of 64 x 64
    constexpr double kAccumulators = 1020;  // what a thread's registers hold
    constexpr double kFewRegisters = 256;
    constexpr double kChunks = 16;  // of a loop whose loads hide behind its products
    const auto blocks = static_cast<double>(work.blocks);
    UnitWork all;
    double products = 0;
    for (const auto& [type, count] : arithmetic.products) {
        all.products[type] = static_cast<double>(count) / blocks;
        products += static_cast<double>(count);
    }
    work.tensor_core = true;
    work.warps = products > 0 ? 4 : 8;
    work.register_bytes = products > 0 ? kAccumulators : kFewRegisters;
    work.shared_bytes = held;
    all.exponentials = static_cast<double>(arithmetic.exponentials) / blocks;
    all.instructions = (static_cast<double>(arithmetic.useful()) - products) / blocks;
    all.shared = products / kOfFragment / blocks;
    all.loaded = (work.loaded + work.sectors) / blocks;
    if (products > 0)
        work.loops.push_back({1 / kChunks * std::move(all), 1, false, false, kChunks, 0});
    else
        work.edges = std::move(all);
    return work;
}

}  // namespace napkin
