#include "cli/tensor_files.h"

#include <algorithm>

#include "cli/messages.h"
#include "diagrams/npy.h"

namespace napkin::cli {
namespace {

/// Those that files give, and random ones.
Result<Tensors> given_inputs(const Arguments& arguments, const Diagram& diagram) {
    Result<Tensors> read = read_inputs(arguments, diagram);
    if (!read) return read;
    Tensors inputs = random_inputs(diagram, arguments.seed);
    for (auto& [array, tensor] : *read) inputs[array] = std::move(tensor);
    if (const auto wrong = check_inputs(diagram, inputs)) return *wrong;
    return inputs;
}

}  // namespace

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
        const NamedFile file{*array, text.substr(equals + 1)};
        for (std::size_t i = 0; i < files.size(); ++i)
            if (files[i].array == file.array) return repeated_tensor(option, texts[i], text);
        files.push_back(file);
    }
    return files;
}

Result<Tensors> read_inputs(const Arguments& arguments, const Diagram& diagram) {
    const auto files =
        named_files(diagram, "input", arguments.inputs, {ArrayRole::Input, ArrayRole::Parameter});
    if (!files) return files.error();
    Tensors inputs;
    for (const NamedFile& file : *files) {
        Result<Tensor> tensor = read_input(diagram, file.array, file.path);
        if (!tensor) return tensor.error();
        inputs[file.array] = std::move(tensor).value();
    }
    return inputs;
}

Result<RunReport> execute_given(Context& context, const Loaded& loaded,
                                const ExecutionOptions& options) {
    if (context.arguments.inputs.empty()) return execute_random(context, loaded, options);
    const Result<Tensors> inputs = given_inputs(context.arguments, loaded.plain);
    if (!inputs) return inputs.error();
    return execute(context, loaded, *inputs, options);
}

}  // namespace napkin::cli
