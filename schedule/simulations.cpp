#include "schedule/simulations.h"

namespace napkin::schedule {

char32_t Simulations::letter_of(const Step& step) {
    return letters_.try_emplace({step.cost, step.asynchronous}, letters_.size()).first->second;
}

std::optional<double> Simulations::of(const std::vector<Step>& program,
                                      const std::u32string& spelling, const Sharing& sharing) {
    const auto [kept, is_new] = kept_[sharing].try_emplace(spelling);
    if (is_new) kept->second = simulate(program, sharing);
    return kept->second;
}

std::size_t Simulations::size() const {
    std::size_t size = 0;
    for (const auto& [sharing, kept] : kept_) size += kept.size();
    return size;
}

}  // namespace napkin::schedule
