#include "cli/usage/help.h"

#include <utility>

#include "cli/commands.h"
#include "cli/lines.h"
#include "cli/numbers.h"
#include "cli/usage/usage.h"
#include "diagrams/contains.h"
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

namespace {

/// The subcommands that do have an option.
std::vector<std::string> commands_with(const std::string& option) {
    std::vector<std::string> names;
    for (const CommandUsage& command : all_usages())
        for (const OptionUsage& known : command.options)
            if (contains(known.names, option)) names.push_back("`" + command.name + "`");
    return names;
}

}  // namespace

std::string unknown_options(const CLI::App& command, const std::vector<std::string>& rest) {
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) known.push_back(option->get_name());
    std::string text;
    for (const std::string& word : rest) {
        if (word.empty() || word.front() != '-') continue;
        const std::string name = word.substr(0, word.find('='));
        const std::optional<std::string> near = nearest(name, known);
        const std::vector<std::string> others = commands_with(name);
        text += "`" + command.get_name() + "` has no option `" + name + "`" +
                (!others.empty()
                     ? "; " + joined(others) + (others.size() == 1 ? " has" : " have") + " it"
                 : near ? "; did you mean `" + *near + "`?"
                        : "") +
                "\n";
    }
    return text;
}

}  // namespace napkin::cli
