#include "cli/cost_text.h"

#include "cli/numbers.h"
#include "perfmodel/cost_table.h"

namespace napkin::cli {
namespace {

std::string ratio_lines(const Costed& costed) {
    const Ratios ratios = ratios_of(costed);
    std::string text;
    if (ratios.to_bound)
        text += "  H is " + three_digits(*ratios.to_bound) + " times the bound (" +
                ratios.bound->citation + ")\n";
    if (ratios.to_best)
        text += "  H is " + three_digits(*ratios.to_best) + " times the best of its kind, " +
                ratios.best->formula + " (" + ratios.best->validity + ")\n";
    return text;
}

}  // namespace

std::string cost_table(const Costed& costed) {
    return print_table(costed.cost, costed.machine) + ratio_lines(costed);
}

}  // namespace napkin::cli
