#include "perfmodel/cost_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "diagrams/factor.h"
#include "perfmodel/grouped.h"
#include "perfmodel/kernel_choice.h"
#include "perfmodel/wrapped_formula.h"

namespace napkin {

namespace {

using Row = std::vector<std::string>;

std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char letter) {
        return (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U;
    }));
}

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, width_of(line));
    return widest;
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

std::vector<Row> transposed(const std::vector<Row>& rows) {
    std::vector<Row> columns(rows.front().size());
    for (const Row& row : rows)
        for (std::size_t k = 0; k < columns.size(); ++k) columns[k].push_back(row[k]);
    return columns;
}

std::string bytes_text(const Amount& amount) {
    return text_of(Bytes{static_cast<double>(amount.bytes())});
}

std::string sizes_text(const char* verb, const char* tile, const std::vector<SizeInUse>& uses,
                       const SymbolNames& names) {
    std::string text;
    for (const SizeInUse& use : uses)
        text += "  " + std::string(verb) + " " + use.axis + " by " + std::to_string(use.size) +
                " at " + std::string(name_of(use.level)) + ": " + names(use.symbol) + ", " +
                grouped(use.count) + " " + tile + (use.count == 1 ? "\n" : "s\n");
    return text;
}

std::string short_name(Level level) {
    switch (level) {
    case Level::Block: return "l1";
    case Level::Warps: return "l2";
    default: return std::string(name_of(level));
    }
}

std::string columns_text(const RegionCost& cost, std::size_t width) {
    Row titles = {""};
    Row memory = {"M l1"};
    Row transferred = {"H l1"};
    for (const TableColumn& column : table_columns(cost)) {
        titles.push_back(column.title);
        memory.push_back(column.memory);
        transferred.push_back(column.transferred);
    }
    const std::vector<Row> rows = {titles, memory, transferred};
    const std::string wide = aligned(rows);
    return widest_line(wide) <= width ? wide : aligned(transposed(rows));
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

std::string levels_text(const RegionCost& cost, std::size_t width) {
    constexpr std::size_t kBefore = 16;  // columns before an exact formula, at most
    std::vector<Row> rows = {{"", "values", "bytes", "ideal"}};
    std::vector<Row> exact = {{"exactly"}};
    for (const auto& [level, costs] : cost.levels)
        for (const auto& [name, amount] :
             {std::pair{"H ", &costs.transferred}, std::pair{"M ", &costs.memory},
              std::pair{"A ", &costs.allocated}}) {
            std::string title = name + short_name(level);
            rows.push_back({title, grouped(amount->values), bytes_text(*amount),
                            text_beside_number(*amount, cost)});
            title.insert(0, "  ");
            const std::string formula =
                print(without_unit_groups(amount->formula, cost), cost.names);
            for (const std::string& line : wrapped_formula(formula, width - kBefore))
                exact.push_back({std::exchange(title, ""), line});
        }
    return aligned(rows) + aligned(exact);
}

std::string arithmetic_text(const RegionCost& cost) {
    std::string text = "  " + text_of(Operations{static_cast<double>(cost.arithmetic.operations)}) +
                       " and " + grouped(cost.arithmetic.exponentials) + " exponentials in " +
                       grouped(cost.blocks) + (cost.blocks == 1 ? " block" : " blocks");
    if (cost.chunks_visited < cost.chunks || cost.data_decides)
        text += ", " + std::string(cost.data_decides ? "at most " : "") +
                grouped(cost.chunks_visited) + " of " + grouped(cost.chunks) + " chunks visited" +
                (cost.data_decides ? ", data decides" : "");
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

Row latency_row(const Latency& latency) {
    Seconds sum;
    std::string parts;
    for (const TimeTerm& part : latency.parts) {
        sum += part.low;
        parts += (parts.empty() ? "" : ", ") + text_of(part.low) + " " + part.name;
    }
    return {"  latency", text_of(sum), parts};
}

std::string uncounted_text(const Latency& latency, const Machine& machine) {
    if (latency.unknown.empty()) return "";
    std::string lacks;
    for (const std::string& key : latency.unknown)
        lacks += (lacks.empty() ? "no `" : ", no `") + key + "`";
    return "  times are too short: " + machine.name + " has " +
           (latency.any_known ? lacks : "no latencies") + "\n";
}

/// How blocks fill the machine.
std::string filling_text(const RegionCost& cost, const TimeEstimate& time, const Machine& machine) {
    const std::int64_t processors = machine.processors();
    if (cost.blocks < processors)
        return fmt::format("{} of {} processors {} a block", cost.blocks, processors,
                           cost.blocks == 1 ? "has" : "have");
    return fmt::format("{} {} of {} blocks", grouped(time.waves),
                       time.waves == 1 ? "wave" : "waves", grouped(time.resident * processors));
}

std::string excess_text(const RegionCost& cost, const Machine& machine) {
    std::string text;
    for (const Excess& excess : excesses_of(cost, machine))
        text += "  does not fit: " + describe(excess) + "\n";
    return text;
}

/// After `no time on H200`.
std::string why_no_time(const RegionCost& cost, const Machine& machine) {
    const std::optional<std::string> lacks = figure_lacking(machine);
    return (lacks ? ", which has no `" + *lacks + "`\n" : "\n") + excess_text(cost, machine);
}

std::string time_text(const RegionCost& cost, const Machine& machine) {
    const TimeEstimate time = time_of(cost, machine);
    const std::string where =
        " on " + machine.name +
        (cost.work && !cost.work->target.empty() ? " for " + cost.work->target : "");
    if (!time.is_known()) return "  no time" + where + why_no_time(cost, machine);
    std::string text = "  " + interval_text(time) + where + ", bound by " + time.bound_by() +
                       "\n  " + filling_text(cost, time, machine) + "\n";
    std::vector<Row> rows;
    for (const TimeTerm& term : time.terms)
        rows.push_back({"  " + term.name,
                        term.low == term.high ? text_of(term.low)
                                              : text_of(term.low) + " to " + text_of(term.high),
                        term.from});
    if (time.waiting.value > 0)
        rows.push_back({"  waiting", text_of(time.waiting),
                        "of blocks for what comes before, beside all of these"});
    if (!time.latency.parts.empty()) rows.push_back(latency_row(time.latency));
    text += aligned(rows) + uncounted_text(time.latency, machine) + energy_text(time, machine);
    text += excess_text(cost, machine);
    if (cost.work && cost.work->spills()) text += "  spills: " + spill_text(cost) + "\n";
    if (cost.refused) text += "  no kernel as it is asked for: " + cost.refused->reason + "\n";
    return text;
}

}  // namespace

std::vector<Polynomial> transfers_of(const RegionCost& cost) {
    std::vector<Polynomial> parts;
    for (const Transfer& transfer : cost.transfers)
        if (transfer.amount.ideal) parts.push_back(*transfer.amount.ideal);
    return parts;
}

std::vector<Polynomial> transfers_of(const Cost& cost) {
    std::vector<Polynomial> parts;
    for (const RegionCost& region : cost.regions)
        for (Polynomial& part : transfers_of(region)) parts.push_back(std::move(part));
    return parts;
}

namespace {

std::string text_in_parts(const Amount& amount, const std::vector<Polynomial>& parts,
                          const RegionCost& cost) {
    return amount.ideal ? print_in_parts(*amount.ideal, parts, cost.names, cost.order)
                        : print(amount.formula, cost.names);
}

}  // namespace

std::string ideal_text(const Amount& amount, const RegionCost& cost) {
    return text_in_parts(amount, transfers_of(cost), cost);
}

std::string ideal_text(const Amount& amount, const Cost& cost) {
    return text_in_parts(amount, transfers_of(cost), cost.regions.front());
}

namespace {

Signs signs_at(const Amount& amount, const SymbolValues& sizes) {
    if (!amount.ideal) return {};
    constexpr double kRounding = 1e-9;
    const double value = evaluate(*amount.ideal, sizes);
    const double excess = static_cast<double>(amount.values) - value;
    if (std::abs(excess) <= kRounding * value) return {};
    if (amount.leads && excess > 0) return {"", " + …"};
    return {excess < 0 ? "≤ " : "≥ ", ""};
}

template <class Of>
std::string in_signs(const Amount& amount, const Of& cost) {
    const Signs signs = signs_of(amount, cost);
    return signs.before + ideal_text(amount, cost) + signs.after;
}

}  // namespace

Signs signs_of(const Amount& amount, const RegionCost& cost) {
    return signs_at(amount, cost.sizes);
}

Signs signs_of(const Amount& amount, const Cost& cost) {
    SymbolValues sizes;
    for (const RegionCost& region : cost.regions)
        sizes.insert(region.sizes.begin(), region.sizes.end());
    return signs_at(amount, sizes);
}

std::string text_beside_number(const Amount& amount, const RegionCost& cost) {
    return in_signs(amount, cost);
}

std::string text_beside_number(const Amount& amount, const Cost& cost) {
    return in_signs(amount, cost);
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

std::string print_table(const Cost& cost, const Machine* machine, std::size_t columns) {
    std::string text;
    for (const RegionCost& region : cost.regions) {
        text += region.name + "\n" + sizes_text("group", "group", region.groups, region.names) +
                sizes_text("stream", "chunk", region.streams, region.names) +
                columns_text(region, columns) + levels_text(region, columns) +
                arithmetic_text(region);
        if (machine != nullptr) text += time_text(region, *machine);
    }
    if (cost.regions.size() < 2) return text;
    text += "total\n";
    std::vector<Row> rows;
    for (const auto& [level, amount] : cost.transferred)
        rows.push_back({"H " + short_name(level), grouped(amount.values), bytes_text(amount),
                        text_beside_number(amount, cost)});
    text += aligned(rows);
    text += "  " + text_of(Operations{static_cast<double>(cost.operations)}) + " and " +
            grouped(cost.exponentials) + " exponentials\n";
    if (machine == nullptr) return text;
    const TimeEstimate time = time_of(cost, *machine);
    if (time.is_known())
        text += "  " + interval_text(time) + " on " + machine->name + "\n" +
                energy_text(time, *machine);
    return text;
}

}  // namespace napkin
