#include "derive/proof/residue.h"

#include <array>

namespace napkin::proof {
namespace {

constexpr std::size_t kWindow = 8;
constexpr std::size_t kWindows = 8;
constexpr std::size_t kEntries = std::size_t{1} << kWindow;
using Table = std::array<std::array<InP, kEntries>, kWindows>;

/// [w][i] is 4^(i * 2^(8 w)).
Table powers_of_four() {
    Table table;
    InP base(4);
    for (std::array<InP, kEntries>& window : table) {
        window[0] = InP(1);
        for (std::size_t i = 1; i < kEntries; ++i) window[i] = window[i - 1] * base;
        base = window[kEntries - 1] * base;
    }
    return table;
}

}  // namespace

InP power_of_four(InQ exponent) {
    static const Table kPowers = powers_of_four();
    InP result(1);
    std::uint64_t rest = exponent.value();
    for (const std::array<InP, kEntries>& window : kPowers) {
        result = result * window[rest % kEntries];
        rest >>= kWindow;
    }
    return result;
}

}  // namespace napkin::proof
