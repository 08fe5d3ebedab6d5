// run: executes a derivation on one device, compares with the reference, counts transfers.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/execution.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/messages.h"
#include "cli/session.h"
#include "diagrams/npy.h"

namespace napkin::cli {
namespace {

/// `Q=q.npy` as its two halves, the first one of the named arrays.
struct NamedFile {
    ArrayId array;
    std::string path;
};

Result<std::vector<NamedFile>> named_files(const Diagram& diagram, const std::string& option,
                                           const std::vector<std::string>& texts,
                                           std::initializer_list<ArrayRole> roles) {
    std::vector<std::string> known;
    for (const Array& array : diagram.arrays)
        if (std::find(roles.begin(), roles.end(), array.role) != roles.end())
            known.push_back(array.name);
    std::vector<NamedFile> files;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
            return malformed_tensor_option(option, text);
        const std::string name = text.substr(0, equals);
        const std::optional<ArrayId> array = find_array(diagram, name);
        if (!array || std::find(known.begin(), known.end(), name) == known.end())
            return unknown_tensor(option, name, known);
        files.push_back({*array, text.substr(equals + 1)});
    }
    return files;
}

/// Those that files give, and random ones.
Result<Tensors> given_inputs(const Arguments& arguments, const Diagram& diagram) {
    Tensors inputs = random_inputs(diagram, arguments.seed);
    const auto files =
        named_files(diagram, "input", arguments.inputs, {ArrayRole::Input, ArrayRole::Parameter});
    if (!files) return files.error();
    for (const NamedFile& file : *files) {
        Result<Tensor> tensor = read_input(diagram, file.array, file.path);
        if (!tensor) return tensor.error();
        inputs[file.array] = std::move(tensor).value();
    }
    if (const auto wrong = check_inputs(diagram, inputs)) return *wrong;
    return inputs;
}

Result<RunReport> run_inputs(Context& context, const Loaded& loaded) {
    const Arguments& arguments = context.arguments;
    Progress progress(Progress::Shown::EverySecond);
    const ExecutionOptions options{.device = arguments.device, .progress = &progress};
    if (arguments.inputs.empty()) return execute_random(context, loaded, options);
    const Result<Tensors> inputs = given_inputs(arguments, loaded.plain);
    if (!inputs) return inputs.error();
    return execute(context, loaded, *inputs, options);
}

std::optional<Diagnostic> write_outputs(const Diagram& diagram, const std::vector<NamedFile>& files,
                                        const Tensors& outputs) {
    for (const NamedFile& file : files) {
        const auto tensor = outputs.find(file.array);
        if (tensor == outputs.end()) return nothing_computed(diagram[file.array].name);
        const NpyType type = npy_type_for(diagram[file.array].type);
        if (auto failure = write_file(file.path, npy_bytes(tensor->second, type))) return failure;
    }
    return std::nullopt;
}

}  // namespace

Result<int> run_run(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    const Diagram& diagram = loaded->plain;
    if (!has_values(diagram)) return opaque_has_no_values();
    const auto files = named_files(diagram, "output", arguments.outputs, {ArrayRole::Output});
    if (!files) return files.error();
    if (const auto excess = excess_memory(*loaded, arguments.device)) return *excess;
    const Result<RunReport> report = run_inputs(context, *loaded);
    if (!report) return report.error();
    if (const auto failure = write_outputs(diagram, *files, report->outputs)) return *failure;
    print_data(arguments.json ? text_of(to_json(*report)) : text_of(*report));
    return report->exit_code();
}

}  // namespace napkin::cli
