#include <nlohmann/json.hpp>

#include "cli/cost_text.h"
#include "cli/numbers.h"

namespace napkin::cli {
namespace {

/// Amounts with their formulas, in which axes stand as declared.
class AmountJson {
public:
    explicit AmountJson(const Diagram& diagram) : names_(diagram.axes) {
        for (std::uint32_t i = 0; i < diagram.axes.size(); ++i)
            order_.push_back(axis_size(AxisId{i}));
    }
    Json operator()(const Amount& amount) const {
        Json json{{"values", amount.values}, {"bytes", amount.bytes()}};
        json["ideal"] =
            amount.ideal ? Json(print_arithmetic(*amount.ideal, names_, order_)) : Json(nullptr);
        json["formula"] = print(amount.formula, names_);
        return json;
    }

private:
    SymbolNames names_;
    std::vector<Symbol> order_;
};

Json json_of(const std::vector<SizeInUse>& sizes) {
    Json json = Json::array();
    for (const SizeInUse& size : sizes)
        json.push_back(Json{{"axis", size.axis},
                            {"level", name_of(size.level)},
                            {"size", size.size},
                            {"count", size.count}});
    return json;
}

/// Null where the machine lacks a figure for it.
Json joules_json(const TimeEstimate& time) {
    if (!time.is_known() || !time.energy.unknown.empty()) return nullptr;
    return Json{{"low", time.energy.low}, {"high", time.energy.high}};
}

Json json_of(const Costed& costed, std::size_t index, const AmountJson& amount_json) {
    const RegionCost& region = costed.cost.regions[index];
    const Diagram& diagram = costed.state.diagram;
    Json json{{"name", region.name}};
    json["statements"] = Json::array();
    for (const StatementId id : costed.state.relabelling.regions[index].statements)
        for (const ArrayId target : diagram[id].targets)
            json["statements"].push_back(diagram[target].name);
    json["groups"] = json_of(region.groups);
    json["streams"] = json_of(region.streams);
    for (const auto& [level, cost] : region.levels)
        json["levels"][std::string(name_of(level))] = Json{{"H", amount_json(cost.transferred)},
                                                           {"M", amount_json(cost.memory)},
                                                           {"A", amount_json(cost.allocated)}};
    json["flops"] = region.arithmetic.operations;
    json["exps"] = region.arithmetic.exponentials;
    json["blocks"] = region.blocks;
    json["chunks"] = Json{{"visited", region.chunks_visited},
                          {"all", region.chunks},
                          {"data_decides", region.data_decides}};
    if (costed.machine != nullptr) {
        const TimeEstimate time = time_of(region, *costed.machine);
        json["time_us"] = time_json(time);
        json["joules"] = joules_json(time);
        json["target"] = target_json(region);
        json["binds"] = binds_json(time);
        json["waves"] = time.is_known() ? Json(time.waves) : Json(nullptr);
        json["fits"] = excesses_of(region, *costed.machine).empty();
    }
    return json;
}

}  // namespace

Json time_json(const TimeEstimate& time) {
    return Json{{"low", time.low.value * kMicroseconds}, {"high", time.high.value * kMicroseconds}};
}

Json binds_json(const TimeEstimate& time) {
    return time.is_known() ? Json(time.bound_by()) : Json(nullptr);
}

Json target_json(const RegionCost& region) {
    return region.work && !region.work->target.empty() ? Json(region.work->target) : Json(nullptr);
}

Json cost_json(const Costed& costed) {
    const AmountJson amount_json(costed.state.diagram);
    Json json{{"ok", true}, {"diagram", costed.state.diagram.name}};
    for (const Axis& axis : costed.state.diagram.axes) json["sizes"][axis.name] = axis.extent;
    for (std::size_t i = 0; i < costed.cost.regions.size(); ++i)
        json["regions"].push_back(json_of(costed, i, amount_json));
    Json total;
    for (const auto& [level, amount] : costed.cost.transferred)
        total["levels"][std::string(name_of(level))]["H"] = amount_json(amount);
    total["flops"] = costed.cost.operations;
    total["exps"] = costed.cost.exponentials;
    if (costed.machine != nullptr) {
        json["machine"] = costed.machine->name;
        const TimeEstimate time = time_of(costed.cost, *costed.machine);
        total["time_us"] = time_json(time);
        total["joules"] = joules_json(time);
    }
    const Ratios ratios = ratios_of(costed);
    if (ratios.to_bound) total["to_bound"] = *ratios.to_bound;
    if (ratios.to_best) total["to_best"] = *ratios.to_best;
    json["total"] = total;
    return json;
}

}  // namespace napkin::cli
