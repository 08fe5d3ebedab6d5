#include "cli/prompt_help.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "cli/numbers.h"
#include "cli/prompt_arguments.h"
#include "diagrams/nearest.h"
#include "schedule/region_schedule.h"

namespace napkin::cli {
namespace {

/// A word of what is printed at the prompt, in one line.
struct Term {
    std::string_view word;
    std::string_view meaning;
};
constexpr std::array kTerms = {
    Term{"H", "what moves between device memory and blocks, over all blocks together"},
    Term{"M",
         "what one block holds between operations at the fullest point, as the paper counts it; "
         "the formula has the leading terms, and `+ …` where the number counts more"},
    Term{"A",
         "what a program allocates in one block, and what must fit: while something is computed, "
         "operands stand beside results, which M counts apart; twice M where both are as large"},
    Term{"binds", "what is named is busy longest, and the time is what it needs at least"},
    Term{"gauge",
         "a running maximum or mean that states are kept relative to; they follow when it "
         "changes"},
    Term{"guard", "guard(x) is x, and 0 where x is infinite: nothing seen yet leaves no NaN"},
};

const PromptCommand* find_command(std::string_view word, PromptCommands commands) {
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const PromptCommand& known) { return known.name == word; });
    return found == commands.end() ? nullptr : &*found;
}

/// Every first word; `set` is a rule and a command.
std::vector<std::string> first_words(PromptCommands commands) {
    std::vector<std::string> words;
    for (const Rule& rule : all_rules()) words.emplace_back(rule.name);
    for (const PromptCommand& command : commands)
        if (find_rule(command.name) == nullptr) words.emplace_back(command.name);
    for (const Subcommand& subcommand : all_subcommands())
        if (subcommand_at_prompt(subcommand.name) != nullptr &&
            find_command(subcommand.name, commands) == nullptr)
            words.emplace_back(subcommand.name);
    return words;
}

/// What `schedule` chooses, a line each.
std::string choices_text() {
    constexpr std::size_t kWidth = 28;
    std::string text;
    for (const schedule::Field& field : schedule::all_fields())
        text += "    " +
                padded(std::string(field.name) +
                           (field.of.empty() ? "" : " [of " + std::string(field.of) + "]"),
                       kWidth) +
                std::string(field.meaning) + "\n";
    return text;
}

/// What may stand next in a line that chooses.
std::vector<std::string> words_of_choice(const std::vector<std::string>& typed,
                                         const State& state) {
    std::vector<std::string> words;
    if (typed.size() == 1) {
        for (const schedule::Field& field : schedule::all_fields()) words.emplace_back(field.name);
        return words;
    }
    const schedule::Field* field = schedule::find_field(typed[1]);
    if (typed.back() == "=")
        return field != nullptr && field->is_flag() ? std::vector<std::string>{"true", "false"}
                                                    : words;
    if (typed.back() != "of") return {"of", "=", "in"};
    for (const Array& array : state.diagram.arrays)
        if (array.named) words.push_back(array.name);
    return words;
}

/// The words of a usage, without what groups them.
std::vector<std::string> words_of_usage(std::string_view usage) {
    std::string text;
    for (const char c : usage) text += c == '[' || c == ']' || c == ',' || c == '.' ? ' ' : c;
    return words_of(text);
}

void add_named(const std::string& kind, const State& state, std::vector<std::string>& words) {
    if (kind == "AXIS")
        for (const Axis& axis : state.diagram.axes) words.push_back(axis.name);
    if (kind == "ARRAY")
        for (const Array& array : state.diagram.arrays)
            if (array.named) words.push_back(array.name);
}

/// What may stand next in a line of a rule, by its usage: first, or after a comma, what it names,
/// and then its words.
std::vector<std::string> words_of_rule(const Rule& rule, const std::vector<std::string>& typed,
                                       const State& state) {
    const std::vector<std::string> usage = words_of_usage(rule.usage);
    std::vector<std::string> words;
    const bool in_brackets = rule.usage.find("ARRAY[") != std::string_view::npos &&
                             std::any_of(typed.begin(), typed.end(), [](const std::string& word) {
                                 return word.find('[') != std::string::npos;
                             });
    const bool names_next = typed.size() == 1 || typed.back().ends_with(',');
    if (in_brackets) {
        add_named("AXIS", state, words);
    } else if (names_next) {
        std::set<std::string> kinds{usage[1]};
        for (std::size_t i = 2; i + 1 < usage.size(); ++i)
            if (usage[i] == "|") kinds.insert(usage[i + 2]);
        for (const std::string& kind : kinds) add_named(kind, state, words);
        if (typed.size() == 1 && kinds.contains("all")) words.emplace_back("all");
    } else if (typed.back() != "by" && typed.back() != "=" && typed.back() != "as") {
        for (const std::string& word : usage)
            if (std::islower(static_cast<unsigned char>(word.front())) != 0 && word != rule.name &&
                word != "all")
                words.push_back(word);
    }
    return words;
}

}  // namespace

std::string help_text(PromptCommands commands) {
    constexpr std::size_t kWidth = 41;
    std::string text = "  steps\n";
    for (const Rule& rule : all_rules())
        if (rule.name != "set") text += "    " + std::string(rule.usage) + "\n";
    text += "  and\n";
    for (const PromptCommand& command : commands)
        text +=
            "    " + padded(std::string(command.usage), kWidth) + std::string(command.help) + "\n";
    text += "  with the options of the command line\n";
    for (const Subcommand& subcommand : all_subcommands())
        if (subcommand_at_prompt(subcommand.name) != nullptr)
            text += "    " + padded(std::string(subcommand.name), kWidth) +
                    std::string(subcommand.description) + "\n";
    text += "  words\n   ";
    for (const Term& term : kTerms) text += " " + std::string(term.word);
    return text + "\n";
}

std::string help_on(const std::string& word, PromptCommands commands) {
    if (const PromptCommand* command = find_command(word, commands))
        return "  " + std::string(command->usage) + "\n  " + std::string(command->help) + "\n" +
               std::string(command->more);
    if (const Rule* rule = find_rule(word)) {
        std::string text = "  " + std::string(rule->usage) + "\n";
        text += "  law: " + std::string(rule->law) + "\n";
        text += "  where: " + std::string(rule->condition) + "\n";
        text += "  as in: " + std::string(rule->example) + "\n";
        if (word == "schedule") text += choices_text();
        return text + "  source: " + std::string(rule->citation) + "\n";
    }
    if (const Subcommand* subcommand = subcommand_at_prompt(word))
        return "  " + word + ": " + std::string(subcommand->description) + "\n  `" + word +
               " --help` lists its options\n";
    for (const Term& term : kTerms)
        if (term.word == word) return "  " + word + ": " + std::string(term.meaning) + "\n";
    return unknown_text(word, commands);
}

bool is_told_of(std::string_view word) {
    return find_rule(word) != nullptr ||
           std::any_of(kTerms.begin(), kTerms.end(),
                       [&](const Term& term) { return term.word == word; });
}

std::string unknown_text(const std::string& word, PromptCommands commands) {
    constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
        {"explain", "why"}, {"q", "quit"}, {"list", "help"}, {"draw", "show"}};
    std::optional<std::string> near = nearest(word, first_words(commands));
    for (const auto& [other, own] : kOtherNames)
        if (word == other) near = own;
    return "  there is no command `" + word + "`\n  " +
           (near ? "did you mean `" + *near + "`?" : "`help` lists the commands") + "\n";
}

std::vector<std::string> words_after(std::string_view before, const State& state,
                                     PromptCommands commands) {
    const std::vector<std::string> typed = words_of(before);
    if (typed.empty() || (typed.size() == 1 && typed.front() == "help"))
        return first_words(commands);
    std::vector<std::string> words;
    if (typed.back() == "in") {
        for (const Region& region : state.relabelling.regions)
            words.push_back(region_name(state.diagram, region));
        return words;
    }
    if (typed.front() == "schedule") return words_of_choice(typed, state);
    if (typed.back() == "at")
        return {"l1", "l2", "cluster", "block", "warps", "thread", "tensor-core"};
    if (typed.back() == "to") return {"tf32", "bf16", "f16", "e4m3", "e5m2"};
    if (const Rule* rule = find_rule(typed.front())) return words_of_rule(*rule, typed, state);
    if (typed.front() == "show") return {"steps", "cost", "tile", "live", "image", "text"};
    if (typed.front() == "emit") return {"tile", "schedule", "cuda", "ptx", "cubin"};
    for (const Axis& axis : state.diagram.axes) words.push_back(axis.name);
    for (const Array& array : state.diagram.arrays)
        if (array.named) words.push_back(array.name);
    for (const char* keyword : {"by", "at", "in", "to", "as", "all"}) words.emplace_back(keyword);
    return words;
}

}  // namespace napkin::cli
