#include "tests/fuzz/properties.h"

#include "derive/state.h"
#include "derive/tile_program.h"
#include "diagrams/check.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"
#include "schedule/requests.h"
#include "tests/language/parse_property.h"

namespace napkin::test {
namespace {

std::string failure_of(const Diagnostics& diagnostics, const SourceMap& sources, bool refused) {
    if (refused && !diagnostics.has_errors()) return "refused without an error";
    for (const Diagnostic& diagnostic : diagnostics.list) {
        if (diagnostic.message.empty() || diagnostic.code.size() != 5)
            return "a message without a text or a code";
        if (diagnostic.has_place) {
            const Span span = diagnostic.primary.span;
            if (span.file >= sources.files.size() || span.begin > span.end ||
                span.end > sources.files[span.file].text.size())
                return "a place outside the text: " + diagnostic.code;
        }
        if (render(diagnostic, sources).empty()) return "a message that cannot be shown";
    }
    return "";
}

/// Whatever rules accept can be expanded and costed, or is refused with a message.
std::string failure_below(const State& state, const SourceMap& sources) {
    const Result<TileProgram> program = expand(state);
    if (!program) return failure_of(program.error(), sources, true);
    const Result<Cost> cost = cost_of(*program);
    return cost ? "" : failure_of(cost.error(), sources, true);
}

}  // namespace

std::string diagram_failure(const std::string& text) {
    if (std::string failure = parse_property_failure(text); !failure.empty()) return failure;
    SourceMap sources;
    const Result<syntax::File> tree = syntax::parse(sources, sources.add("fuzz.ncd", text));
    if (!tree) return "";  // the property above has looked at the messages
    const Result<Checked> checked = check(sources, *tree);
    if (!checked) return failure_of(checked.error(), sources, true);
    if (std::string failure = failure_of(checked->warnings, sources, false); !failure.empty())
        return failure;
    const Result<Checked> again = load_diagram(sources, "again.ncd", syntax::print(*tree));
    if (!again) return "the canonical text is not well formed, though the text is";
    if (print(again->diagram) != print(checked->diagram))
        return "the canonical text means another diagram";
    return failure_below(initial_state(checked->diagram), sources);
}

std::string derivation_failure(const std::string& text, const Diagram& diagram) {
    SourceMap sources;
    const Result<std::vector<Command>> commands =
        parse_derivation(sources, sources.add("fuzz.drv", text));
    if (!commands) return failure_of(commands.error(), sources, true);
    for (const Command& command : *commands) {
        const Result<Command> again = parse_command(sources, sources.add("again", print(command)));
        if (!again || !(*again == command)) return "prints as another command: " + print(command);
    }
    const Result<State> state = replay(diagram, *commands);
    if (!state) return failure_of(state.error(), sources, true);
    const auto requests = schedule::requests_of(*state);
    if (!requests) return failure_of(requests.error(), sources, true);
    return failure_below(*state, sources);
}

std::string schedule_failure(const std::string& text, const Diagram& diagram) {
    SourceMap sources;
    const auto requests = schedule::read_schedule(sources, sources.add("fuzz.toml", text));
    if (!requests) return failure_of(requests.error(), sources, true);
    std::string printed;
    for (const schedule::Request& request : *requests)
        for (const std::string& line : schedule::print(request.schedule, request.region))
            printed += line + "\n";
    const auto again = schedule::read_schedule(sources, sources.add("again.toml", printed));
    if (!again || *again != *requests) return "prints as another schedule:\n" + printed;
    const auto resolved = schedule::requests_of(initial_state(diagram), *requests);
    return resolved ? "" : failure_of(resolved.error(), sources, true);
}

std::string machine_failure(const std::string& text) {
    SourceMap sources;
    const Result<Machine> machine = parse_machine(sources, "fuzz.toml", text);
    return machine ? "" : failure_of(machine.error(), sources, true);
}

}  // namespace napkin::test
