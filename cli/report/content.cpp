#include "cli/report/content.h"

#include <nlohmann/json.hpp>

#include "cli/clearance.h"
#include "cli/emission.h"
#include "cli/numbers.h"
#include "cli/picture.h"
#include "cli/report/linked_text.h"
#include "cli/report/pairs.h"
#include "cli/workbench.h"
#include "diagrams/drawing/svg_tags.h"
#include "diagrams/graphviz/overview.h"
#include "search/suggest.h"

namespace napkin::cli {
namespace {

constexpr double kPictureWidth = 500;  // in points: a column of the page

/// A picture of all, or an overview and one of each kernel.
Result<std::vector<drawing::Canvas>> pictures_of(const Context& context, const DerivedStep& step) {
    PictureOptions options;
    options.max_width = kPictureWidth;
    options.levels = false;
    options.sources = &context.sources;
    const Relabelling& relabelling = step.state.relabelling;
    const std::size_t kernels = relabelling.regions.size();
    std::vector<drawing::Canvas> pictures;
    if (kernels > 1) {
        Result<drawing::Canvas> overview =
            drawing::draw_overview(step.state.diagram, relabelling, kPictureWidth);
        if (!overview) return overview.error();
        drawing::fit(*overview, drawing::kMargin);
        overview->title = "kernels and what flows between them";
        pictures.push_back(std::move(*overview));
    }
    for (std::size_t kernel = 0; kernel < kernels; ++kernel) {
        if (kernels > 1) options.kernel = kernel;
        Result<drawing::Canvas> picture = picture_of(step.state, step.cost, options);
        if (!picture) return picture.error();
        pictures.push_back(std::move(*picture));
    }
    return pictures;
}

/// Of all pictures together, what their colours mean.
drawing::Canvas legend_of(const std::vector<drawing::Canvas>& pictures, double width) {
    drawing::Canvas legend = drawing::draw_levels(pictures);
    drawing::fit(legend, drawing::kMargin);
    legend.title = "the levels of memory";
    legend.width = width;
    return legend;
}

using PicturesOfSteps = std::vector<std::vector<drawing::Canvas>>;

/// On canvases of one width, so that nothing moves that does not change.
Result<PicturesOfSteps> pictures_of(const Context& context, const std::vector<DerivedStep>& steps) {
    PicturesOfSteps all;
    double width = 0;
    for (const DerivedStep& step : steps) {
        Result<std::vector<drawing::Canvas>> pictures = pictures_of(context, step);
        if (!pictures) return pictures.error();
        for (const drawing::Canvas& picture : *pictures) width = std::max(width, picture.width);
        all.push_back(std::move(*pictures));
    }
    for (std::vector<drawing::Canvas>& pictures : all)
        for (drawing::Canvas& picture : pictures) picture.width = width;
    return all;
}

/// Of a region; where it streams nothing, all that it computes in the same form.
Accumulator accumulator_of(const State& state, std::size_t region, const RegionProgram& program) {
    if (program.accumulator) return *program.accumulator;
    Accumulator at_once;
    for (const StatementId id : state.relabelling.regions[region].statements)
        at_once.body.push_back(state.diagram[id]);
    return at_once;
}

Result<StepPage> page_of(const Context& context, const Machine& machine, const DerivedStep& step,
                         const std::vector<drawing::Canvas>& pictures) {
    const Result<TileProgram> program = expand(step.state, OpaqueBoxes::Keep);
    if (!program) return program.error();
    const Links links(step.state, *program, context.sources);
    StepPage page;
    for (const drawing::Canvas& picture : pictures)
        page.pictures.push_back(drawing::render_svg_part(picture));
    page.legend = drawing::render_svg_part(legend_of(pictures, pictures.front().width));
    page.tile = links.tile_program(print(*program, context.sources));
    page.words = links.words();
    page.accumulators = Json::array();
    for (std::size_t i = 0; i < program->regions.size(); ++i)
        page.accumulators.push_back(accumulator_json(
            step.state.diagram, accumulator_of(step.state, i, program->regions[i])));
    const Result<Suggestions> moves = suggest(step.state, machine, 1);
    if (!moves) return moves.error();
    for (const Refusal& refusal : moves->refused)
        page.refused.emplace_back(print(refusal.move), refusal.reason);
    return page;
}

/// Whether the arguments say how kernels are made: what is wrong with that is an error, as it is of
/// `emit`.
bool asks_for_kernels(const Arguments& arguments) {
    return !arguments.target.empty() || arguments.threads != 0 || !arguments.schedule.empty() ||
           !arguments.certificate.empty() || arguments.arch != Arguments().arch;
}

/// The kernels as `emit` writes them; where nothing was asked of them, else why there are none.
std::optional<Diagnostics> add_kernels(Context& context, const Loaded& loaded, ReportPage& page) {
    const auto sources_of = [&]() -> Result<std::string> {
        const Result<TileProgram> program = expand(loaded.state);
        if (!program) return program.error();
        const Result<Cleared> cleared = emit_cleared(context, loaded, *program);
        if (!cleared) return cleared.error();
        std::string text;
        for (const EmittedKernel& kernel : cleared->program.kernels) text += kernel.source + "\n";
        return Links(loaded.state, *program, context.sources).kernel(text);
    };
    Result<std::string> kernels = sources_of();
    if (kernels) {
        page.kernels = std::move(*kernels);
        return std::nullopt;
    }
    if (asks_for_kernels(context.arguments)) return kernels.error();
    const Diagnostic& why = kernels.error().list.front();
    page.why_no_kernels = "No kernels: " + why.message + (why.help.empty() ? "" : "; " + why.help);
    return std::nullopt;
}

/// The sliders, and what is known of time where they stand.
void add_what_if(Context& context, const Loaded& loaded, const DerivedStep& last,
                 const Machine& machine, Json& data) {
    WhatIf what{loaded, last, machine, Variants(context, loaded, last, machine)};
    std::vector<Slider> sliders = sliders_of(what);
    data["pairs"] = pairs_of(what, sliders);
    data["sliders"] = Json::array();
    for (Slider& slider : sliders) data["sliders"].push_back(std::move(slider.json));
    const std::vector<bool> all(last.cost.regions.size(), true);
    data["times"] = Json{{"now", what.timings_of(last.cost, all, machine)},
                         {"launch_us", launch_us(machine)},
                         {"units", what.timings.units()}};
}

Json data_of(Context& context, const Loaded& loaded, const std::vector<DerivedStep>& steps,
             const Machine& machine) {
    Json data = derivation_json(loaded.plain, steps, machine);
    data["model"] = std::move(data["steps"].back()["model"]);
    for (Json& step : data["steps"]) step = Json{{"figures", step["figures"]}};
    data["machine"] =
        context.arguments.machine.empty() ? kDefaultMachine : context.arguments.machine;
    data["file"] = context.arguments.file;
    data["derivation_file"] = context.arguments.derivation;
    data["commands"] = Json::array();
    for (const Command& command : commands_of(loaded.state))
        data["commands"].push_back(typed_text(command));
    add_what_if(context, loaded, steps.back(), machine, data);
    return data;
}

}  // namespace

Result<ReportPage> report_of(Context& context, const Loaded& loaded,
                             const std::vector<DerivedStep>& steps, const Machine& machine) {
    ReportPage page;
    if (const auto wrong = add_kernels(context, loaded, page)) return *wrong;
    page.title = loaded.plain.name;
    const auto told = [](const DerivedStep& step) {
        return bytes_text(step.figures.transferred) + " transferred in " +
               typeset_times(step.figures) + (step.figures.fits ? "" : ": there is no such kernel");
    };
    page.summary = "on " + drawing::xml_escaped(machine.title) + ": " +
                   (steps.size() == 1 ? told(steps.front())
                                      : "as it is written " + told(steps.front()) +
                                            "; as derived " + told(steps.back()));
    const Result<PicturesOfSteps> pictures = pictures_of(context, steps);
    if (!pictures) return pictures.error();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        Result<StepPage> step = page_of(context, machine, steps[i], (*pictures)[i]);
        if (!step) return step.error();
        page.steps.push_back(std::move(*step));
    }
    page.diagram = drawing::xml_escaped(context.sources.files[loaded.text].text);
    page.data = data_of(context, loaded, steps, machine);
    for (const StepPage& step : page.steps) page.data["words"].merge_patch(step.words);
    page.footer =
        "napkin " NAPKIN_VERSION ", derivation <code>" + loaded.hash +
        "</code>. Times are those of <code>napkin cost</code>: a model, judged by measurements.";
    return page;
}

}  // namespace napkin::cli
