#include "cli/prompt_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "cli/console.h"

namespace napkin::cli {
namespace {

Arguments arguments_of(const char* command, const Arguments& session) {
    Arguments arguments;
    arguments.command = command;
    arguments.file = session.file;
    return arguments;
}

}  // namespace

const Subcommand* subcommand_at_prompt(std::string_view word) {
    static constexpr std::array kNames{"bench", "bound", "cost", "export", "prove", "search"};
    if (std::find(kNames.begin(), kNames.end(), word) == kNames.end()) return nullptr;
    const auto all = all_subcommands();
    return &*std::find_if(all.begin(), all.end(),
                          [&](const Subcommand& known) { return known.name == word; });
}

std::optional<Arguments> typed_arguments(const Subcommand& subcommand, const Arguments& session,
                                         const std::string& rest) {
    std::vector<std::string> typed{"napkin", std::string(subcommand.name), session.file};
    if (subcommand.takes.machine && rest.find("--machine") == std::string::npos)
        typed.insert(typed.end(),
                     {"--machine", session.machine.empty() ? kDefaultMachine : session.machine});
    for (std::string& word : words_of(rest)) typed.push_back(std::move(word));
    std::vector<const char*> words;
    for (const std::string& word : typed) words.push_back(word.c_str());
    const auto parsed = parse_arguments(static_cast<int>(words.size()), words.data());
    const Arguments* const arguments = std::get_if<Arguments>(&parsed);
    if (arguments == nullptr) return std::nullopt;
    if (arguments->derivation.empty()) return *arguments;
    print_data("  the derivation is the one at the prompt: leave `--drv` out\n");
    return std::nullopt;
}

std::optional<Arguments> draw_arguments(const Arguments& session, const std::string& rest) {
    Arguments arguments = arguments_of("draw", session);
    arguments.output = rest;
    if (!rest.empty()) return arguments;
    print_data("  write `draw FILE.svg`\n");
    return std::nullopt;
}

std::optional<Arguments> emit_arguments(const Arguments& session, const std::string& rest) {
    const std::vector<std::string> words = words_of(rest);
    Arguments arguments = arguments_of("emit", session);
    arguments.as = words.empty() ? "cuda" : words[0];
    if (words.size() > 1) arguments.output = words[1];
    static constexpr std::array kForms{"tile", "schedule", "cuda", "ptx", "cubin"};
    if (words.size() < 3 && std::find(kForms.begin(), kForms.end(), arguments.as) != kForms.end())
        return arguments;
    print_data(
        "  write `emit tile`, `emit schedule`, `emit cuda`, `emit ptx FILE` or `emit cubin "
        "FILE`\n");
    return std::nullopt;
}

std::optional<Arguments> run_arguments(const Arguments& session, const std::string& rest) {
    Arguments arguments = arguments_of("run", session);
    for (const std::string& word : words_of(rest)) {
        if (word == "cpu" || word == "emulator" || word == "cuda") {
            arguments.device = word;
        } else if (word.starts_with('-') || word.find('=') == std::string::npos) {
            print_data("  write `run [NAME=VALUE...] [cpu|emulator|cuda]`, without options\n");
            return std::nullopt;
        } else {
            arguments.sets.push_back(word.back() == ',' ? word.substr(0, word.size() - 1) : word);
        }
    }
    return arguments;
}

std::string file_named(const std::string& typed) {
    const bool quoted = typed.size() > 1 && (typed.front() == '"' || typed.front() == '\'') &&
                        typed.back() == typed.front();
    if (quoted) return typed.substr(1, typed.size() - 2);
    const char* home = std::getenv("HOME");
    return home != nullptr && typed.rfind("~/", 0) == 0 ? home + typed.substr(1) : typed;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

std::optional<std::size_t> whole_number(const std::string& text) {
    std::size_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || rest != end) return std::nullopt;
    return number;
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
        const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return words;
}

}  // namespace napkin::cli
