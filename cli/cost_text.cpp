#include "cli/cost_text.h"

#include "cli/lines.h"
#include "cli/numbers.h"
#include "perfmodel/cost_table.h"

namespace napkin::cli {
namespace {

constexpr const char* kAllocated =
    "  A: what a block allocates, operands beside results: M at least, and up to what both take\n";

std::string ratio_lines(const Costed& costed) {
    const Ratios ratios = ratios_of(costed);
    std::string text;
    if (ratios.to_bound)
        text += "  H is " + beside_bound(*ratios.to_bound) + " (" + ratios.bound->citation + ")\n";
    if (ratios.to_best)
        text += "  H is " + three_digits(*ratios.to_best) + " times the best of its kind, " +
                ratios.best->formula + " (" + ratios.best->validity + ")\n";
    return text;
}

}  // namespace

std::string beside_bound(double ratio) {
    const std::string times = three_digits(ratio);
    return times == "1" ? "at the bound" : times + " times the bound";
}

std::string cost_table(const Costed& costed, std::size_t columns) {
    return fitted(
        print_table(costed.cost, costed.machine, columns) + kAllocated + ratio_lines(costed),
        columns);
}

}  // namespace napkin::cli
