// export: a folder with the kernels of a derivation and all that a project without napkin needs.
#include "codegen/export/export.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/clearance.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/emission.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/messages.h"
#include "cli/session.h"
#include "cli/validation.h"
#include "codegen/export/messages.h"
#include "derive/proof/certificate.h"
#include "derive/tile_program.h"

namespace napkin::cli {
namespace {

namespace fs = std::filesystem;

/// A folder inside another, removed with what is in it.
class Staging {
public:
    explicit Staging(const fs::path& folder) : path_((folder / ".napkin-XXXXXX").string()) {
        if (::mkdtemp(path_.data()) == nullptr) path_.clear();
    }
    ~Staging() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// Whether an export wrote the file: its mark is near the top, or it is a certificate.
bool is_exported(const std::string& path) {
    constexpr std::size_t kTop = 1024;
    const Result<std::string> text = read_file(path);
    return text && (text->substr(0, kTop).find(kExportMark) != std::string::npos ||
                    !proof::certificate_hash(*text).empty());
}

/// Nothing that a person wrote is overwritten.
std::optional<Diagnostic> check_folder(const std::string& folder,
                                       const std::vector<ExportedFile>& files) {
    std::error_code ignored;
    if (!fs::exists(folder, ignored)) return std::nullopt;
    if (!fs::is_directory(folder, ignored)) return messages::not_a_folder(folder);
    for (const ExportedFile& file : files) {
        const std::string path = (fs::path(folder) / file.name).string();
        if (fs::symlink_status(path, ignored).type() != fs::file_type::not_found &&
            (!fs::is_regular_file(path, ignored) || !is_exported(path)))
            return messages::foreign_file(path);
    }
    return std::nullopt;
}

/// All files are complete before the first of them replaces anything.
std::optional<Diagnostic> write_folder(const std::string& folder,
                                       const std::vector<ExportedFile>& files) {
    if (auto wrong = check_folder(folder, files)) return wrong;
    if (auto failure = make_folder(folder)) return failure;
    const Staging staging(folder);
    if (staging.path().empty()) return cannot_write(folder, std::strerror(errno));
    for (const ExportedFile& file : files)
        if (auto failure = write_file(staging.path() + "/" + file.name, file.text)) return failure;
    for (const ExportedFile& file : files) {
        const std::string path = (fs::path(folder) / file.name).string();
        if (::rename((staging.path() + "/" + file.name).c_str(), path.c_str()) != 0)
            return cannot_write(path, std::strerror(errno));
    }
    return std::nullopt;
}

const std::string& find_text(const std::vector<ExportedFile>& files, const std::string& name) {
    return std::find_if(files.begin(), files.end(),
                        [&](const ExportedFile& file) { return file.name == name; })
        ->text;
}

/// What an earlier export left of which there is none now.
void remove_exported(const std::string& folder, const std::string& name) {
    std::error_code ignored;
    const std::string path = (fs::path(folder) / name).string();
    if (is_exported(path)) fs::remove(path, ignored);
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

/// Outputs of which the self-test stores no results.
std::set<std::string> untested_outputs(const Diagram& diagram,
                                       const std::vector<SelfTestCase>& cases) {
    std::set<std::string> names;
    for (const SelfTestCase& test : cases)
        for (const auto& [array, output] : test.outputs)
            if (output.too_dear > 0) names.insert(diagram[array].name);
    return names;
}

/// A program of the export, and what vouches for it.
struct Part {
    Loaded loaded;
    EmittedProgram program;
    ExportOptions options;
    Clearance clearance = {};
    std::vector<SelfTestCase> cases = {};

    [[nodiscard]] ExportPart exported() const { return {loaded.state, program, cases, options}; }
};

Result<Part> load_part(Context& context) {
    Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    if (!has_values(loaded->state.diagram)) return opaque_has_no_values();
    if (!context.arguments.name.empty()) loaded->state.diagram.name = context.arguments.name;
    if (const auto wrong = check_export_name(loaded->state.diagram.name)) return *wrong;
    const Result<TileProgram> tiles = expand(loaded->state);
    if (!tiles) return tiles.error();
    const Result<EmitOptions> emit_for = emit_options(context, loaded->hash);
    if (!emit_for) return emit_for.error();
    Result<EmittedProgram> emission =
        emit_chosen(context, loaded->state, *tiles, export_emit_options(*emit_for));
    if (!emission) return emission.error();
    ExportOptions options{NAPKIN_VERSION, context.sources.files[loaded->text].text, ""};
    return Part{std::move(loaded).value(), std::move(emission).value(), std::move(options)};
}

/// Proves it, computes the self-test's results, and compiles `source` where that is asked for.
std::optional<Diagnostics> complete(Context& context, const std::string& source, Part& part) {
    Result<ExportedImages> images = compile_images(part.program, source, context.arguments.cubins);
    if (!images) return images.error();
    part.options.images = std::move(images).value();
    Result<Clearance> clearance = clear(context, part.loaded);
    if (!clearance) return clearance.error();
    part.clearance = std::move(clearance).value();
    part.options.certificate = proof::certificate_hash(part.clearance.certificate);
    part.options.reservation = part.clearance.reservation;
    part.cases = make_cases(context, part.loaded, part.program);
    return std::nullopt;
}

/// The arguments of the gradient's own export.
Arguments for_gradient(const Arguments& arguments) {
    Arguments result = arguments;
    result.file = arguments.gradient;
    result.derivation = arguments.gradient_derivation;
    for (std::string* of_one : {&result.name, &result.certificate, &result.schedule})
        of_one->clear();
    return result;
}

Result<std::vector<ExportedFile>> files_of(const std::vector<Part>& parts) {
    const ExportPart first = parts.front().exported();
    if (parts.size() == 1) return export_program(first);
    const ExportPart gradient = parts.back().exported();
    return export_program(first, &gradient);
}

Json members_of(const Part& part) {
    Json json{{"name", part.program.name}};
    json.update(to_json(part.program));
    json.update(to_json(part.clearance));
    json.update(Json{{"kernels", part.program.kernels.size()}, {"cases", part.cases.size()}});
    return json;
}

int report(const Arguments& arguments, const std::vector<Part>& parts,
           const std::vector<ExportedFile>& files) {
    if (arguments.json) {
        Json json{{"ok", true}};
        json.update(members_of(parts.front()));
        if (parts.size() > 1) json["gradient"] = members_of(parts.back());
        json["folder"] = arguments.output;
        for (const ExportedFile& file : files) json["files"].push_back(file.name);
        print_data(text_of(json));
        return kOk;
    }
    for (const Part& part : parts) {
        const std::size_t kernels = part.program.kernels.size();
        const std::size_t cases = part.cases.size();
        print_talk(part.program.name + ": " + std::to_string(kernels) +
                   (kernels == 1 ? " kernel" : " kernels") + " for " + part.program.target + ", " +
                   std::to_string(cases) + (cases == 1 ? " case" : " cases") + " of self-test -> " +
                   arguments.output + "/\n");
    }
    return kOk;
}

}  // namespace

Result<int> run_export(Context& context) {
    const Arguments& arguments = context.arguments;
    const Arguments of_gradient = for_gradient(arguments);
    std::vector<Context> contexts{context};
    if (!arguments.gradient.empty()) contexts.push_back({of_gradient, context.sources});
    std::vector<Part> parts;
    for (Context& each : contexts) {
        Result<Part> part = load_part(each);
        if (!part) return part.error();
        parts.push_back(std::move(part).value());
    }
    // Proof and the self-test's results take the longest: not before the folder is known to be
    // ours.
    const Result<std::vector<ExportedFile>> planned = files_of(parts);
    if (!planned) return planned.error();
    if (const auto wrong = check_folder(arguments.output, *planned)) return *wrong;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (const auto wrong =
                complete(contexts[i], find_text(*planned, parts[i].program.name + ".cu"), parts[i]))
            return *wrong;
    Result<std::vector<ExportedFile>> files = files_of(parts);
    if (!files) return files.error();
    std::vector<std::string> outdated;
    for (const Part& part : parts) {
        const std::string certificate = part.program.name + ".certificate.json";
        if (part.clearance.reservation.empty())
            files->push_back({certificate, part.clearance.certificate});
        else
            outdated.push_back(certificate);
        if (part.options.images.empty()) outdated.push_back(part.program.name + "_images.c");
    }
    if (const auto failure = write_folder(arguments.output, *files)) return *failure;
    for (const std::string& name : outdated) remove_exported(arguments.output, name);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        tell_target(contexts[i], parts[i].program);
        for (const std::string& name :
             untested_outputs(parts[i].loaded.state.diagram, parts[i].cases))
            print_talk("self-test: no results of `" + name +
                       "` are stored, since one takes the reference too long\n");
    }
    return report(arguments, parts, *files);
}

}  // namespace napkin::cli
