#include "cli/console.h"
#include "cli/messages.h"
#include "cli/session.h"
#include "derive/proof/certificate.h"
#include "schedule/requests.h"

namespace napkin::cli {

Result<Command> read_command(SourceMap& sources, const std::string& name, const std::string& text) {
    Result<Command> command = parse_command(sources, sources.add(name, text));
    if (!command) return command;
    const Diagnostics wrong = schedule::wrong_with(*command);
    if (wrong.has_errors()) return wrong;
    return command;
}

Result<std::vector<Command>> load_commands(Context& context) {
    if (!context.derivation && context.arguments.derivation.empty()) return std::vector<Command>{};
    const Result<std::uint32_t> file =
        context.derivation ? context.sources.add("<session>", *context.derivation)
                           : load_text(context.sources, context.arguments.derivation);
    if (!file) return file.error();
    Result<std::vector<Command>> commands = parse_derivation(context.sources, *file);
    if (!commands && !context.derivation && context.arguments.derivation.ends_with(".ncd"))
        return Diagnostics{{diagram_for_derivation(context.arguments.derivation)}};
    return commands;
}

Result<Loaded> load_given(Context& context, std::uint32_t text,
                          const std::vector<Command>& commands, Settings settings,
                          Diagnostics& warnings) {
    for (const auto& [axis, size] : sizes_in(commands))
        settings.emplace(axis, static_cast<double>(size));
    Result<Checked> checked = check_text(context, text, settings);
    if (!checked) return checked.error();
    warnings = std::move(checked->warnings);
    Result<State> state = replay(checked->diagram, commands);
    if (!state) return state.error();
    if (const auto requests = schedule::requests_of(*state); !requests) return requests.error();
    const Result<SetFile> set = parse_with_settings(context.sources, text, settings);
    if (!set) return set.error();
    std::string hash = proof::derivation_hash(syntax::print(set->tree),
                                              proof::own_sizes(checked->diagram), state->steps);
    return Loaded{text, std::move(checked->diagram), std::move(state).value(), std::move(settings),
                  std::move(hash)};
}

Result<Loaded> load_state(Context& context) {
    Result<Settings> settings = settings_of_sets(context.arguments.sets);
    if (!settings) return settings.error();
    const Result<std::vector<Command>> commands = load_commands(context);
    if (!commands) return commands.error();
    const Result<std::uint32_t> text = load_text(context.sources, context.arguments.file);
    if (!text) return text.error();
    Diagnostics warnings;
    Result<Loaded> loaded =
        load_given(context, *text, *commands, std::move(settings).value(), warnings);
    print_diagnostics(warnings, context.sources);
    return loaded;
}

}  // namespace napkin::cli
