#include <nlohmann/json.hpp>

#include "cli/cost_text.h"
#include "cli/derivation_steps.h"
#include "cli/formula_json.h"
#include "cli/numbers.h"
#include "cli/picture.h"
#include "derive/accumulator_text.h"
#include "perfmodel/affine.h"
#include "perfmodel/bound.h"
#include "perfmodel/cost_table.h"
#include "perfmodel/pipelines.h"

namespace napkin::cli {
namespace {

Json json_of(const Figures& figures) {
    return Json{{"H_bytes", figures.transferred},
                {"M_bytes", figures.memory},
                {"time_us", Json{{"low", figures.time_low * kMicroseconds},
                                 {"high", figures.time_high * kMicroseconds}}},
                {"fits", figures.fits}};
}

/// Every size with its value, and with the tree that it follows from.
Json axes_of(const Diagram& diagram) {
    const SymbolNames names(diagram.axes);
    Json axes = Json::object();
    for (std::uint32_t i = 0; i < diagram.axes.size(); ++i)
        axes[diagram.axes[i].name] =
            Json{{"value", diagram.axes[i].extent},
                 {"size", tree_of(size_formula(diagram.axes, AxisId{i}), names)}};
    return axes;
}

/// The figures that times are made of, clocks resolved.
Json figures_json(const Machine& machine) {
    Json figures = Json::object();
    for (const auto& [key, figure] : machine.figures)
        figures[key] = machine.rate(key).value_or(figure.value);
    return figures;
}

Json pipelines_json(const RegionCost& region, const Machine& machine) {
    Json all = Json::array();
    for (const Pipeline& each : pipelines_of(region, machine))
        all.push_back(Json{{"name", each.name},
                           {"unit", each.unit},
                           {"figure", each.figure},
                           {"rate", each.rate},
                           {"least", tree_of(each.least_formula, region.names)},
                           {"most", tree_of(each.most_formula, region.names)}});
    return all;
}

Json product_of(const std::vector<Json>& factors) {
    Json tree = Json::array({"*"});
    for (const Json& factor : factors) tree.push_back(factor);
    return tree;
}

/// The least H of a kind in bits, over `M`, the bits that a block holds: perfmodel/best.cpp as a
/// tree.
Json best_tree(const TransferKind& kind, const RegionCost& region) {
    const auto tree = [&](const Polynomial& form) {
        return tree_of(form, region.names, region.order);
    };
    const auto call = [](const char* op, Json a, Json b) {
        return Json::array({op, std::move(a), std::move(b)});
    };
    std::vector<Json> axes;
    for (const auto& [group, exponent] : kind.groups)
        axes.emplace_back(region.names(axis_size(group.axis)));
    const Json product = call("min", call("/", "M", tree(kind.held)), product_of(axes));
    if (kind.share_of_product)
        return call("+", tree(kind.fixed), call("/", tree(*kind.share_of_product), product));
    const Json first = tree(kind.shares.begin()->second);
    const Json second = tree(kind.shares.rbegin()->second);
    const Json wanted =
        call("^", call("/", call("*", product, first), second), Json::array({"/", 1, 2}));
    const Json g = call("max", call("max", 1, call("/", product, axes[1])),
                        call("min", wanted, call("max", 1, call("min", axes[0], product))));
    return Json::array(
        {"+", tree(kind.fixed), call("/", first, g), call("/", call("*", second, g), product)});
}

Json best_json(const RegionCost& region) {
    const auto kind = kind_of(region);
    if (const NotApplicable* reason = std::get_if<NotApplicable>(&kind))
        return Json{{"none_known", reason->reason}};
    const TransferKind& known = std::get<TransferKind>(kind);
    return Json{{"bits", best_tree(known, region)},
                {"from_bits", tree_of(known.held, region.names, region.order)}};
}

Json region_json(const DerivedStep& step, std::size_t index, const RegionProgram& program,
                 const Machine& machine) {
    const RegionCost& region = step.cost.regions[index];
    Json json{{"name", region.name}};
    for (const auto& [symbol, value] : region.sizes) json["symbols"][region.names(symbol)] = value;
    for (const auto& [level, cost] : region.levels)
        json["levels"][std::string(name_of(level))] =
            Json{{"H", tree_of(cost.transferred, region.names, region.order, transfers_of(region))},
                 {"M", tree_of(cost.memory, region.names, region.order)},
                 {"A", tree_of(cost.allocated, region.names, region.order)}};
    json["operations"] = tree_of(region.formulas.operations, region.names);
    json["exponentials"] = tree_of(region.formulas.exponentials, region.names);
    json["blocks"] = tree_of(region.formulas.blocks, region.names);
    json["compulsory_bits"] = tree_of(region.formulas.compulsory_bits, region.names);
    json["open"] = Json::array();
    for (const Symbol symbol : region.formulas.open) json["open"].push_back(region.names(symbol));
    json["pipelines"] = pipelines_json(region, machine);
    const TimeEstimate time = time_of(region, machine);
    json["time_us"] = time_json(time);
    json["target"] = target_json(region);
    json["binds"] = binds_json(time);
    json["fits"] = excesses_of(region, machine).empty();
    json["best"] = best_json(region);
    json["accumulator"] = program.accumulator
                              ? accumulator_json(step.state.diagram, *program.accumulator)
                              : Json(nullptr);
    return json;
}

Json bound_json(const std::optional<TransferBound>& bound) {
    if (!bound) return nullptr;
    return Json{{"bytes", bound->bytes()}, {"citation", bound->citation}};
}

}  // namespace

Json accumulator_json(const Diagram& diagram, const Accumulator& accumulator) {
    const AccumulatorText text = text_of(diagram, accumulator);
    Json json{{"axes", text.axes}};
    for (const AccumulatorText::Section& section : text.sections)
        json[section.heading] = section.lines;
    return json;
}

Json model_json(const Diagram& plain, const DerivedStep& step, const Machine& machine) {
    const Result<TileProgram> program = expand(step.state, OpaqueBoxes::Keep);
    invariant(program.has_value(), "what was costed expands");
    const RegionCost& first = step.cost.regions.front();
    const Costed costed{plain, step.state, step.cost, &machine};
    Json json{{"H", tree_of(step.cost.transferred.at(Level::Block), first.names, first.order,
                            transfers_of(step.cost))}};
    const Ratios ratios = ratios_of(costed);
    json["bound"] = bound_json(ratios.bound);
    json["to_bound"] = ratios.to_bound ? Json(*ratios.to_bound) : Json(nullptr);
    json["to_best"] = ratios.to_best ? Json(*ratios.to_best) : Json(nullptr);
    if (!ratios.to_best) json["why_no_best"] = ratios.why_no_best;
    const TimeEstimate time = time_of(step.cost, machine);
    json["time_us"] = time_json(time);
    json["time_us"]["binds"] = binds_json(time);
    json["fits"] = capacity_warnings(costed).list.empty();
    for (std::size_t i = 0; i < step.cost.regions.size(); ++i)
        json["regions"].push_back(region_json(step, i, program->regions[i], machine));
    return json;
}

Json derivation_json(const Diagram& plain, const std::vector<DerivedStep>& steps,
                     const Machine& machine) {
    const Diagram& last = steps.back().state.diagram;
    Json json{{"ok", true}, {"diagram", last.name}, {"machine", machine.name}};
    json["axes"] = axes_of(last);
    json["figures"] = figures_json(machine);
    for (const DerivedStep& step : steps) {
        Json told{{"command", nullptr}};
        if (step.step() != nullptr)
            told = Json{{"command", step.typed()},
                        {"law", step.step()->law},
                        {"conditions", step.step()->conditions},
                        {"hazards", step.step()->hazards},
                        {"reasons", step.reasons}};
        told["figures"] = json_of(step.figures);
        told["model"] = model_json(plain, step, machine);
        json["steps"].push_back(std::move(told));
    }
    return json;
}

}  // namespace napkin::cli
