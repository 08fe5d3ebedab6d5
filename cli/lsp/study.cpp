#include "cli/lsp/study.h"

#include <fmt/format.h>

#include "derive/messages.h"
#include "diagrams/check.h"
#include "schedule/requests.h"

namespace napkin::lsp {
namespace {

void add(const Diagnostics& found, Diagnostics& all) {
    all.list.insert(all.list.end(), found.list.begin(), found.list.end());
}

Diagnostic no_diagram(Span place, const std::string& path) {
    return {.code = "W9080",
            .message = fmt::format("no diagram lies beside `{}`, so no step is replayed", path),
            .severity = Severity::Warning,
            .primary = {place, ""},
            .related = {},
            .help =
                "call it as its diagram: `attention.drv` or `attention_split.drv` is of "
                "`attention.ncd`"};
}

Diagnostic wrong_diagram(Span place, const std::string& path) {
    return {.code = "E9080",
            .message = fmt::format("the diagram `{}` has errors, so no step is replayed", path),
            .primary = {place, ""},
            .related = {},
            .help = "mend it first"};
}

/// The first line.
Span beginning(const SourceMap& sources, std::uint32_t file) {
    const std::size_t end = sources.files[file].text.find('\n');
    const std::size_t size = sources.files[file].text.size();
    return {0, static_cast<std::uint32_t>(std::min(end, size)), file};
}

cli::Settings settings_in(const std::vector<Command>& commands) {
    cli::Settings settings;
    for (const auto& [name, value] : sizes_in(commands))
        settings.emplace(name, static_cast<double>(value));
    return settings;
}

Result<Diagram> diagram_at(SourceMap& sources, std::uint32_t file, const cli::Settings& settings) {
    const Result<cli::SetFile> set = cli::parse_with_settings(sources, file, settings);
    if (!set) return set.error();
    const Result<Checked> checked = check(sources, set->tree, set->sizes);
    if (!checked) return checked.error();
    return checked->diagram;
}

void replay_commands(Study& study) {
    study.states.push_back(initial_state(*study.plain));
    for (const Command& command : study.commands) {
        Outcome outcome = apply(study.states.back(), command);
        if (const NotApplicable* refusal = std::get_if<NotApplicable>(&outcome)) {
            Command bare = command;
            bare.comment.clear();
            study.diagnostics.add(
                messages::step_refused(command.span, print(bare), refusal->reason, refusal->help));
            return;
        }
        study.states.push_back(std::get<State>(std::move(outcome)));
    }
    if (const auto requests = schedule::requests_of(study.states.back()); !requests)
        add(requests.error(), study.diagnostics);
}

}  // namespace

Study study_diagram(const std::string& uri, const Text& text) {
    Study study;
    const Result<Checked> checked = load_diagram(study.sources, path_of(uri), text.bytes());
    if (!checked) {
        add(checked.error(), study.diagnostics);
        return study;
    }
    add(checked->warnings, study.diagnostics);
    study.plain = checked->diagram;
    return study;
}

Study study_derivation(const Workspace& workspace, const std::string& uri, const Text& text) {
    Study study;
    study.file = study.sources.add(path_of(uri), text.bytes());
    const Result<std::vector<Command>> commands = parse_derivation(study.sources, study.file);
    if (!commands) {
        add(commands.error(), study.diagnostics);
        return study;
    }
    study.commands = *commands;
    const std::optional<std::string> diagram = workspace.diagram_of(uri);
    const std::optional<Text> source = diagram ? workspace.read(*diagram) : std::nullopt;
    if (!source) {
        study.diagnostics.add(no_diagram(beginning(study.sources, study.file), path_of(uri)));
        return study;
    }
    const Result<Diagram> plain =
        diagram_at(study.sources, study.sources.add(path_of(*diagram), source->bytes()),
                   settings_in(study.commands));
    if (!plain) {
        // A setting that the diagram does not know has no place there.
        const bool elsewhere = plain.error().list.front().has_place;
        study.diagnostics.add(
            elsewhere ? wrong_diagram(beginning(study.sources, study.file), path_of(*diagram))
                      : plain.error().list.front());
        return study;
    }
    study.plain = *plain;
    replay_commands(study);
    return study;
}

Study study(const Workspace& workspace, const std::string& uri, const Text& text) {
    return is_derivation(uri) ? study_derivation(workspace, uri, text) : study_diagram(uri, text);
}

}  // namespace napkin::lsp
