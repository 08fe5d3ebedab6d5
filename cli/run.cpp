// run: executes a derivation on one device, compares with the reference, counts transfers.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/execution.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/messages.h"
#include "cli/session.h"
#include "cli/tensor_files.h"
#include "diagrams/npy.h"

namespace napkin::cli {
namespace {

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
    Progress progress(Progress::Shown::EverySecond);
    const Result<RunReport> report =
        execute_given(context, *loaded, {.device = arguments.device, .progress = &progress});
    if (!report) return report.error();
    if (const auto failure = write_outputs(diagram, *files, report->outputs)) return *failure;
    print_data(arguments.json ? text_of(to_json(*report)) : text_of(*report));
    return report->exit_code();
}

}  // namespace napkin::cli
