#include "cli/exporting.h"

#include <algorithm>

#include "cli/emission.h"
#include "cli/memory.h"
#include "cli/messages.h"
#include "cli/validation.h"
#include "derive/proof/certificate.h"
#include "derive/proof/proof.h"
#include "derive/tile_program.h"

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

/// The derivation at the sizes of each case.
std::vector<State> states_of_cases(Context& context, const Loaded& loaded,
                                   const EmittedProgram& program) {
    std::vector<State> states;
    for (const Sizes& sizes : self_test_sizes(loaded.state, program))
        if (std::optional<State> state = state_at(context, loaded, sizes))
            states.push_back(std::move(*state));
    if (states.empty()) states.push_back(loaded.state);
    return states;
}

std::vector<SelfTestCase> make_cases(Context& context, const Loaded& loaded,
                                     const EmittedProgram& program) {
    std::vector<SelfTestCase> cases;
    for (const State& state : states_of_cases(context, loaded, program))
        cases.push_back(self_test_case(state, program, context.arguments.seed));
    return cases;
}

/// Where the inputs of a case, which are made whole, exceed the memory.
std::optional<Diagnostic> excess_of_case(const Diagram& diagram) {
    double values = 0;
    const Axis* longest = nullptr;
    for (const Array& array : diagram.arrays) {
        if (array.role != ArrayRole::Input) continue;
        double size = 1;
        for (const AxisId id : array.axes) {
            const Axis& axis = diagram[id];
            size *= static_cast<double>(axis.extent);
            if (longest == nullptr || axis.extent > longest->extent) longest = &axis;
        }
        values += size;
    }
    const double left = memory_left();
    if (longest == nullptr || values * sizeof(double) <= left) return std::nullopt;
    return self_test_too_large(values * sizeof(double), left, longest->name);
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
    for (const State& state : states_of_cases(context, loaded, kernels->program))
        if (const auto excess = excess_of_case(state.diagram)) return *excess;
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
