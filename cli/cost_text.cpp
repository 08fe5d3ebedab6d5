#include "cli/cost_text.h"

#include <algorithm>
#include <array>
#include <vector>

#include "cli/numbers.h"

namespace napkin::cli {
namespace {

/// Rows of cells, set in columns of equal width; numbers stand to the right.
class Table {
public:
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    [[nodiscard]] std::string text(std::size_t first_right) const;

private:
    std::vector<std::vector<std::string>> rows_;
};

std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    }));
}

std::string Table::text(std::size_t first_right) const {
    std::vector<std::size_t> widths;
    for (const auto& cells : rows_)
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (i == widths.size()) widths.push_back(0);
            widths[i] = std::max(widths[i], width_of(cells[i]));
        }
    std::string text;
    for (const auto& cells : rows_) {
        std::string line = "  ";
        for (std::size_t i = 0; i < cells.size(); ++i)
            line += (i > 0 ? "  " : "") + (i < first_right ? padded(cells[i], widths[i])
                                                           : padded_left(cells[i], widths[i]));
        while (!line.empty() && line.back() == ' ') line.pop_back();
        text += line + "\n";
    }
    return text;
}

std::vector<std::string> order_of(const State& state) {
    std::vector<std::string> order;
    for (const Axis& axis : state.diagram.axes) order.push_back(axis.name);
    return order;
}

std::string form_of(const Amount& amount, const std::vector<std::string>& order) {
    if (amount.ideal) return print(*amount.ideal, order);
    const std::string exact = print(amount.formula);
    constexpr std::size_t kLongest = 60;
    return exact.size() <= kLongest ? exact : "(see --json)";
}

void add_amount(Table& table, const std::string& what, Level level, const Amount& amount,
                const std::vector<std::string>& order) {
    table.row({what, std::string(name_of(level)), form_of(amount, order),
               grouped(amount.values) + " values",
               bytes_text(static_cast<double>(amount.bytes()))});
}

std::string sizes_text(const std::vector<SizeInUse>& sizes, const std::string& each) {
    std::string text;
    for (const SizeInUse& size : sizes) {
        text += (text.empty() ? "" : ", ") + size.axis + " by " + std::to_string(size.size);
        if (size.level != Level::Block) text += " at " + std::string(name_of(size.level));
        text += " (" + grouped(size.count) + " " + each + (size.count == 1 ? "" : "s") + ")";
    }
    return text;
}

/// The named arrays that a region computes.
std::vector<std::string> statements_of(const State& state, const Region& region) {
    std::vector<std::string> names;
    for (const StatementId id : region.statements)
        for (const ArrayId target : state.diagram[id].targets)
            if (state.diagram[target].named) names.push_back(state.diagram[target].name);
    return names;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

std::optional<TimeEstimate> time_of_region(const Costed& costed, std::size_t index) {
    if (costed.machine == nullptr) return std::nullopt;
    return time_of(costed.cost.regions[index], *costed.machine);
}

std::string interval_text(const TimeEstimate& time) {
    const std::string low = time_text(time.low.value);
    const std::string high = time_text(time.high.value);
    return low == high ? low : low + " to " + high;
}

std::string time_lines(const std::optional<TimeEstimate>& time, std::int64_t blocks) {
    if (!time) return "";
    std::string text = "  time     " + interval_text(*time) + "; " + time->binds + " binds; " +
                       grouped(time->resident) + (time->resident == 1 ? " block" : " blocks") +
                       " a processor";
    if (blocks > 1) text += ", " + grouped(time->waves) + (time->waves == 1 ? " wave" : " waves");
    text += "\n";
    for (const TimeTerm& term : time->terms)
        text += "           " + padded(term.name, 14) + time_text(term.low.value) +
                (term.low == term.high ? "" : " to " + time_text(term.high.value)) + ": " +
                term.from + "\n";
    return text;
}

std::string ratio_lines(const Costed& costed) {
    const Ratios ratios = ratios_of(costed);
    std::string text;
    if (ratios.to_bound)
        text += "  H is " + three_digits(*ratios.to_bound) + " times the bound (" +
                ratios.bound_citation + ")\n";
    if (ratios.to_best)
        text += "  H is " + three_digits(*ratios.to_best) + " times the best of its kind, " +
                ratios.best_formula + " (" + ratios.best_validity + ")\n";
    return text;
}

std::string region_text(const Costed& costed, std::size_t index) {
    const RegionCost& region = costed.cost.regions[index];
    const std::vector<std::string> order = order_of(costed.state);
    std::string text =
        region.name + ": computes " +
        joined(statements_of(costed.state, costed.state.relabelling.regions[index])) + " in " +
        grouped(region.blocks) + (region.blocks == 1 ? " block" : " blocks") + "\n";
    if (!region.groups.empty()) text += "  groups   " + sizes_text(region.groups, "group") + "\n";
    if (!region.streams.empty()) text += "  streams  " + sizes_text(region.streams, "chunk") + "\n";
    if (region.chunks_visited < region.chunks)
        text += "  visits " + grouped(region.chunks_visited) + " of " + grouped(region.chunks) +
                " chunks; the mask leaves the others empty\n";
    Table table;
    for (const auto& [level, cost] : region.levels) {
        add_amount(table, "H", level, cost.transferred, order);
        add_amount(table, "M", level, cost.memory, order);
        add_amount(table, "A", level, cost.allocated, order);
    }
    return text + table.text(3) + time_lines(time_of_region(costed, index), region.blocks);
}

std::string total_text(const Costed& costed) {
    const std::vector<std::string> order = order_of(costed.state);
    Table table;
    for (const auto& [level, amount] : costed.cost.transferred)
        add_amount(table, "H", level, amount, order);
    return "total\n" + table.text(3) + "  " +
           three_digits(static_cast<double>(costed.cost.operations)) + " operations, " +
           three_digits(static_cast<double>(costed.cost.exponentials)) + " exponentials\n" +
           (costed.machine == nullptr
                ? ""
                : "  time     " + interval_text(time_of(costed.cost, *costed.machine)) + " on " +
                      costed.machine->name + "\n") +
           ratio_lines(costed);
}

}  // namespace

std::string cost_table(const Costed& costed) {
    std::string text;
    for (std::size_t i = 0; i < costed.cost.regions.size(); ++i)
        text += region_text(costed, i) + "\n";
    return text + total_text(costed);
}

}  // namespace napkin::cli
