// export: a folder with the kernels of a derivation and all that a project without napkin needs.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exporting.h"
#include "cli/files.h"
#include "cli/folders.h"
#include "cli/json.h"
#include "cli/judge_gradient.h"
#include "codegen/export/messages.h"
#include "derive/proof/certificate.h"

namespace napkin::cli {
namespace {

namespace fs = std::filesystem;

/// Whether an export wrote the file: its mark is near the top, or it is a certificate.
bool is_exported(const std::string& path) {
    constexpr std::size_t kTop = 1024;
    const Result<std::string> text = text_of_file(path);
    return text && (text->substr(0, kTop).find(kExportMark) != std::string::npos ||
                    !proof::certificate_hash(*text).empty());
}

/// The program in a folder that is none of these files', by its kernels.
std::optional<std::string> other_program(const std::string& folder,
                                         const std::vector<ExportedFile>& files) {
    std::error_code ignored;
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
        if (entry.path().extension() == ".cu" && is_exported(entry.path().string()))
            names.insert(entry.path().filename().string());
    for (const ExportedFile& file : files) names.erase(file.name);
    if (names.empty()) return std::nullopt;
    return fs::path(*names.begin()).stem().string();
}

/// The folder of an export; no other export's files stand for all of it.
std::optional<Diagnostic> check_export(const OwnFolder& folder,
                                       const std::vector<ExportedFile>& files) {
    if (const auto other = other_program(folder.path, files))
        return messages::another_export(folder.path, *other);
    return check_folder(folder, files);
}

/// What the self-test cannot say, a line each.
std::set<std::string> gaps_of(const Diagram& diagram, const std::vector<SelfTestCase>& cases) {
    std::set<std::string> gaps;
    for (const SelfTestCase& test : cases)
        for (const auto& [array, output] : test.outputs) {
            const std::string name = "`" + diagram[array].name + "`";
            if (output.too_dear > 0)
                gaps.insert("no results of " + name +
                            " are stored, since one takes the reference too long");
            if (output.undecided)
                gaps.insert(name +
                            " is undecided: rounding may be as large as most of its results");
        }
    return gaps;
}

std::string with_axes(const Diagram& diagram, const Array& array) {
    std::string names;
    for (const AxisId axis : array.axes) names += (names.empty() ? "" : ", ") + diagram[axis].name;
    return "`" + array.name + "[" + names + "]`";
}

std::vector<std::int64_t> shape_of(const Diagram& diagram, const Array& array) {
    std::vector<std::int64_t> shape;
    for (const AxisId axis : array.axes) shape.push_back(diagram[axis].extent);
    return shape;
}

/// Arrays of the caller that the derivation splits or joins axes of, a line each.
std::vector<std::string> changed_shapes(const Loaded& loaded) {
    std::vector<std::string> changed;
    for (const Array& plain : loaded.plain.arrays) {
        if (plain.role != ArrayRole::Input && plain.role != ArrayRole::Output) continue;
        const std::optional<ArrayId> id = find_array(loaded.state.diagram, plain.name);
        if (!id) continue;
        const Array& derived = loaded.state.diagram[*id];
        if (shape_of(loaded.plain, plain) != shape_of(loaded.state.diagram, derived))
            changed.push_back(with_axes(loaded.plain, plain) + " is passed as " +
                              with_axes(loaded.state.diagram, derived) +
                              ": the same elements in another shape");
    }
    return changed;
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

Json members_of(const ExportedProgram& part) {
    Json json{{"name", part.kernels.program.name}, {"safety", part.options.safety}};
    json.update(to_json(part.kernels.program));
    json.update(to_json(part.clearance));
    json.update(
        Json{{"kernels", part.kernels.program.kernels.size()}, {"cases", part.cases.size()}});
    return json;
}

int report(const Arguments& arguments, const std::vector<ExportedProgram>& parts,
           const std::vector<ExportedFile>& files) {
    if (arguments.json) {
        Json json{{"ok", true}};
        json.update(members_of(parts.front()));
        if (parts.size() > 1) {
            json["gradient"] = members_of(parts.back());
            json["gradient"]["judged"] = parts.back().options.judged_gradient;
        }
        json["folder"] = arguments.output;
        for (const ExportedFile& file : files) json["files"].push_back(file.name);
        print_data(text_of(json));
        return kOk;
    }
    for (const ExportedProgram& part : parts) {
        const std::size_t kernels = part.kernels.program.kernels.size();
        const std::size_t cases = part.cases.size();
        print_talk(part.kernels.program.name + ": " + std::to_string(kernels) +
                   (kernels == 1 ? " kernel" : " kernels") + " for " + part.kernels.program.target +
                   ", " + std::to_string(cases) + (cases == 1 ? " case" : " cases") +
                   " of self-test -> " + arguments.output + "/\n");
        for (const std::string& changed : changed_shapes(part.loaded))
            print_talk("  " + changed + "\n");
    }
    return kOk;
}

}  // namespace

Result<int> run_export(Context& context) {
    const Arguments& arguments = context.arguments;
    const Arguments of_gradient = for_gradient(arguments);
    std::vector<Context> contexts{context};
    if (!arguments.gradient.empty()) contexts.push_back({of_gradient, context.sources});
    std::vector<ExportedProgram> parts;
    for (Context& each : contexts) {
        Result<Loaded> loaded = load_state(each);
        if (!loaded) return loaded.error();
        Result<ExportedProgram> part = begin_export(each, std::move(loaded).value());
        if (!part) return part.error();
        parts.push_back(std::move(part).value());
    }
    const std::string& path = arguments.output;
    const OwnFolder folder{path, "export", [&](const std::string& name) {
                               return is_exported((fs::path(path) / name).string());
                           }};
    // Proof and the self-test's results take the longest: not before the folder is known to be
    // ours.
    const Result<std::vector<ExportedFile>> planned = exported_files(parts);
    if (!planned) return planned.error();
    if (const auto wrong = check_export(folder, *planned)) return *wrong;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (const auto wrong = finish_export(contexts[i], *planned, parts[i])) return *wrong;
    if (parts.size() > 1) {
        Result<std::string> judged =
            judge_gradient(context, parts.front().loaded, parts.back().loaded);
        if (!judged) return judged.error();
        parts.back().options.judged_gradient = std::move(judged).value();
    }
    const Result<std::vector<ExportedFile>> files = exported_files(parts);
    if (!files) return files.error();
    std::set<std::string> outdated;
    for (const ExportedProgram& part : parts) {
        if (part.clearance.certificate.empty())
            outdated.insert(part.kernels.program.name + ".certificate.json");
        if (part.options.images.empty()) outdated.insert(part.kernels.program.name + "_images.c");
    }
    if (const auto failure = write_folder(folder, *files, outdated)) return *failure;
    if (parts.size() > 1)
        print_talk(parts.back().kernels.program.name + ": " + parts.back().options.judged_gradient +
                   "\n");
    for (std::size_t i = 0; i < parts.size(); ++i) {
        tell_target(contexts[i], parts[i].kernels.program);
        for (const std::string& gap : gaps_of(parts[i].loaded.state.diagram, parts[i].cases))
            print_talk("self-test: " + gap + "\n");
    }
    return report(arguments, parts, *files);
}

}  // namespace napkin::cli
