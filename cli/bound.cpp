// bound: what no schedule can go below, and the best of a derivation's kind.
#include "perfmodel/bound.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/cost_text.h"
#include "cli/lines.h"
#include "cli/machines.h"
#include "cli/numbers.h"
#include "cli/picture.h"
#include "cli/session.h"
#include "perfmodel/hierarchy.h"

namespace napkin::cli {
namespace {

std::string text_of(const Ratios& ratios, const std::string& machine) {
    std::string text;
    if (ratios.bound)
        text += "bound  " +
                (ratios.bound->values > 0 ? grouped(ratios.bound->values) + " values, " : "") +
                bytes_text(static_cast<double>(ratios.bound->bytes())) + ": " +
                ratios.bound->citation + "\n";
    if (ratios.to_bound)
        text += "       this derivation transfers " + as_many_text(*ratios.to_bound) + "\n";
    if (ratios.to_best)
        text += "best   " + bytes_text(ratios.best->bits / 8) + " in a block of " + machine + ": " +
                ratios.best->formula + ", " + ratios.best->validity +
                "\n       this derivation transfers " + as_many_text(*ratios.to_best) + "\n";
    else
        text += "best   none known of this derivation: " + ratios.why_no_best + "\n";
    return text;
}

/// Where arrays are, as a sentence has it.
const char* place_of(Level level) {
    switch (level) {
    case Level::Device: return "device memory";
    case Level::Cache: return "the cache";
    case Level::Cluster: return "a cluster";
    case Level::Block: return "shared memory";
    case Level::Warps: return "registers";
    case Level::Thread: return "registers of a thread";
    }
    return "";
}

/// Rows of columns, as wide as what they hold.
std::string table_of(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const std::vector<std::string>& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const std::vector<std::string>& row : rows) {
        std::string line = "  ";
        for (std::size_t i = 0; i < row.size(); ++i) line += padded(row[i], widths[i] + 2);
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string saved_text(Seconds saved) {
    return (saved.value < 0 ? "costs " : "saves ") + time_text(std::abs(saved.value));
}

std::string text_of(const Hierarchy& hierarchy) {
    std::string text = "levels, each with the best groups for what it holds\n";
    std::vector<std::vector<std::string>> rows = {{"into", "holds", "transfers", "from", "cost"}};
    for (const LevelTransfers& level : hierarchy.levels)
        rows.push_back(
            {place_of(level.into),
             bytes_text(level.held.value) +
                 (level.blocks > 1 ? fmt::format(", in {} blocks", level.blocks) : ""),
             bytes_text(level.transferred.value),
             fmt::format("{}, {}", place_of(level.from), bytes_text(level.rate.value) + "/s"),
             time_text(level.cost().value)});
    rows.push_back({"all", "", "", "", time_text(hierarchy.cost.value)});
    text += table_of(rows);
    if (!hierarchy.clusters.empty()) {
        text += "clusters, whose blocks read from each other what one of them holds\n";
        rows = {{"blocks", "from outside", "between them"}};
        for (const auto& [level, saved] : hierarchy.clusters.front().saved)
            rows.front().push_back(std::string("beside ") + place_of(level));
        for (const ClusterTransfers& cluster : hierarchy.clusters) {
            rows.push_back({std::to_string(cluster.blocks), bytes_text(cluster.outside.value),
                            fmt::format("{}, {}", bytes_text(cluster.between.value),
                                        bytes_text(cluster.rate.value) + "/s")});
            for (const auto& [level, saved] : cluster.saved)
                rows.back().push_back(saved_text(saved));
        }
        text += table_of(rows);
    }
    if (!hierarchy.halved.empty()) {
        text += "values half as wide, were all of one width\n";
        rows.clear();
        for (const HalvedTerm& term : hierarchy.halved)
            rows.push_back({term.term, three_digits(term.fewer) + " times fewer bytes"});
        text += table_of(rows);
    }
    return text;
}

Json json_of(const Hierarchy& hierarchy) {
    Json json{{"levels", Json::array()}, {"clusters", Json::array()}, {"halved", Json::array()}};
    for (const LevelTransfers& level : hierarchy.levels)
        json["levels"].push_back(Json{{"into", name_of(level.into)},
                                      {"from", name_of(level.from)},
                                      {"blocks", level.blocks},
                                      {"held", level.held.value},
                                      {"bytes", level.transferred.value},
                                      {"bytes_a_second", level.rate.value},
                                      {"cost_us", level.cost().value * 1e6}});
    json["cost_us"] = hierarchy.cost.value * 1e6;
    for (const ClusterTransfers& cluster : hierarchy.clusters) {
        Json one{{"blocks", cluster.blocks},
                 {"outside", cluster.outside.value},
                 {"between", cluster.between.value},
                 {"bytes_a_second", cluster.rate.value},
                 {"saved_us", Json::object()}};
        for (const auto& [level, saved] : cluster.saved)
            one["saved_us"][std::string(name_of(level))] = saved.value * 1e6;
        json["clusters"].push_back(std::move(one));
    }
    for (const HalvedTerm& term : hierarchy.halved)
        json["halved"].push_back(Json{{"term", term.term}, {"times_fewer", term.fewer}});
    return json;
}

}  // namespace

Result<int> run_bound(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Machine> machine = take_machine(
        context.sources, arguments.machine.empty() ? kDefaultMachine : arguments.machine);
    if (!machine) return machine.error();
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    const Result<Cost> cost = cost_of_state(loaded->state);
    if (!cost) return cost.error();
    const Ratios ratios = ratios_of({loaded->plain, loaded->state, *cost, &*machine});
    std::optional<Hierarchy> hierarchy;
    if (arguments.levels && cost->regions.size() == 1)
        if (auto found = hierarchy_of(cost->regions.front(), *machine);
            Hierarchy* known = std::get_if<Hierarchy>(&found))
            hierarchy = std::move(*known);
    if (!arguments.json) {
        std::string levels = hierarchy ? text_of(*hierarchy) : "";
        if (arguments.levels && !hierarchy)
            levels = "levels none, since no best of this derivation is known\n";
        print_lines(text_of(ratios, machine->name) + levels);
        return kOk;
    }
    Json json{{"ok", true}, {"machine", machine->name}};
    if (ratios.bound)
        json["bound"] =
            Json{{"bytes", ratios.bound->bytes()}, {"citation", ratios.bound->citation}};
    if (ratios.bound && ratios.bound->values > 0) json["bound"]["values"] = ratios.bound->values;
    if (ratios.to_bound) json["to_bound"] = *ratios.to_bound;
    if (ratios.to_best)
        json["best"] = Json{{"bytes", ratios.best->bits / 8},
                            {"formula", ratios.best->formula},
                            {"validity", ratios.best->validity},
                            {"ratio", *ratios.to_best}};
    else
        json["none_known"] = ratios.why_no_best;
    if (hierarchy) json.update(json_of(*hierarchy));
    print_data(text_of(json));
    return kOk;
}

}  // namespace napkin::cli
