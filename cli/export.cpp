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

int report(const Arguments& arguments, const EmittedProgram& program, const Clearance& clearance,
           const std::vector<ExportedFile>& files, std::size_t cases) {
    if (arguments.json) {
        Json json{{"ok", true}, {"name", program.name}};
        json.update(to_json(program));
        json.update(to_json(clearance));
        json.update(Json{
            {"folder", arguments.output}, {"kernels", program.kernels.size()}, {"cases", cases}});
        for (const ExportedFile& file : files) json["files"].push_back(file.name);
        print_data(text_of(json));
        return kOk;
    }
    std::vector<std::string> names;
    for (const ExportedFile& file : files) names.push_back(file.name);
    print_talk(program.name + ": " + std::to_string(program.kernels.size()) +
               (program.kernels.size() == 1 ? " kernel" : " kernels") + " for " + program.target +
               ", " + std::to_string(cases) + (cases == 1 ? " case" : " cases") +
               " of self-test -> " + arguments.output + "/\n");
    return kOk;
}

}  // namespace

Result<int> run_export(Context& context) {
    const Arguments& arguments = context.arguments;
    Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    if (!has_values(loaded->state.diagram)) return opaque_has_no_values();
    if (!arguments.name.empty()) loaded->state.diagram.name = arguments.name;
    if (const auto wrong = check_export_name(loaded->state.diagram.name)) return *wrong;
    const Result<TileProgram> tiles = expand(loaded->state);
    if (!tiles) return tiles.error();
    const Result<EmitOptions> emit_for = emit_options(context, loaded->hash);
    if (!emit_for) return emit_for.error();
    const Result<EmittedProgram> emission =
        emit_chosen(context, loaded->state, *tiles, export_emit_options(*emit_for));
    if (!emission) return emission.error();
    const EmittedProgram& program = *emission;
    ExportOptions options{NAPKIN_VERSION, context.sources.files[loaded->text].text, ""};
    // Proof and the self-test's results take the longest: not before the folder is known to be
    // ours.
    const Result<std::vector<ExportedFile>> planned =
        export_program(loaded->state, program, {}, options);
    if (!planned) return planned.error();
    if (const auto wrong = check_folder(arguments.output, *planned)) return *wrong;
    const Result<Clearance> clearance = clear(context, *loaded);
    if (!clearance) return clearance.error();
    options.certificate = proof::certificate_hash(clearance->certificate);
    options.reservation = clearance->reservation;
    const std::vector<SelfTestCase> cases = make_cases(context, *loaded, program);
    const Result<ExportedImages> images =
        compile_images(program, find_text(*planned, program.name + ".cu"), arguments.cubins);
    if (!images) return images.error();
    options.images = *images;
    Result<std::vector<ExportedFile>> files =
        export_program(loaded->state, program, cases, options);
    if (!files) return files.error();
    const std::string certificate = program.name + ".certificate.json";
    const bool proved = clearance->reservation.empty();
    if (proved) files->push_back({certificate, clearance->certificate});
    if (const auto failure = write_folder(arguments.output, *files)) return *failure;
    if (!proved) remove_exported(arguments.output, certificate);
    if (images->empty()) remove_exported(arguments.output, program.name + "_images.c");
    tell_target(context, program);
    for (const std::string& name : untested_outputs(loaded->state.diagram, cases))
        print_talk("self-test: no results of `" + name +
                   "` are stored, since one takes the reference too long\n");
    return report(arguments, program, *clearance, *files, cases.size());
}

}  // namespace napkin::cli
