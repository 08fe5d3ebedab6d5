#include "cli/console.h"
#include "cli/session.h"

namespace napkin::cli {

Result<Loaded> load_state(Context& context) {
    Result<Settings> settings = settings_of_sets(context.arguments.sets);
    if (!settings) return settings.error();
    std::vector<Command> commands;
    if (context.derivation || !context.arguments.derivation.empty()) {
        const Result<std::uint32_t> file =
            context.derivation ? context.sources.add("<session>", *context.derivation)
                               : load_text(context.sources, context.arguments.derivation);
        if (!file) return file.error();
        Result<std::vector<Command>> parsed = parse_derivation(context.sources, *file);
        if (!parsed) return parsed.error();
        commands = std::move(parsed).value();
        for (const auto& [axis, size] : sizes_in(commands))
            settings->emplace(axis, static_cast<double>(size));
    }
    Result<Checked> checked = load_checked(context, *settings);
    if (!checked) return checked.error();
    print_diagnostics(checked->warnings, context.sources);
    Result<State> state = replay(checked->diagram, commands);
    if (!state) return state.error();
    return Loaded{std::move(checked->diagram), std::move(state).value(),
                  std::move(settings).value()};
}

}  // namespace napkin::cli
