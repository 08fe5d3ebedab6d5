#include "perfmodel/cost_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "perfmodel/kernel_choice.h"

namespace napkin {

namespace {

using Row = std::vector<std::string>;

std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char letter) {
        return (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U;
    }));
}

/// Rows with their columns aligned on the left.
std::string aligned(const std::vector<Row>& rows) {
    std::vector<std::size_t> widths;
    for (const Row& row : rows)
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (k == widths.size()) widths.push_back(0);
            widths[k] = std::max(widths[k], width_of(row[k]));
        }
    std::string text;
    for (const Row& row : rows) {
        std::string line = "  ";
        for (std::size_t k = 0; k < row.size(); ++k)
            line += row[k] + std::string(widths[k] - width_of(row[k]) + 3, ' ');
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string bytes_text(const Amount& amount) {
    return text_of(Bytes{static_cast<double>(amount.bytes())});
}

std::string sizes_text(const char* verb, const char* tiles, const std::vector<SizeInUse>& uses,
                       const SymbolNames& names) {
    std::string text;
    for (const SizeInUse& use : uses)
        text += "  " + std::string(verb) + " " + use.axis + " by " + std::to_string(use.size) +
                " at " + std::string(name_of(use.level)) + ": " + names(use.symbol) + ", " +
                std::to_string(use.count) + " " + tiles + "\n";
    return text;
}

std::string short_name(Level level) {
    switch (level) {
    case Level::Block: return "l1";
    case Level::Warps: return "l2";
    default: return std::string(name_of(level));
    }
}

std::string columns_text(const RegionCost& cost) {
    const std::vector<TableColumn> columns = table_columns(cost);
    Row titles = {""};
    Row memory = {"M l1"};
    Row transferred = {"H l1"};
    for (const TableColumn& column : columns) {
        titles.push_back(column.title);
        memory.push_back(column.memory);
        transferred.push_back(column.transferred);
    }
    return aligned({titles, memory, transferred});
}

/// The formula with 1 for `min(g_h, h)` where h is grouped by 1, as woven axes are from the start.
Formula without_unit_groups(const Formula& formula, const RegionCost& cost) {
    if (formula.op != FormulaOp::Min && formula.op != FormulaOp::Max &&
        formula.op != FormulaOp::Add && formula.op != FormulaOp::Multiply)
        return formula;
    if (formula.op == FormulaOp::Min)
        for (const SizeInUse& group : cost.groups)
            if (group.size == 1 && std::find(formula.args.begin(), formula.args.end(),
                                             Formula(group.symbol)) != formula.args.end())
                return {1};
    Formula result = without_unit_groups(formula.args.front(), cost);
    for (std::size_t k = 1; k < formula.args.size(); ++k) {
        const Formula arg = without_unit_groups(formula.args[k], cost);
        switch (formula.op) {
        case FormulaOp::Min: result = min_of(result, arg); break;
        case FormulaOp::Max: result = max_of(result, arg); break;
        case FormulaOp::Add: result = result + arg; break;
        default: result = result * arg; break;
        }
    }
    return result;
}

std::string levels_text(const RegionCost& cost) {
    std::vector<Row> rows = {{"", "ideal", "values", "bytes", "exact"}};
    for (const auto& [level, costs] : cost.levels)
        for (const auto& [name, amount] :
             {std::pair{"H ", &costs.transferred}, std::pair{"M ", &costs.memory},
              std::pair{"A ", &costs.allocated}})
            rows.push_back({name + short_name(level), ideal_text(*amount, cost),
                            std::to_string(amount->values), bytes_text(*amount),
                            print(without_unit_groups(amount->formula, cost), cost.names)});
    return aligned(rows);
}

std::string arithmetic_text(const RegionCost& cost) {
    std::string text = "  " + text_of(Operations{static_cast<double>(cost.arithmetic.operations)}) +
                       " and " + std::to_string(cost.arithmetic.exponentials) +
                       " exponentials in " + std::to_string(cost.blocks) +
                       (cost.blocks == 1 ? " block" : " blocks");
    if (cost.chunks_visited < cost.chunks || cost.data_decides)
        text += ", " + std::string(cost.data_decides ? "at most " : "") +
                std::to_string(cost.chunks_visited) + " of " + std::to_string(cost.chunks) +
                " chunks visited" + (cost.data_decides ? ", data decides" : "");
    return text + "\n";
}

std::string interval_text(const TimeEstimate& time) {
    const std::string low = text_of(time.low);
    const std::string high = text_of(time.high);
    return low == high ? low : low + " to " + high;
}

std::string energy_text(const TimeEstimate& time, const Machine& machine) {
    const std::string& unknown = time.energy.unknown;
    return "  energy " + text_of(time.energy) +
           (unknown.empty() ? "" : ": " + machine.name + " has no `" + unknown + "`") + "\n";
}

/// How blocks fill the machine.
std::string filling_text(const RegionCost& cost, const TimeEstimate& time, const Machine& machine) {
    const std::int64_t processors = machine.processors();
    if (cost.blocks < processors)
        return fmt::format("{} of {} processors {} a block", cost.blocks, processors,
                           cost.blocks == 1 ? "has" : "have");
    return fmt::format("{} {} of {} blocks", time.waves, time.waves == 1 ? "wave" : "waves",
                       time.resident * processors);
}

std::string time_text(const RegionCost& cost, const Machine& machine) {
    const TimeEstimate time = time_of(cost, machine);
    const std::string for_target = cost.work ? " for " + cost.work->target : "";
    std::string text = "  " + interval_text(time) + " on " + machine.name + for_target +
                       ", bound by " + time.binds + "; " + filling_text(cost, time, machine) + "\n";
    std::vector<Row> rows;
    for (const TimeTerm& term : time.terms)
        rows.push_back({"  " + term.name,
                        term.low == term.high ? text_of(term.low)
                                              : text_of(term.low) + " to " + text_of(term.high),
                        term.from});
    text += aligned(rows) + energy_text(time, machine);
    for (const Excess& excess : excesses_of(cost, machine))
        text += "  does not fit: " + describe(excess) + "\n";
    if (cost.work && cost.work->spills()) text += "  spills: " + spill_text(cost) + "\n";
    if (cost.refused) text += "  no kernel as it is asked for: " + cost.refused->reason + "\n";
    return text;
}

}  // namespace

std::string ideal_text(const Amount& amount, const RegionCost& cost) {
    return amount.ideal ? print(*amount.ideal, cost.names, cost.order)
                        : print(amount.formula, cost.names);
}

std::vector<TableColumn> table_columns(const RegionCost& cost) {
    std::vector<TableColumn> columns;
    for (const CostColumn& column : cost.columns) {
        TableColumn texts{column.kind, column.title, column.arrays, "", ""};
        texts.memory = ideal_text(column.memory, cost);
        if (column.kind != CostColumn::Kind::Compute)
            texts.transferred = ideal_text(column.transferred, cost);
        columns.push_back(std::move(texts));
    }
    const LevelCost& block = cost.levels.at(Level::Block);
    columns.push_back({CostColumn::Kind::Compute,
                       "cumulative",
                       {},
                       ideal_text(block.memory, cost),
                       ideal_text(block.transferred, cost)});
    return columns;
}

std::string print_table(const Cost& cost, const Machine* machine) {
    std::string text;
    for (const RegionCost& region : cost.regions) {
        text += region.name + "\n" + sizes_text("group", "groups", region.groups, region.names) +
                sizes_text("stream", "chunks", region.streams, region.names) +
                columns_text(region) + levels_text(region) + arithmetic_text(region);
        if (machine != nullptr) text += time_text(region, *machine);
    }
    if (cost.regions.size() < 2) return text;
    text += "total\n";
    std::vector<Row> rows;
    for (const auto& [level, amount] : cost.transferred)
        rows.push_back({"H " + short_name(level), ideal_text(amount, cost.regions.front()),
                        std::to_string(amount.values), bytes_text(amount)});
    text += aligned(rows);
    text += "  " + text_of(Operations{static_cast<double>(cost.operations)}) + " and " +
            std::to_string(cost.exponentials) + " exponentials\n";
    if (machine != nullptr)
        text += "  " + interval_text(time_of(cost, *machine)) + " on " + machine->name + "\n" +
                energy_text(time_of(cost, *machine), *machine);
    return text;
}

}  // namespace napkin
