// mask: what the masks of a derivation leave to compute.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/mask_text.h"
#include "cli/messages.h"
#include "cli/session.h"
#include "derive/tile_program.h"
#include "diagrams/checked.h"
#include "perfmodel/cost.h"

namespace napkin::cli {
namespace {

/// Nullopt where the kernel has no cost that fits.
Result<MaskBytes> bytes_of(const State& state, std::size_t region) {
    const Region& kernel = state.relabelling.regions[region];
    const Result<RegionProgram> program = expand(state, kernel, OpaqueBoxes::Keep);
    if (!program) return program.error();
    const Result<RegionCost> cost = quick_cost_of(*program);
    if (!cost) return cost.error();
    MaskBytes bytes;
    if (const auto block = cost->levels.find(Level::Block); block != cost->levels.end())
        bytes.total = block->second.transferred.bytes();
    for (const Group& group : kernel.groups)
        if (state.diagram[group.axis].woven)
            bytes.heads = saturating_multiply(bytes.heads, state.diagram[group.axis].extent);
    return bytes;
}

}  // namespace

Result<int> run_mask(Context& context) {
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    const State& state = loaded->state;
    const Result<std::vector<MaskReport>> reports = mask_reports(state);
    if (!reports) return reports.error();
    if (reports->empty()) return Diagnostics{{no_mask(state.diagram.name)}};
    Json json{{"ok", true}, {"masks", Json::array()}};
    std::string text;
    for (const MaskReport& report : *reports) {
        const Result<MaskBytes> bytes = bytes_of(state, report.region);
        if (!bytes) return bytes.error();
        if (context.arguments.json)
            json["masks"].push_back(mask_json(state, report, *bytes));
        else
            text += mask_text(state, report, *bytes);
    }
    print_data(context.arguments.json ? text_of(json) : text);
    return kOk;
}

}  // namespace napkin::cli
