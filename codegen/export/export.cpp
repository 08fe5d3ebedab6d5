#include "codegen/export/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "codegen/architecture.h"
#include "codegen/export/contract.h"
#include "codegen/export/messages.h"
#include "codegen/export/printing.h"
#include "codegen/export/standalone.h"
#include "codegen/export/templates.h"
#include "codegen/names.h"

namespace napkin {
namespace {

using exporting::Contract;
using exporting::Places;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

/// The diagram, the derivation and what vouches for it.
std::vector<std::string> origin(const State& state, const EmittedProgram& program,
                                const ExportOptions& options) {
    std::vector<std::string> lines{"Diagram:", ""};
    for (const std::string& line : lines_of(options.diagram_text)) lines.push_back("    " + line);
    lines.insert(lines.end(), {"", "Derivation:", ""});
    for (const Step& step : state.steps) lines.push_back("    " + print(step.command));
    if (state.steps.empty()) lines.emplace_back("    (the plain diagram: one kernel a statement)");
    std::string sizes;
    for (const Axis& axis : state.diagram.axes)
        sizes += fmt::format("{}{} = {}{}", sizes.empty() ? "" : ", ", axis.name, axis.extent,
                             axis.dynamic ? " or others" : "");
    lines.insert(lines.end(),
                 {"", "Target: " + program.target, "Sizes: " + sizes,
                  "Certificate: " + (options.certificate.empty() ? "none" : options.certificate)});
    if (!options.reservation.empty()) lines.push_back("NOT PROVED: " + options.reservation);
    return lines;
}

std::vector<std::string> source_header(const Contract& contract, const Places& places,
                                       const std::vector<std::string>& description,
                                       const std::vector<std::string>& origin) {
    std::vector<std::string> lines{contract.name + ": " + places.at("summary"),
                                   "",
                                   places.at("mark"),
                                   "",
                                   "Contract, which the callers in " + contract.name + ".c and " +
                                       contract.name + ".py check:",
                                   ""};
    for (const std::string& line : description) lines.push_back("    " + line);
    lines.emplace_back("");
    lines.insert(lines.end(), origin.begin(), origin.end());
    lines.insert(lines.end(), {"", fmt::format("nvcc -O3 -std=c++17 {} -c {}.cu",
                                               places.at("nvcc_architecture"), contract.name)});
    return lines;
}

Places shared_places(const Contract& contract, const EmittedProgram& program,
                     const ExportOptions& options) {
    const std::string architecture =
        std::to_string(std::max(contract.capability, kLeastCompiled)) + (contract.alone ? "a" : "");
    return {{"name", contract.name},
            {"NAME", exporting::upper(contract.name)},
            {"summary", exporting::summary(contract)},
            {"version", options.version},
            {"kernels_file", contract.name + (options.images.empty() ? ".cu" : "_images.c")},
            {"mark", fmt::format("{} {} from a diagram, target {}.", kExportMark, options.version,
                                 program.target)},
            {"architecture", architecture},
            {"architecture_text", contract.alone
                                      ? "Code for this architecture runs there alone."
                                      : "Code for this architecture runs on later ones too, and "
                                        "for another is set with -D."},
            {"nvcc_architecture",
             contract.alone
                 // Of `-arch` some versions make code for other devices too.
                 ? fmt::format("-gencode arch=compute_{0},code=sm_{0}", architecture)
                 : "-arch=sm_" + architecture}};
}

std::string readme(const Contract& contract, const EmittedProgram& program,
                   const ExportOptions& options, Places places,
                   const std::vector<std::string>& description,
                   const std::vector<std::string>& origin) {
    const std::size_t count = program.kernels.size();
    places["kernel_count_text"] = count == 1 ? "the kernel" : fmt::format("{} kernels", count);
    places["contract"] = exporting::lines_text(description, "");
    places["capability_text"] =
        fmt::format("{}.{} {}", contract.capability / 10, contract.capability % 10,
                    contract.alone ? "and no other" : "or newer");
    places["shared_text"] = fmt::format("{} bytes", contract.shared_bytes);
    places["call"] = exporting::call_text(contract);
    places["origin"] = exporting::lines_text(origin, "");
    places["images_row"];
    const bool compiles = options.images.empty();
    if (!compiles)
        places["images_row"] = "| `" + places.at("kernels_file") +
                               "` | the kernels, compiled: for the library in place of `" +
                               contract.name + ".cu` |";
    places["compile"] =
        compiles ? "nvcc -O3 -std=c++17 " + places.at("nvcc_architecture") : "cc -O2";
    places["compile_libraries"] = compiles ? "" : " -lcudart -lm";
    places["no_nvcc_text"] =
        compiles ? "" : " and no nvcc, only the CUDA runtime's headers and library";
    places["determinism"] = "Equal inputs give equal bits on every run.";
    return exporting::fill(export_readme_template(), places);
}

}  // namespace

std::optional<Diagnostic> check_export_name(const std::string& name) {
    const auto fits = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    const bool word = !name.empty() && std::all_of(name.begin(), name.end(), fits) &&
                      std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
                      name.back() != '_' && name.find("__") == std::string::npos;
    if (word && Names::of_export().are_free({name})) return std::nullopt;
    return messages::bad_export_name(name);
}

EmitOptions export_emit_options(EmitOptions options) {
    options.free_strides = true;
    return options;
}

Result<std::vector<ExportedFile>> export_program(const State& state, const EmittedProgram& program,
                                                 const std::vector<SelfTestCase>& cases,
                                                 const ExportOptions& options) {
    const Diagram& diagram = state.diagram;
    if (std::optional<Diagnostic> wrong = check_export_name(diagram.name)) return *wrong;
    if (program.kernels.empty()) return messages::nothing_to_export();
    for (const DeviceArray& array : program.arrays)
        if (array.type == ElementType::I4)
            return messages::unsupported_export_type(diagram[array.array].name,
                                                     name_of(array.type));
    const Contract contract = exporting::contract_of(diagram, program);
    const Places places = shared_places(contract, program, options);
    const std::vector<std::string> description = exporting::describe(diagram, contract);
    const std::vector<std::string> came_from = origin(state, program, options);
    const std::string& name = contract.name;
    std::vector<ExportedFile> files{
        {"README.md", readme(contract, program, options, places, description, came_from)},
        {name + ".cu", exporting::standalone_source(
                           program, source_header(contract, places, description, came_from))},
        {name + ".h", exporting::print_header(contract, program, places, description)},
        {name + ".c", exporting::print_launcher(contract, program, places)},
        {name + ".py", exporting::print_operator(contract, program, places, description)},
        {"CMakeLists.txt", exporting::print_cmake(contract, options.images, places)},
        {"pyproject.toml", exporting::print_python_project(contract, places)},
        {name + "_selftest.c", exporting::print_selftest(contract, places)},
        {name + "_selftest.txt", exporting::print_cases(contract, cases, places)}};
    if (!options.images.empty())
        files.push_back(
            {places.at("kernels_file"), exporting::print_images(program, options.images, places)});
    return files;
}

}  // namespace napkin
