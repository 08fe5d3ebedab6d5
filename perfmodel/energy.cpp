#include "perfmodel/energy.h"

namespace napkin {

EnergyFigures::EnergyFigures(const Machine& machine) {
    const std::array<const char*, 6> keys = {"energy.device",     "energy.cache",
                                             "energy.block",      "energy.tensor_core",
                                             "energy.arithmetic", "energy.exponential"};
    for (std::size_t i = 0; i < keys.size(); ++i)
        figures_.at(i) = {keys.at(i), machine.figure(keys.at(i))};
}

EnergyFigures::Drawn EnergyFigures::drawn(const KernelWork& work, const UnitWork& all,
                                          double from_device) const {
    // A product draws as its operands' bits do; the figure is of one of bf16.
    constexpr double kBits = 16;
    double products = 0;
    for (const auto& [type, count] : all.products)
        products += count * (is_in_parts(type) ? kProductsOfParts : 1) *
                    static_cast<double>(bits_of(type)) / kBits;
    const std::array<double, 6> amounts = {
        from_device,      work.loaded + work.saved + work.sectors,
        all.shared,       products,
        all.instructions, all.exponentials};
    Drawn drawn;
    for (std::size_t i = 0; i < amounts.size(); ++i) {
        if (amounts.at(i) <= 0) continue;
        if (!figures_.at(i).value && drawn.unknown.empty()) drawn.unknown = figures_.at(i).key;
        drawn.joules += amounts.at(i) * figures_.at(i).value.value_or(0);
    }
    return drawn;
}

}  // namespace napkin
