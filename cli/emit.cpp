#include "codegen/emit.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/clearance.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/emission.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/messages.h"
#include "cli/session.h"
#include "codegen/run/compile.h"
#include "derive/tile_program.h"

namespace napkin::cli {
namespace {

/// What was made of one region.
struct Artefact {
    const EmittedKernel* kernel = nullptr;
    std::int64_t blocks = 0;
    std::string bytes;
    std::optional<CompiledKernel> compiled;
    std::string file;  ///< where it was written, if anywhere
};

/// `out/attention.cu` of the region `S`: `out/attention.S.cu`.
std::string file_of_region(const std::string& path, const std::string& region) {
    const std::size_t slash = path.rfind('/');
    const std::size_t dot = path.rfind('.');
    const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
    const std::size_t at = has_ending ? dot : path.size();
    return path.substr(0, at) + "." + region + path.substr(at);
}

std::optional<Diagnostic> write(const Arguments& arguments, std::vector<Artefact>& artefacts) {
    if (!arguments.output.empty() && arguments.output != "-") {
        for (Artefact& artefact : artefacts) {
            artefact.file = artefacts.size() == 1
                                ? arguments.output
                                : file_of_region(arguments.output, artefact.kernel->region);
            if (auto failure = write_file(artefact.file, artefact.bytes)) return failure;
        }
        return std::nullopt;
    }
    if (arguments.json) return std::nullopt;
    for (const Artefact& artefact : artefacts) print_bytes(artefact.bytes);
    return std::nullopt;
}

Json json_of(const Artefact& artefact) {
    const EmittedKernel& kernel = *artefact.kernel;
    Json json{{"name", kernel.name},           {"region", kernel.region},
              {"target", kernel.target},       {"threads", kernel.threads},
              {"blocks", artefact.blocks},     {"shared", kernel.shared_bytes},
              {"size", artefact.bytes.size()}, {"choices", to_json(kernel.choices)}};
    for (const SharedTile& tile : kernel.shared)
        json["tiles"].push_back(
            Json{{"name", tile.name}, {"offset", tile.offset}, {"bytes", tile.bytes}});
    if (const std::optional<CompiledKernel>& compiled = artefact.compiled) {
        json["architecture"] = compiled->architecture;
        json["compiler"] = compiled->compiler;
        json["image"] = compiled->image == KernelImage::Cubin ? "cubin" : "ptx";
        if (compiled->registers) json["registers"] = *compiled->registers;
        if (compiled->spill_stores)
            json["spills"] = *compiled->spill_stores + compiled->spill_loads.value_or(0);
        if (compiled->stack) json["stack"] = *compiled->stack;
    }
    if (!artefact.file.empty()) json["file"] = artefact.file;
    return json;
}

std::string line_of(const Artefact& artefact) {
    const EmittedKernel& kernel = *artefact.kernel;
    std::string line = kernel.name + ": " + std::to_string(artefact.blocks) +
                       (kernel.persistent ? " tiles, in blocks of " : " blocks of ") +
                       std::to_string(kernel.threads) + " threads, " +
                       std::to_string(kernel.shared_bytes) + " bytes of shared memory";
    if (const std::optional<CompiledKernel>& compiled = artefact.compiled) {
        if (compiled->registers)
            line += ", " + std::to_string(*compiled->registers) + " registers a thread";
        if (compiled->spill_stores)
            line += ", " +
                    std::to_string(*compiled->spill_stores + compiled->spill_loads.value_or(0)) +
                    " bytes of spills";
        line += " (" + compiled->architecture + ", " + compiled->compiler + ")";
    }
    return line + (artefact.file.empty() ? "" : " -> " + artefact.file) + "\n";
}

Result<std::vector<Artefact>> make(const Arguments& arguments, const State& state,
                                   const EmittedProgram& program) {
    std::vector<std::int64_t> extents;
    for (const Axis& axis : state.diagram.axes) extents.push_back(axis.extent);
    CompileOptions options;
    options.architecture = arguments.arch;
    options.image = arguments.as == "ptx" ? KernelImage::Ptx : KernelImage::Cubin;
    const bool is_printed =
        !arguments.json && (arguments.output.empty() || arguments.output == "-");
    if (is_printed && arguments.as == "cubin" && program.kernels.size() > 1)
        return several_cubins(program.kernels.size());
    std::vector<Artefact> artefacts;
    for (const EmittedKernel& kernel : program.kernels) {
        Artefact artefact{&kernel, blocks_of(kernel, extents), kernel.source, std::nullopt, ""};
        if (arguments.as != "cuda") {
            Result<CompiledKernel> compiled = compile(kernel, options);
            if (!compiled) return compiled.error();
            artefact.bytes = std::move(compiled->bytes);
            artefact.compiled = std::move(compiled).value();
        }
        artefacts.push_back(std::move(artefact));
    }
    return artefacts;
}

/// What was chosen, as `--schedule` reads it, and below as a comment what comes of it.
std::string schedule_text(const EmittedKernel& kernel) {
    std::string text;
    for (const std::string& line : schedule::print(kernel.choices, kernel.region))
        text += line + "\n";
    std::istringstream program(
        kernel.passes.empty()
            ? fmt::format("region {}: {} does everything in order", kernel.region, kernel.target)
            : kernel.scheduled());
    for (std::string line; std::getline(program, line);) text += "# " + line + "\n";
    return text;
}

/// The scheduled program after one pass.
std::string text_after(const EmittedKernel& kernel, const std::string& pass) {
    for (const auto& [name, text] : kernel.passes)
        if (name == pass) return text;
    return "";
}

/// The schedules of the kernels, as they would be lowered.
Result<int> emit_schedules(Context& context, const Loaded& loaded, const TileProgram& tiles) {
    const Arguments& arguments = context.arguments;
    const Result<EmitOptions> options = emit_options(context, loaded.hash);
    if (!options) return options.error();
    const Result<EmittedProgram> emission = emit_chosen(context, loaded.state, tiles, *options);
    if (!emission) return emission.error();
    tell_target(context, *emission);
    Json json{{"ok", true}, {"as", arguments.as}};
    json.update(to_json(*emission));
    std::string text;
    for (const EmittedKernel& kernel : emission->kernels) {
        if (!arguments.after.empty() && kernel.passes.empty())
            return no_passes(kernel.region, kernel.target);
        const std::string schedule =
            arguments.after.empty() ? schedule_text(kernel) : text_after(kernel, arguments.after);
        text += (text.empty() ? "" : "\n") + schedule;
        json["kernels"].push_back(Json{{"region", kernel.region},
                                       {"target", kernel.target},
                                       {"threads", kernel.threads},
                                       {"shared_bytes", kernel.shared_bytes},
                                       {"choices", to_json(kernel.choices)},
                                       {"schedule", schedule}});
    }
    const bool to_standard_output = arguments.output.empty() || arguments.output == "-";
    if (!arguments.json || !to_standard_output)
        if (const auto failure = write_data(arguments.output, text)) return *failure;
    if (arguments.json) print_data(text_of(json));
    return kOk;
}

Result<int> emit_kernels(Context& context, const Loaded& loaded, const TileProgram& tiles) {
    const Arguments& arguments = context.arguments;
    const Result<Cleared> cleared = emit_cleared(context, loaded, tiles);
    if (!cleared) return cleared.error();
    const EmittedProgram& emission = cleared->program;
    Result<std::vector<Artefact>> artefacts = make(arguments, loaded.state, emission);
    if (!artefacts) return artefacts.error();
    tell_target(context, emission);
    if (const auto failure = write(arguments, *artefacts)) return *failure;
    Json json{{"ok", true}, {"as", arguments.as}};
    json.update(to_json(emission));
    json.update(to_json(cleared->clearance));
    for (const Artefact& artefact : *artefacts) {
        json["kernels"].push_back(json_of(artefact));
        if (!arguments.json) print_talk(line_of(artefact));
    }
    if (arguments.json) print_data(text_of(json));
    return kOk;
}

}  // namespace

Result<int> run_emit(Context& context) {
    const Arguments& arguments = context.arguments;
    if (!arguments.after.empty() && arguments.as != "schedule") return after_without_schedule();
    if (!arguments.target.empty())
        if (const auto wrong = check_target(arguments.target)) return *wrong;
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    const Result<TileProgram> tiles = expand(loaded->state);
    if (!tiles) return tiles.error();
    if (arguments.as == "schedule") return emit_schedules(context, *loaded, *tiles);
    if (arguments.as != "tile") return emit_kernels(context, *loaded, *tiles);
    const std::string text = print(*tiles, context.sources);
    const bool to_standard_output = arguments.output.empty() || arguments.output == "-";
    if (!arguments.json || !to_standard_output)
        if (const auto failure = write_data(arguments.output, text)) return *failure;
    if (arguments.json) print_data(text_of(Json{{"ok", true}, {"as", "tile"}, {"text", text}}));
    return kOk;
}

}  // namespace napkin::cli
