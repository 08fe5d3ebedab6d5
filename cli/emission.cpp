#include "cli/emission.h"

#include "codegen/run/execute.h"

namespace napkin::cli {

Result<EmitOptions> emit_options(const Context& context, const std::string& hash) {
    const Arguments& arguments = context.arguments;
    Result<EmitOptions> options = emit_options_for(arguments.target, arguments.arch);
    if (!options) return options;
    options->threads = arguments.threads;
    options->derivation = hash;
    options->sources = &context.sources;
    return options;
}

Result<EmitOptions> emit_options_for_device(const Context& context) {
    Result<EmitOptions> options = emit_options(context);
    const DeviceStatus device = device_status();
    if (!options || !device.missing.empty()) return options;
    options->architecture = device.name;
    options->shared_memory = device.shared_memory;
    return options;
}

}  // namespace napkin::cli
