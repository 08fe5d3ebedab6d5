#include "cli/exporting.h"

#include <algorithm>

#include "cli/emission.h"
#include "cli/messages.h"
#include "cli/validation.h"
#include "codegen/export/messages.h"
#include "derive/proof/certificate.h"
#include "derive/proof/proof.h"
#include "derive/proof/shapes.h"
#include "derive/tile_program.h"
#include "derive/work.h"
#include "diagrams/gradient.h"

namespace napkin::cli {
namespace {

const std::string& find_text(const std::vector<ExportedFile>& files, const std::string& name) {
    return std::find_if(files.begin(), files.end(),
                        [&](const ExportedFile& file) { return file.name == name; })
        ->text;
}

/// The same derivation at other sizes; nothing where it does not go through there.
std::optional<State> state_at(Context& context, const Loaded& loaded, const Sizes& sizes) {
    Settings all;
    for (const auto& [axis, size] : sizes) all.emplace(axis, static_cast<double>(size));
    for (const auto& [name, value] : loaded.settings) all.emplace(name, value);
    const Result<Checked> checked = check_text(context, loaded.text, all);
    if (!checked) return std::nullopt;
    std::vector<Command> commands;
    for (const Step& step : loaded.state.steps) commands.push_back(step.command);
    Result<State> state = replay(checked->diagram, commands);
    if (!state) return std::nullopt;
    return std::move(state).value();
}

std::vector<SelfTestCase> make_cases(Context& context, const Loaded& loaded,
                                     const EmittedProgram& program) {
    std::vector<SelfTestCase> cases;
    for (const Sizes& sizes : self_test_sizes(loaded.state, program))
        if (const std::optional<State> state = state_at(context, loaded, sizes))
            cases.push_back(self_test_case(*state, program, context.arguments.seed));
    if (cases.empty())
        cases.push_back(self_test_case(loaded.state, program, context.arguments.seed));
    return cases;
}

/// Small sizes of a diagram's axes; none where there are none that suit it.
Sizes small_sizes(Context& context, const Loaded& loaded) {
    const Result<SetFile> set = parse_with_settings(context.sources, loaded.text, loaded.settings);
    if (!set) return {};
    const Result<std::vector<proof::Shape>> shapes =
        proof::choose_shapes({context.sources, set->tree, {}, {}, set->sizes});
    return shapes ? shapes->front().sizes : Sizes{};
}

/// The diagram at these sizes of the axes that it has; nothing where it does not go there, or that
/// is too much to evaluate a few times.
std::optional<Diagram> diagram_at(Context& context, const Loaded& loaded, const Sizes& sizes) {
    Settings settings = loaded.settings;
    for (const auto& [axis, size] : proof::own_sizes(loaded.plain))
        if (const auto same = sizes.find(axis); same != sizes.end())
            settings[axis] = static_cast<double>(same->second);
    Result<Checked> small = check_text(context, loaded.text, settings);
    constexpr double kMostPlaces = 1e6;
    if (!small || work_of(small->diagram).places > kMostPlaces) return std::nullopt;
    return std::move(small->diagram);
}

/// Both diagrams at small sizes, those of either telling what the other has too.
std::optional<std::pair<Diagram, Diagram>> small_diagrams(Context& context, const Loaded& forward,
                                                          const Loaded& backward) {
    const Sizes of_forward = small_sizes(context, forward);
    const Sizes of_backward = small_sizes(context, backward);
    for (const auto& [first, second] :
         {std::pair(of_forward, of_backward), std::pair(of_backward, of_forward)}) {
        Sizes sizes = first;
        sizes.insert(second.begin(), second.end());
        std::optional<Diagram> one = diagram_at(context, forward, sizes);
        std::optional<Diagram> other = diagram_at(context, backward, sizes);
        if (one && other) return std::pair(std::move(*one), std::move(*other));
    }
    return std::nullopt;
}

std::string sizes_text(const std::pair<Diagram, Diagram>& diagrams) {
    Sizes sizes = proof::own_sizes(diagrams.first);
    sizes.merge(proof::own_sizes(diagrams.second));
    std::string text;
    for (const auto& [axis, size] : sizes)
        text += (text.empty() ? "" : ", ") + axis + " = " + std::to_string(size);
    return text;
}

/// What is known of overflow. Sums over axes that a call sizes are longer where these are.
std::string safety_text(const Diagram& diagram, const TileProgram& program) {
    std::string text = describe(proof::check_safety(diagram, program, proof::kRealInputs));
    std::string sizes;
    for (const Axis& axis : diagram.axes)
        if (axis.dynamic)
            sizes +=
                (sizes.empty() ? " at " : ", ") + axis.name + " = " + std::to_string(axis.extent);
    return text + sizes;
}

ExportPart part_of(const ExportedProgram& part) {
    return {part.loaded.state, part.kernels, part.cases, part.options};
}

}  // namespace

Result<ExportedProgram> begin_export(Context& context, Loaded loaded) {
    if (!has_values(loaded.state.diagram)) return opaque_has_no_values();
    if (!context.arguments.name.empty()) loaded.state.diagram.name = context.arguments.name;
    if (const auto wrong = check_export_name(loaded.state.diagram.name)) return *wrong;
    const Result<TileProgram> tiles = expand(loaded.state);
    if (!tiles) return tiles.error();
    const Result<EmitOptions> emit_for = emit_options(context, loaded.hash);
    if (!emit_for) return emit_for.error();
    Result<ExportKernels> kernels = emit_for_export(*emit_for, [&](const EmitOptions& how) {
        return emit_chosen(context, loaded.state, *tiles, how);
    });
    if (!kernels) return kernels.error();
    ExportOptions options{NAPKIN_VERSION, context.sources.files[loaded.text].text, ""};
    options.safety = safety_text(loaded.state.diagram, *tiles);
    return ExportedProgram{std::move(loaded), std::move(kernels).value(), std::move(options)};
}

std::optional<Diagnostics> finish_export(Context& context, const std::vector<ExportedFile>& planned,
                                         ExportedProgram& part) {
    Result<ExportedImages> images =
        compile_images(part.kernels.program, find_text(planned, part.kernels.program.name + ".cu"),
                       context.arguments.cubins);
    if (!images) return images.error();
    part.options.images = std::move(images).value();
    Result<Clearance> clearance = clear(context, part.loaded);
    if (!clearance) return clearance.error();
    part.clearance = std::move(clearance).value();
    part.options.certificate = proof::certificate_hash(part.clearance.certificate);
    part.options.reservation = part.clearance.reservation;
    part.cases = make_cases(context, part.loaded, part.kernels.program);
    return std::nullopt;
}

Result<std::string> judge_gradient(Context& context, const ExportedProgram& forward,
                                   const ExportedProgram& backward) {
    const Loaded& first = forward.loaded;
    const Loaded& second = backward.loaded;
    const auto small = small_diagrams(context, first, second);
    if (!small) return std::string("is not compared with differences: no small sizes suit both");
    const std::string at = sizes_text(*small);
    const Result<GradientCheck> check =
        check_gradient(small->first, small->second, context.arguments.seed);
    if (!check) return "is not compared with differences: " + check.error().list.front().message;
    switch (check->verdict) {
    case GradientCheck::Verdict::Agrees: return "agrees with differences at " + at;
    case GradientCheck::Verdict::Undecided:
        return check->slope
                   ? "is undecided: differences by `" + check->slope->input + "` tell nothing at " +
                         at
                   : "is not compared with differences: arrays do not go together at " + at;
    case GradientCheck::Verdict::Differs: break;
    }
    if (context.arguments.unproved)
        return "disagrees with differences by `" + check->slope->input + "` at " + at +
               ", as `--unproved` lets it";
    return messages::no_gradient(second.plain.name, first.plain.name, *check->slope, at);
}

Result<std::vector<ExportedFile>> exported_files(const std::vector<ExportedProgram>& parts) {
    const ExportPart first = part_of(parts.front());
    const ExportPart last = part_of(parts.back());
    Result<std::vector<ExportedFile>> files =
        export_program(first, parts.size() == 1 ? nullptr : &last);
    if (!files) return files;
    for (const ExportedProgram& part : parts)
        if (!part.clearance.certificate.empty())
            files->push_back(
                {part.kernels.program.name + ".certificate.json", part.clearance.certificate});
    return files;
}

}  // namespace napkin::cli
