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
#include "diagrams/memory_order.h"
#include "schedule/region_schedule.h"

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
std::vector<std::string> origin(const State& state, const Contract& contract,
                                const EmittedProgram& program, const ExportOptions& options) {
    std::vector<std::string> lines{"Diagram:", ""};
    for (const std::string& line : lines_of(options.diagram_text)) lines.push_back("    " + line);
    lines.insert(lines.end(), {"", "Derivation:", ""});
    for (const Step& step : state.steps) lines.push_back("    " + print(step.command));
    if (state.steps.empty()) lines.emplace_back("    (the plain diagram: one kernel a statement)");
    std::vector<std::string> schedule;
    for (const EmittedKernel& kernel : program.kernels)
        for (const std::string& line : schedule::print(kernel.choices, kernel.region))
            if (!kernel.passes.empty()) schedule.push_back("    " + line);
    if (!schedule.empty())
        lines.insert(lines.end(), {"", "Schedule, as `--schedule` reads it:", ""});
    lines.insert(lines.end(), schedule.begin(), schedule.end());
    std::string sizes;
    for (const Axis& axis : state.diagram.axes)
        sizes += fmt::format("{}{} = {}{}", sizes.empty() ? "" : ", ", axis.name, axis.extent,
                             axis.dynamic ? " or others" : "");
    lines.insert(lines.end(), {"", "Target: " + program.target, "Sizes: " + sizes});
    // As they are set here: the diagram's text has those of its file.
    std::string parameters;
    for (const exporting::ContractScalar& scalar : contract.scalars)
        if (scalar.value)
            parameters += fmt::format("{}{} = {}", parameters.empty() ? "" : ", ", scalar.name,
                                      exporting::number_text(scalar, exporting::Language::Python));
    if (!parameters.empty()) lines.push_back("Parameters: " + parameters);
    if (!options.safety.empty()) lines.push_back("Safety: " + options.safety);
    lines.push_back("Certificate: " + (options.certificate.empty() ? "none" : options.certificate));
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

/// What all files of a program are printed from.
struct Prepared {
    Contract contract;
    Places places;
    std::vector<std::string> description;
    std::vector<std::string> origin;
};

Prepared prepare(const ExportPart& part) {
    Prepared result;
    result.contract = exporting::contract_of(part.state.diagram, part.kernels.program);
    result.places = shared_places(result.contract, part.kernels.program, part.options);
    result.description = exporting::describe(part.state.diagram, result.contract);
    result.origin = origin(part.state, result.contract, part.kernels.program, part.options);
    return result;
}

std::optional<Diagnostic> check_part(const ExportPart& part) {
    const Diagram& diagram = part.state.diagram;
    if (std::optional<Diagnostic> wrong = check_export_name(diagram.name)) return wrong;
    if (part.kernels.program.kernels.empty()) return messages::nothing_to_export();
    for (const DeviceArray& device : part.kernels.program.arrays) {
        if (device.type != ElementType::I4) continue;
        const Array& array = diagram[device.array];
        if (array.axes.empty()) return messages::half_a_byte(array.name);
        const std::size_t last = innermost_dimension(array);
        const Axis& axis = diagram[array.axes[last]];
        if (!axis.dynamic && axis.extent % 2 != 0)
            return messages::split_bytes(array.name, axis.name, axis.extent);
    }
    return std::nullopt;
}

/// The files that bear the program's name.
std::vector<ExportedFile> files_of(const ExportPart& part, const Prepared& prepared,
                                   const exporting::GradientCall* gradient) {
    const auto& [contract, places, description, came_from] = prepared;
    const std::string& name = contract.name;
    std::vector<ExportedFile> files{
        {name + ".cu", exporting::standalone_source(
                           part.kernels, source_header(contract, places, description, came_from))},
        {name + ".h", exporting::print_header(contract, part.kernels.program, places, description)},
        {name + ".c", exporting::print_launcher(contract, part.kernels, places)},
        {name + ".py",
         exporting::print_operator(contract, part.kernels, gradient, places, description)},
        {name + "_selftest.c", exporting::print_selftest(contract, places)},
        {name + "_selftest.txt", exporting::print_cases(contract, part.cases, places)}};
    if (!part.options.images.empty())
        files.push_back({places.at("kernels_file"),
                         exporting::print_images(part.kernels, part.options.images, places)});
    return files;
}

std::string readme(const ExportPart& part, const Prepared& prepared,
                   const std::vector<std::string>& programs, const ExportPart* gradient) {
    const Contract& contract = prepared.contract;
    Places places = prepared.places;
    const std::size_t count = part.kernels.program.kernels.size();
    places["kernel_count_text"] = count == 1 ? "the kernel" : fmt::format("{} kernels", count);
    places["contract"] = exporting::lines_text(prepared.description, "");
    places["capability_text"] =
        fmt::format("{}.{} {}", contract.capability / 10, contract.capability % 10,
                    contract.alone ? "and no other" : "or newer");
    places["shared_text"] = fmt::format("{} bytes", contract.shared_bytes);
    places["call"] = exporting::call_text(contract);
    places["origin"] = exporting::lines_text(prepared.origin, "");
    places["images_row"];
    places["gradient_row"];
    const std::string judged = gradient != nullptr ? gradient->options.judged_gradient : "";
    if (gradient != nullptr)
        places["gradient_row"] = fmt::format(
            "| `{0}.*`, `{0}_selftest.*` | the same of its gradient, with which the "
            "operator has a backward{1} |",
            programs.back(), judged.empty() ? "" : "; it " + judged);
    const bool compiles = part.options.images.empty();
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
    if (word && Names::of_export_files().are_free({name})) return std::nullopt;
    return messages::bad_export_name(name);
}

Result<std::vector<ExportedFile>> export_program(const ExportPart& part,
                                                 const ExportPart* gradient) {
    if (auto wrong = check_part(part)) return *wrong;
    const Prepared prepared = prepare(part);
    std::vector<ExportedFile> files;
    std::vector<std::string> programs{prepared.contract.name};
    if (gradient == nullptr) {
        files = files_of(part, prepared, nullptr);
    } else {
        if (auto wrong = check_part(*gradient)) return *wrong;
        const Prepared other = prepare(*gradient);
        const Result<exporting::GradientCall> call =
            exporting::match_gradient(prepared.contract, other.contract);
        if (!call) return call.error();
        files = files_of(part, prepared, &*call);
        for (ExportedFile& file : files_of(*gradient, other, nullptr))
            files.push_back(std::move(file));
        programs.push_back(other.contract.name);
    }
    files.push_back({"README.md", readme(part, prepared, programs, gradient)});
    files.push_back(
        {"CMakeLists.txt", exporting::print_cmake(programs, part.options.images, prepared.places)});
    files.push_back({"pyproject.toml", exporting::print_python_project(programs, prepared.places)});
    return files;
}

}  // namespace napkin
