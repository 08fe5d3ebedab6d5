#include "cli/interactive.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/console.h"
#include "cli/cost_text.h"
#include "cli/execution.h"
#include "cli/line_reader.h"
#include "cli/numbers.h"
#include "cli/picture.h"
#include "cli/step_report.h"
#include "cli/suggest.h"
#include "cli/workbench.h"

namespace napkin::cli {
namespace {

constexpr const char* kPrompt = "napkin> ";

/// One interactive session.
class Session {
public:
    Session(Context& context, Loaded loaded, Machine machine)
        : context_(context),
          plain_(std::move(loaded.plain)),
          settings_(std::move(loaded.settings)),
          machine_(std::move(machine)),
          bench_(plain_, loaded.state.steps) {}
    int run();

private:
    using Handler = void (Session::*)(const std::string& rest);
    struct Entry {
        std::string_view name;
        std::string_view usage;
        std::string_view help;
        Handler handler;
    };
    static const std::array<Entry, 14> kEntries;

    void execute(std::string_view line);
    /// Takes a step; false where it is refused.
    bool step(const std::string& line);
    void set(const std::string& line);
    void suggest_moves(const std::string& rest);
    void undo(const std::string&);
    void redo(const std::string&);
    void go_to(const std::string& rest);
    void why(const std::string& rest);
    void show(const std::string& rest);
    void save(const std::string& rest);
    void draw(const std::string& rest);
    void emit(const std::string& rest);
    void run_here(const std::string& rest);
    void help(const std::string&);
    void quit(const std::string&) { done_ = true; }

    std::optional<Command> parse(const std::string& line);
    void report(const State* before);
    void refuse(const NotApplicable& refusal);
    void say(const std::string& text) { print_data(text); }
    /// Runs a subcommand on the derivation as it stands, by way of a file's text.
    void run_subcommand(Result<int> (*subcommand)(Context&), Arguments arguments);
    std::vector<std::string> words_at(std::string_view before) const;

    Context& context_;
    Diagram plain_;
    Settings settings_;
    Machine machine_;
    Workbench bench_;
    bool done_ = false;
};

// clang-format off
const std::array<Session::Entry, 14> Session::kEntries = {{
    {"suggest", "suggest [N]", "legal moves ranked by what they save, refused ones with the reason", &Session::suggest_moves},
    {"set", "set NAME = VALUE", "the same derivation at another size, or with another parameter", &Session::set},
    {"undo", "undo", "back one step", &Session::undo},
    {"redo", "redo", "forward again", &Session::redo},
    {"goto", "goto N", "to the state after step N; 0 is the plain diagram", &Session::go_to},
    {"why", "why [COMMAND]", "the law and the conditions of the last step, or of a command", &Session::why},
    {"show", "show [steps|cost|tile]", "the diagram, the steps, the cost table or the tile program", &Session::show},
    {"save", "save FILE.drv", "write the derivation", &Session::save},
    {"draw", "draw FILE", "draw the diagram as it stands: svg, pdf, png, txt or tex", &Session::draw},
    {"emit", "emit [tile|cuda|ptx|cubin] [FILE]", "print or write the program", &Session::emit},
    {"run", "run [NAME=VALUE...] [cpu|emulator|cuda]", "execute it and compare with the reference", &Session::run_here},
    {"help", "help", "this list", &Session::help},
    {"quit", "quit", "leave", &Session::quit},
    {"exit", "exit", "leave", &Session::quit},
}};
// clang-format on

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
        const std::size_t end = std::min(text.find(' '), text.size());
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return words;
}

std::string command_text(Command command) {
    command.comment.clear();
    return print(command);
}

int Session::run() {
    say(bench_.current().diagram.name + " on " + machine_.name +
        "; `help` lists the commands, `suggest` the moves\n\n");
    report(nullptr);
    LineReader reader(kPrompt, history_file(),
                      [this](std::string_view before) { return words_at(before); });
    while (!done_) {
        const std::optional<std::string> line = reader.next();
        if (!line) break;
        execute(*line);
    }
    return kOk;
}

/// A line is commands, separated by semicolons; the first that is refused ends it. Steps that
/// follow each other are reported as one.
void Session::execute(std::string_view line) {
    std::optional<State> before;
    const auto report_steps = [&] {
        if (before && bench_.current().steps.size() != before->steps.size()) report(&*before);
        before.reset();
    };
    for (std::string_view rest = line; !done_ && !rest.empty();) {
        const std::size_t end = std::min(rest.find(';'), rest.size());
        const std::size_t comment = rest.find('#');
        const bool is_last = end == rest.size() || comment < end;
        const std::string_view text = trimmed(is_last ? rest : rest.substr(0, end));
        rest.remove_prefix(is_last ? rest.size() : end + 1);
        if (text.empty() || text.front() == '#') continue;
        const std::string_view word = text.substr(0, text.find(' '));
        const auto* const entry =
            std::find_if(kEntries.begin(), kEntries.end(),
                         [&](const Entry& known) { return known.name == word; });
        if (entry != kEntries.end()) {
            report_steps();
            (this->*entry->handler)(std::string(trimmed(text.substr(word.size()))));
            continue;
        }
        if (!before) before = bench_.current();
        if (!step(std::string(text))) break;
    }
    report_steps();
}

std::optional<Command> Session::parse(const std::string& line) {
    const Result<Command> command =
        parse_command(context_.sources, context_.sources.add("<typed>", line));
    if (command) return *command;
    std::fflush(stdout);
    print_diagnostics(command.error(), context_.sources);
    return std::nullopt;
}

void Session::refuse(const NotApplicable& refusal) {
    say("  refused: " + refusal.reason + "\n");
    if (!refusal.help.empty()) say("  " + refusal.help + "\n");
}

void Session::report(const State* before) {
    const Result<std::string> text =
        report_step(before, bench_.current(), machine_, wants_color(1));
    if (text)
        say(*text + "\n");
    else
        print_diagnostics(text.error(), context_.sources);
}

bool Session::step(const std::string& line) {
    const std::optional<Command> command = parse(line);
    if (!command) return false;
    const std::optional<NotApplicable> refusal = bench_.take(*command);
    if (refusal) refuse(*refusal);
    return !refusal;
}

void Session::set(const std::string& line) {
    std::string setting = line;
    std::erase_if(setting, [](char c) { return c == ' ' || c == '\t'; });
    const Result<Settings> given = settings_of_sets({setting});
    if (!given) {
        say("  write it as `set q = 8192`\n");
        return;
    }
    Settings settings = settings_;
    for (const auto& [name, value] : *given) settings[name] = value;
    const Result<Checked> checked = load_checked(context_, settings);
    if (!checked) {
        print_diagnostics(checked.error(), context_.sources);
        return;
    }
    const State before = bench_.current();
    if (const std::optional<Diagnostics> failure = bench_.restart(checked->diagram)) {
        print_diagnostics(*failure, context_.sources);
        return;
    }
    plain_ = checked->diagram;
    settings_ = std::move(settings);
    report(&before);
}

void Session::suggest_moves(const std::string& rest) {
    std::size_t top = kMovesShown;
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), top);
    if (!rest.empty() &&
        (parsed.ec != std::errc{} || parsed.ptr != rest.data() + rest.size() || top == 0))
        return say("  write `suggest` or `suggest N`\n");
    const Result<Suggestions> suggestions = suggest(bench_.current(), machine_, top);
    if (suggestions)
        say(text_of(*suggestions));
    else
        print_diagnostics(suggestions.error(), context_.sources);
}

void Session::undo(const std::string& /*rest*/) {
    const State before = bench_.current();
    if (bench_.undo())
        report(&before);
    else
        say("  this is the plain diagram: there is nothing to undo\n");
}

void Session::redo(const std::string& /*rest*/) {
    const State before = bench_.current();
    if (bench_.redo())
        report(&before);
    else
        say("  nothing was undone\n");
}

void Session::go_to(const std::string& rest) {
    std::size_t number = 0;
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    const State before = bench_.current();
    if (parsed.ec == std::errc{} && parsed.ptr == rest.data() + rest.size() && bench_.go_to(number))
        report(&before);
    else
        say("  write `goto N` with N from 0 to " + std::to_string(bench_.last_step()) + "\n");
}

void Session::why(const std::string& rest) {
    State state = bench_.current();
    if (!rest.empty()) {
        const std::optional<Command> command = parse(rest);
        if (!command) return;
        Outcome outcome = apply(state, *command);
        if (const NotApplicable* refusal = std::get_if<NotApplicable>(&outcome)) {
            refuse(*refusal);
            return;
        }
        state = std::get<State>(std::move(outcome));
        say("  it applies:\n");
    }
    if (state.steps.empty()) {
        say("  no step was taken yet; `why COMMAND` tells of one\n");
        return;
    }
    const Step& last = state.steps.back();
    say("  " + command_text(last.command) + "\n  law: " + last.law + "\n");
    say(checked_text(last));
    say(accumulators_text(state));
}

void Session::show(const std::string& rest) {
    const State& state = bench_.current();
    if (rest.empty()) return report(nullptr);
    if (rest == "steps") {
        for (std::size_t i = 0; i < state.steps.size(); ++i)
            say("  " + std::to_string(i + 1) + "  " + command_text(state.steps[i].command) + "\n");
        if (state.steps.empty()) say("  no step was taken yet\n");
    } else if (rest == "cost") {
        const Result<Cost> cost = cost_of_state(state);
        if (cost)
            say(cost_table({state, *cost, &machine_}));
        else
            print_diagnostics(cost.error(), context_.sources);
    } else if (rest == "tile") {
        emit("tile");
    } else {
        say("  show what? `show`, `show steps`, `show cost` or `show tile`\n");
    }
}

void Session::save(const std::string& rest) {
    if (rest.empty()) return say("  write `save FILE.drv`\n");
    const std::string text = derivation_text(bench_.current(), settings_);
    if (const std::optional<Diagnostic> failure = write_file(rest, text))
        print_diagnostics({{*failure}}, context_.sources);
    else
        say("  saved " + std::to_string(bench_.current().steps.size()) + " steps to " + rest +
            "\n");
}

void Session::run_subcommand(Result<int> (*subcommand)(Context&), Arguments arguments) {
    for (const auto& [name, value] : settings_)
        arguments.sets.insert(arguments.sets.begin(), name + "=" + value_text(value));
    Context inner{arguments, context_.sources, derivation_text(bench_.current(), {})};
    std::fflush(stdout);
    const Result<int> code = subcommand(inner);
    if (!code) print_diagnostics(code.error(), context_.sources);
}

Arguments arguments_like(const Arguments& outer) {
    Arguments arguments;
    arguments.file = outer.file;
    return arguments;
}

void Session::draw(const std::string& rest) {
    if (rest.empty()) return say("  write `draw FILE.svg`\n");
    Arguments arguments = arguments_like(context_.arguments);
    arguments.output = rest;
    run_subcommand(run_draw, std::move(arguments));
}

void Session::emit(const std::string& rest) {
    const std::vector<std::string> words = words_of(rest);
    Arguments arguments = arguments_like(context_.arguments);
    arguments.as = words.empty() ? "cuda" : words[0];
    if (words.size() > 1) arguments.output = words[1];
    static constexpr std::array kForms{"tile", "cuda", "ptx", "cubin"};
    if (words.size() > 2 || std::find(kForms.begin(), kForms.end(), arguments.as) == kForms.end())
        return say("  write `emit tile`, `emit cuda`, `emit ptx FILE` or `emit cubin FILE`\n");
    run_subcommand(run_emit, std::move(arguments));
}

void Session::run_here(const std::string& rest) {
    Arguments arguments = arguments_like(context_.arguments);
    for (const std::string& word : words_of(rest)) {
        if (word == "cpu" || word == "emulator" || word == "cuda")
            arguments.device = word;
        else
            arguments.sets.push_back(word.back() == ',' ? word.substr(0, word.size() - 1) : word);
    }
    run_subcommand(run_run, std::move(arguments));
}

void Session::help(const std::string& /*rest*/) {
    std::string text = "  steps\n";
    for (const Rule& rule : all_rules())
        if (rule.name != "set") text += "    " + std::string(rule.usage) + "\n";
    text += "  and\n";
    for (const Entry& entry : kEntries)
        text += "    " + padded(std::string(entry.usage), 40) + std::string(entry.help) + "\n";
    say(text);
}

/// First words are commands; after one, names of axes, arrays and keywords.
std::vector<std::string> Session::words_at(std::string_view before) const {
    std::vector<std::string> words;
    if (trimmed(before).empty()) {
        for (const Rule& rule : all_rules()) words.emplace_back(rule.name);
        for (const Entry& entry : kEntries)
            if (entry.name != "set") words.emplace_back(entry.name);
        return words;
    }
    const std::vector<std::string> typed = words_of(before);
    const State& state = bench_.current();
    if (typed.back() == "in") {
        for (const Region& region : state.relabelling.regions)
            words.push_back(region_name(state.diagram, region));
        return words;
    }
    if (typed.back() == "at")
        return {"l1", "l2", "cluster", "block", "warps", "thread", "tensor-core"};
    if (typed.back() == "to") return {"tf32", "bf16", "f16", "e4m3", "e5m2"};
    if (typed.front() == "show") return {"steps", "cost", "tile"};
    if (typed.front() == "emit") return {"tile", "cuda", "ptx", "cubin"};
    for (const Axis& axis : state.diagram.axes) words.push_back(axis.name);
    for (const Array& array : state.diagram.arrays)
        if (array.named) words.push_back(array.name);
    for (const char* keyword : {"by", "at", "in", "to", "as", "all"}) words.emplace_back(keyword);
    return words;
}

}  // namespace

Result<int> run_interactive(Context& context, Loaded loaded) {
    const std::string& name = context.arguments.machine;
    Result<Machine> machine = load_machine(context.sources, name.empty() ? kDefaultMachine : name);
    if (!machine) return machine.error();
    return Session(context, std::move(loaded), std::move(machine).value()).run();
}

}  // namespace napkin::cli
