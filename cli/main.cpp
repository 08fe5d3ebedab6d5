// The binary `napkin`: reads the arguments, runs one subcommand, turns what happened into an exit
// code.
#include <csignal>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/guard.h"
#include "cli/json.h"
#include "cli/session.h"
#include "cli/unused_options.h"

namespace napkin::cli {
namespace {

int finish(Diagnostics diagnostics, const Context& context, int code) {
    if (context.arguments.json && diagnostics.has_errors())
        print_data(json_of_failure(diagnostics, context.sources));
    if (std::optional<Diagnostic> failure = flush_data()) diagnostics.add(*failure);
    print_diagnostics(diagnostics, context.sources);
    return diagnostics.has_errors() ? exit_code_of(diagnostics) : code;
}

int run(const Arguments& arguments) {
    SourceMap sources;
    Context context{arguments, sources};
    for (const Subcommand& command : all_subcommands()) {
        if (command.name != arguments.command) continue;
        if (const auto refused = refuse_repeated_sets(arguments.sets))
            return finish({{*refused}}, context, kUserInput);
        if (const auto refused = refuse_unused(arguments))
            return finish({{*refused}}, context, kUserInput);
        if (const auto refused = refuse_outputs(arguments))
            return finish({{*refused}}, context, kUserInput);
        const Result<int> code = command.run(context);
        return code ? finish({}, context, *code) : finish(code.error(), context, kUserInput);
    }
    throw InternalError("a subcommand that was parsed is not in the table");
}

int start(int count, char** words) {
    // A reader that went away (`| head`) and a file that may not grow are failed writes, not
    // reasons to be killed.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    return guarded([&] {
        const std::variant<Arguments, int> arguments = parse_arguments(count, words);
        if (const int* code = std::get_if<int>(&arguments)) {
            const std::optional<Diagnostic> failure = flush_data();
            if (failure) print_diagnostics({{*failure}}, SourceMap{});
            return failure ? exit_code_of({{*failure}}) : *code;
        }
        return run(std::get<Arguments>(arguments));
    });
}

}  // namespace
}  // namespace napkin::cli

int main(int count, char** words) {
    return napkin::cli::start(count, words);
}
