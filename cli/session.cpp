#include "cli/session.h"

#include <charconv>

#include "cli/console.h"
#include "cli/messages.h"

namespace napkin::cli {
namespace {

std::optional<Diagnostic> unknown_name(const Diagram& diagram, const Sizes& sizes) {
    for (const auto& [name, size] : sizes) {
        if (find_axis(diagram, name)) continue;
        std::vector<std::string> known;
        for (const Axis& axis : diagram.axes) known.push_back(axis.name);
        return unknown_set(name, known);
    }
    return std::nullopt;
}

}  // namespace

Result<std::uint32_t> load_text(SourceMap& sources, const std::string& path) {
    Result<std::string> text = read_file(path);
    if (!text) return text.error();
    return sources.add(path, std::move(text).value());
}

Result<Sizes> sizes_of_sets(const std::vector<std::string>& sets) {
    Sizes sizes;
    for (const std::string& text : sets) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0) return malformed_set(text);
        std::int64_t size = 0;
        const char* const end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data() + equals + 1, end, size);
        if (parsed.ec != std::errc{} || parsed.ptr != end || size < 1) return malformed_set(text);
        sizes[text.substr(0, equals)] = size;
    }
    return sizes;
}

Result<Checked> load_checked(Context& context, const Sizes& sizes) {
    const Result<std::uint32_t> file = load_text(context.sources, context.arguments.file);
    if (!file) return file.error();
    const Result<syntax::File> tree = syntax::parse(context.sources, *file);
    if (!tree) return tree.error();
    Result<Checked> checked = check(context.sources, *tree, sizes);
    if (!checked) return checked;
    if (std::optional<Diagnostic> wrong = unknown_name(checked->diagram, sizes)) return *wrong;
    return checked;
}

Result<Loaded> load_state(Context& context) {
    Result<Sizes> sizes = sizes_of_sets(context.arguments.sets);
    if (!sizes) return sizes.error();
    std::vector<Command> commands;
    if (!context.arguments.derivation.empty()) {
        const Result<std::uint32_t> file = load_text(context.sources, context.arguments.derivation);
        if (!file) return file.error();
        Result<std::vector<Command>> parsed = parse_derivation(context.sources, *file);
        if (!parsed) return parsed.error();
        commands = std::move(parsed).value();
        sizes->merge(sizes_in(commands));
    }
    Result<Checked> checked = load_checked(context, *sizes);
    if (!checked) return checked.error();
    print_diagnostics(checked->warnings, context.sources);
    Result<State> state = replay(checked->diagram, commands);
    if (!state) return state.error();
    return Loaded{std::move(checked->diagram), std::move(state).value(), std::move(sizes).value()};
}

}  // namespace napkin::cli
