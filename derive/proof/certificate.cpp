#include "derive/proof/certificate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "derive/proof/certificate_json.h"
#include "derive/proof/residue.h"
#include "derive/proof/sha256.h"

namespace napkin::proof {
namespace {

constexpr std::string_view kFormat = "napkin certificate 1";
constexpr std::size_t kShortHash = 32;

/// Three digits, rounded up in size: what is printed is a bound too, and machines agree on it.
std::string rounded(double value) {
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (value == 0) return "0";
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 2);
    const double up = std::ceil(std::abs(value) / unit * (1 - 1e-9)) * unit;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g", std::copysign(up, value));
    return text.data();
}

std::string hex(std::uint64_t word) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(word));
    return text.data();
}

Json sizes_json(const Sizes& sizes) {
    Json json = Json::object();
    for (const auto& [name, size] : sizes) json[name] = size;
    return json;
}

std::string bare(Command command) {
    command.comment.clear();
    return print(command);
}

Json step_json(const Step& step) {
    const Command& command = step.command;
    Json bindings = Json::object();
    if (!command.names.empty()) bindings["names"] = command.names;
    if (!command.as.empty()) bindings["as"] = command.as;
    if (command.size) bindings["size"] = *command.size;
    if (!command.at.empty()) bindings["at"] = command.at;
    if (!command.to.empty()) bindings["to"] = command.to;
    if (!command.in.empty()) bindings["in"] = command.in;
    return Json{{"command", bare(command)},
                {"rule", command.rule},
                {"law", step.law},
                {"bindings", std::move(bindings)},
                {"conditions", step.conditions},
                {"hazards", step.hazards}};
}

void collect_visible(const RegionProgram& region, const std::vector<TileStatement>& body,
                     Json& out) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            collect_visible(region, parallel->body, out);
        if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
            for (const Expression& mask : loop->visible) {
                Json text = print(scope_of(region), mask);
                if (std::find(out.begin(), out.end(), text) == out.end())
                    out.push_back(std::move(text));
            }
            collect_visible(region, loop->body, out);
        }
    }
}

/// What a region's program relies on: which chunks it visits, and what its accumulator provides.
Json guard_json(const RegionProgram& region) {
    Json visible = Json::array();
    collect_visible(region, region.body, visible);
    Json provided = Json::array();
    if (region.accumulator)
        for (const std::string& condition : region.accumulator->conditions)
            provided.push_back(condition);
    return Json{{"region", region.name},
                {"visible", std::move(visible)},
                {"provided", std::move(provided)}};
}

Json relabelling_json(const State& state) {
    Json json = Json::array();
    for (const Region& region : state.relabelling.regions) {
        Json groups = Json::array();
        for (const Group& group : region.groups)
            groups.push_back(Json{{"axis", state.diagram[group.axis].name},
                                  {"by", group.size},
                                  {"level", name_of(group.level)}});
        Json streams = Json::array();
        for (const Stream& stream : region.streams)
            streams.push_back(Json{{"axis", state.diagram[stream.axis].name},
                                   {"by", stream.size},
                                   {"level", name_of(stream.level)}});
        json.push_back(Json{{"region", region_name(state.diagram, region)},
                            {"groups", std::move(groups)},
                            {"streams", std::move(streams)}});
    }
    return json;
}

Json identity_json(const Identity& identity) {
    Json trials = Json::array();
    for (const Trial& trial : identity.trials)
        trials.push_back(Json{{"seed", hex(trial.seed)}, {"digest", hex(trial.digest)}});
    return Json{{"output", identity.output},       {"elements", identity.elements},
                {"unclaimed", identity.unclaimed}, {"reading", print(identity.settings)},
                {"claim", claim_of(identity)},     {"bound", bound_text(identity)},
                {"trials", std::move(trials)}};
}

Json shape_json(const ProvedShape& proved) {
    Json commands = Json::array();
    for (const Command& command : proved.shape.commands) commands.push_back(bare(command));
    Json outputs = Json::array();
    for (const Identity& identity : proved.proof.identities)
        outputs.push_back(identity_json(identity));
    Json executions = Json::array();
    for (const Execution& execution : proved.proof.executions)
        executions.push_back(Json{{"scale", execution.scale}, {"agrees", execution.ok()}});
    return Json{{"sizes", sizes_json(proved.shape.sizes)},
                {"commands", std::move(commands)},
                {"outputs", std::move(outputs)},
                {"provenance", Json{{"elements", proved.proof.provenance.elements},
                                    {"same", proved.proof.provenance.same()}}},
                {"executions", std::move(executions)},
                {"program", program_json(proved.program)}};
}

Json safety_json(const Safety& safety) {
    Json exponents = Json::array();
    for (const ExponentBound& each : safety.exponents)
        exponents.push_back(Json{{"region", each.region},
                                 {"exponent", each.exponent},
                                 {"most", rounded(each.most)},
                                 {"safe", each.safe()}});
    Json arrays = Json::array();
    for (const ArrayRange& each : safety.arrays)
        arrays.push_back(Json{{"region", each.region},
                              {"array", each.array},
                              {"low", rounded(each.low)},
                              {"high", rounded(each.high)},
                              {"safe", each.safe()}});
    return Json{{"inputs", rounded(safety.range)},
                {"exponents", std::move(exponents)},
                {"arrays", std::move(arrays)}};
}

}  // namespace

std::string_view claim_of(const std::string& rung) {
    if (rung == "0")
        return "the diagram is well typed and every access is in bounds, at its sizes and at those "
               "below";
    if (rung == "1") return "every step's rule applies, and its side conditions were checked";
    if (rung == "2")
        return "at the shapes and tile sizes below, the tile program computes the diagram's "
               "outputs "
               "in exact arithmetic modulo p and q, as read below, up to the probability below; "
               "nothing is claimed of rows on which nothing is visible, of rounding, of overflow, "
               "or of other shapes";
    return "at the shapes below, executed in double on random inputs of the scales below, the tile "
           "program agrees with the diagram wherever the diagram's own form stays in range, and "
           "writes every output element once";
}

std::string claim_of(const Identity& identity) {
    const std::string cells = "for points that compare as the drawn ones do";
    const std::string also = identity.compared ? ", " + cells : "";
    switch (identity.settings.choices) {
    case Choices::Gauges: return "for any values in place of the maxima" + also;
    case Choices::FreeMonoids:
        return "for maxima and users' monoids taken as any commutative monoid (or any, where the "
               "order is kept)" +
               also;
    case Choices::Cells: return cells;
    }
    return "";
}

std::string bound_text(const Identity& identity) {
    if (!identity.degree) return "no bound";
    return rounded(std::max(1.0, *identity.degree)) + "/" + std::to_string(InQ::kModulus);
}

Json certificate_json(const Proof& proof) {
    Json steps = Json::array();
    for (const Step& step : proof.state.steps) steps.push_back(step_json(step));
    Json guards = Json::array();
    for (const RegionProgram& region : proof.program.regions) guards.push_back(guard_json(region));
    Json shapes = Json::array();
    for (const ProvedShape& shape : proof.shapes) shapes.push_back(shape_json(shape));
    Json rungs = Json::array();
    for (const std::string& rung : proof.rungs())
        rungs.push_back(Json{{"rung", rung}, {"claim", claim_of(rung)}});
    return Json{{"format", kFormat},
                {"diagram", Json{{"name", proof.state.diagram.name}, {"text", proof.diagram_text}}},
                {"sizes", sizes_json(proof.sizes)},
                {"derivation",
                 Json{{"hash", derivation_hash(proof.diagram_text, proof.sizes, proof.state.steps)},
                      {"steps", std::move(steps)}}},
                {"relabelling", relabelling_json(proof.state)},
                {"guards", std::move(guards)},
                {"fields", Json{{"p", InP::kModulus}, {"q", InQ::kModulus}}},
                {"seed", proof.options.seed},
                {"trials", proof.options.trials},
                {"fixed", sizes_json(proof.fixed)},
                {"shapes", std::move(shapes)},
                {"safety", safety_json(proof.safety)},
                {"rungs", std::move(rungs)}};
}

std::string hash_of(Json certificate) {
    certificate.erase("hash");
    return sha256(certificate.dump());
}

std::string certificate_text(const Proof& proof) {
    Json json = certificate_json(proof);
    json["hash"] = hash_of(json);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string certificate_hash(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("hash") || !json["hash"].is_string()) return "";
    return json["hash"].get<std::string>();
}

std::string derivation_hash(const std::string& diagram_text, const Sizes& sizes,
                            std::span<const Step> steps) {
    Json commands = Json::array();
    for (const Step& step : steps) commands.push_back(bare(step.command));
    const Json subject{{"diagram", diagram_text},
                       {"sizes", sizes_json(sizes)},
                       {"derivation", std::move(commands)}};
    return sha256(subject.dump(-1, ' ', false, Json::error_handler_t::replace))
        .substr(0, kShortHash);
}

}  // namespace napkin::proof
