#include "cli/usage/help.h"

#include <utility>

#include "cli/commands.h"
#include "cli/lines.h"
#include "diagrams/nearest.h"

namespace napkin::cli {
namespace {

constexpr std::size_t kIndent = 30;  // of what the library prints beside a name

/// What other tools call a command.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"show", "draw"},       {"plot", "draw"},   {"compile", "emit"}, {"test", "run"},
    {"optimize", "search"}, {"tune", "search"}, {"profile", "bench"}};

}  // namespace

void break_lines(CLI::App& app) {
    for (CLI::Option* option : app.get_options())
        option->description(broken(option->get_description(), kColumns - kIndent));
    for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        sub->description(broken(sub->get_description(), kColumns - kIndent));
        break_lines(*sub);
    }
}

std::optional<std::string> subcommand_near(std::string_view word) {
    for (const auto& [other, own] : kOtherNames)
        if (word == other) return std::string(own);
    std::vector<std::string> names;
    for (const Subcommand& command : all_subcommands()) names.emplace_back(command.name);
    return nearest(word, names);
}

std::string unknown_options(const CLI::App& command, const std::vector<std::string>& rest) {
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) known.push_back(option->get_name());
    std::string text;
    for (const std::string& word : rest) {
        if (word.empty() || word.front() != '-') continue;
        const std::string name = word.substr(0, word.find('='));
        const std::optional<std::string> near = nearest(name, known);
        text += "`" + command.get_name() + "` has no option `" + name + "`" +
                (near ? "; did you mean `" + *near + "`?" : "") + "\n";
    }
    return text;
}

}  // namespace napkin::cli
