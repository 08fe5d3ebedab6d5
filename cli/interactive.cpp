#include "cli/interactive.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>

#include "cli/console.h"
#include "cli/cost_text.h"
#include "cli/display.h"
#include "cli/files.h"
#include "cli/guard.h"
#include "cli/line_reader.h"
#include "cli/lines.h"
#include "cli/machines.h"
#include "cli/picture.h"
#include "cli/prompt_arguments.h"
#include "cli/prompt_help.h"
#include "cli/suggest.h"
#include "cli/unused_options.h"
#include "cli/workbench.h"
#include "derive/tile_program.h"

namespace napkin::cli {
namespace {

constexpr const char* kPrompt = "napkin> ";

/// One interactive session.
class Session {
public:
    Session(Context& context, Loaded loaded, Machine machine)
        : context_(context),
          machine_(std::move(machine)),
          display_(machine_, context.sources),
          bench_(loaded.plain, loaded.state.steps, std::move(loaded.settings)),
          saved_(text()),
          reader_(kPrompt, history_file(), [this](std::string_view before) {
              return words_after(before, bench_.current(), commands());
          }) {}
    int run();

private:
    using Handler = void (Session::*)(const std::string& rest);
    static constexpr std::size_t kCommands = 16;
    static const std::array<PromptCommand, kCommands> kTexts;
    static const std::array<Handler, kCommands> kHandlers;
    static PromptCommands commands() { return kTexts; }

    void execute(std::string_view line);
    /// Runs a command that is no step; false where the word is none.
    bool command(const std::string& word, const std::string& rest);
    /// Takes a step; false where it is refused.
    bool step(const std::string& line);
    void set(const std::string& line);
    void load(const std::string& rest);
    void suggest_moves(const std::string& rest);
    /// Back or forth in the history.
    void travel(const std::function<bool()>& go, const std::string& otherwise);
    void undo(const std::string&);
    void redo(const std::string&);
    void go_to(const std::string& rest);
    void history(const std::string&);
    void why(const std::string& rest);
    void show(const std::string& rest);
    void save(const std::string& rest);
    void draw(const std::string& rest);
    void emit(const std::string& rest);
    void run_here(const std::string& rest);
    void help(const std::string& rest) {
        say(rest.empty() ? help_text(commands()) : help_on(rest, commands()));
    }
    void quit(const std::string&);

    std::optional<Command> parse(const std::string& line);
    void report(const State* before) { display_.report(before, bench_); }
    void refuse(const NotApplicable& refusal);
    void say(const std::string& text) { print_lines(text); }
    [[nodiscard]] std::string text() const {
        return derivation_text(bench_.plain(), bench_.current(), bench_.settings());
    }
    /// Runs work in a process of its own, which ^C stops.
    void apart(const std::function<void()>& work);
    /// Runs a subcommand on the derivation as it stands, by way of a file's text.
    void run_subcommand(Result<int> (*subcommand)(Context&), Arguments arguments);
    void run_as_typed(const Subcommand& subcommand, const std::string& rest);

    Context& context_;
    Machine machine_;
    Display display_;
    Workbench bench_;
    std::string saved_;  ///< the derivation as a file holds it
    LineReader reader_;
    bool asked_ = false;  ///< whether to leave without saving
    bool done_ = false;
};

// clang-format off
const std::array<PromptCommand, Session::kCommands> Session::kTexts = {{
    {"suggest", "suggest [N]", "legal moves by the best that may follow, refused ones with the reason"},
    {"set", "set NAME = VALUE", "the same derivation at another size, or with another parameter"},
    {"undo", "undo", "back one step"},
    {"redo", "redo", "forward again"},
    {"goto", "goto N", "to the state after step N; 0 is the plain diagram"},
    {"history", "history", "the steps by number, those that were undone too"},
    {"why", "why [COMMAND]", "the law and the conditions of the last step, or of a command"},
    {"show", "show [steps|cost|tile|live [FILE]]", "the diagram, the steps, costs or the tile program, or a page that follows",
     "  `show image` and `show text` choose how pictures stand in a terminal that takes images\n"
     "  `show live FILE.html` writes a page for a browser: it shows the picture and the figures after every command, and "
     "what is new in a halo, from a script beside it, FILE.js; `show live off` ends that\n"},
    {"load", "load FILE.drv", "the derivation of a file instead; `undo` goes back"},
    {"save", "save FILE.drv", "write the derivation"},
    {"draw", "draw FILE", "draw the diagram as it stands: svg, pdf, png, txt or tex"},
    {"emit", "emit [tile|schedule|cuda|...] [FILE]", "print or write the program, as ptx and cubin too"},
    {"run", "run [NAME=VALUE...] [cpu|emulator|cuda]", "execute it and compare with the reference"},
    {"help", "help [WORD]", "this list, or what a command does and when it applies, or a word means"},
    {"quit", "quit", "leave"},
    {"exit", "exit", "leave"},
}};
const std::array<Session::Handler, Session::kCommands> Session::kHandlers = {
    &Session::suggest_moves, &Session::set, &Session::undo, &Session::redo, &Session::go_to,
    &Session::history, &Session::why, &Session::show, &Session::load, &Session::save,
    &Session::draw, &Session::emit, &Session::run_here, &Session::help, &Session::quit,
    &Session::quit,
};
// clang-format on

int Session::run() {
    // ^C ends what runs apart; a script is ended by it as a whole.
    if (reader_.is_terminal()) std::signal(SIGINT, SIG_IGN);
    reader_.type(display_.ask());
    say(bench_.current().diagram.name + " on " + machine_.name +
        "; `help` lists the commands, `suggest` the moves\n\n");
    report(nullptr);
    while (!done_) {
        if (const std::optional<std::string> line = reader_.next())
            execute(*line);
        else
            quit("");
    }
    display_.end();
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
        const std::string word(text.substr(0, text.find_first_of(" \t")));
        const std::string after(trimmed(text.substr(word.size())));
        if (find_rule(word) != nullptr && word != "set") {
            asked_ = false;
            if (!before) before = bench_.current();
            if (!step(std::string(text))) break;
            continue;
        }
        report_steps();
        if (word != "quit" && word != "exit") asked_ = false;
        if (!command(word, after)) break;
    }
    report_steps();
}

bool Session::command(const std::string& word, const std::string& rest) {
    for (std::size_t i = 0; i < kCommands; ++i) {
        if (kTexts.at(i).name != word) continue;
        if (kTexts.at(i).usage == word && !rest.empty()) {
            say("  `" + word + "` takes no words\n");
            return false;
        }
        (this->*kHandlers.at(i))(rest);
        return true;
    }
    const Subcommand* const subcommand = subcommand_at_prompt(word);
    if (subcommand != nullptr)
        run_as_typed(*subcommand, rest);
    else
        say(unknown_text(word, commands()));
    return subcommand != nullptr;
}

std::optional<Command> Session::parse(const std::string& line) {
    const Result<Command> command = read_command(context_.sources, "<typed>", line);
    if (command) return *command;
    print_diagnostics(command.error(), context_.sources);
    return std::nullopt;
}

void Session::refuse(const NotApplicable& refusal) {
    say("  refused: " + refusal.reason + "\n");
    if (!refusal.help.empty()) say("  " + refusal.help + "\n");
}

bool Session::step(const std::string& line) {
    const std::optional<Command> command = parse(line);
    if (!command) return false;
    const std::size_t before = bench_.step();
    const std::optional<NotApplicable> refusal = bench_.take(*command);
    if (refusal) refuse(*refusal);
    if (!refusal && bench_.step() == before) say(kNothingChanged);
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
    Settings settings = bench_.settings();
    for (const auto& [name, value] : *given) {
        if (find_axis(bench_.current().diagram, name) && !find_axis(bench_.plain(), name))
            return say("  a step made the axis `" + name +
                       "`: `undo` it, and take it with another "
                       "size\n");
        settings[name] = value;
    }
    const Result<Checked> checked = load_checked(context_, settings);
    if (!checked) return print_diagnostics(checked.error(), context_.sources);
    Result<State> state = replay(checked->diagram, commands_of(bench_.current()));
    if (!state) return print_diagnostics(state.error(), context_.sources);
    const State before = bench_.current();
    bench_.put({checked->diagram, std::move(state).value(), std::move(settings), "set " + line});
    report(&before);
}

/// As if the session had begun with it.
void Session::load(const std::string& rest) {
    if (rest.empty()) return say("  write `load FILE.drv`\n");
    Arguments arguments = context_.arguments;
    arguments.derivation = file_named(rest);
    Context inner{arguments, context_.sources};
    Result<Loaded> loaded = load_state(inner);
    if (!loaded) return print_diagnostics(loaded.error(), context_.sources);
    const State before = bench_.current();
    bench_.put({std::move(loaded->plain), std::move(loaded->state), std::move(loaded->settings),
                "load " + rest});
    saved_ = text();
    report(&before);
}

void Session::suggest_moves(const std::string& rest) {
    const std::size_t top = rest.empty() ? kMovesShown : whole_number(rest).value_or(0);
    if (top == 0) return say("  write `suggest` or `suggest N`\n");
    apart([&] {
        const Result<Suggestions> suggestions = suggest(bench_.current(), machine_, top);
        if (suggestions)
            say(text_of(*suggestions));
        else
            print_diagnostics(suggestions.error(), context_.sources);
    });
}

void Session::travel(const std::function<bool()>& go, const std::string& otherwise) {
    const State before = bench_.current();
    if (go())
        report(&before);
    else
        say("  " + otherwise + "\n");
}

void Session::undo(const std::string& /*rest*/) {
    travel([&] { return bench_.undo(); }, "this is the plain diagram: there is nothing to undo");
}

void Session::redo(const std::string& /*rest*/) {
    travel([&] { return bench_.redo(); }, "nothing was undone");
}

void Session::go_to(const std::string& rest) {
    const std::optional<std::size_t> number = whole_number(rest);
    travel([&] { return number && bench_.go_to(*number); },
           "write `goto N` with N from 0 to " + std::to_string(bench_.last_step()));
}

void Session::history(const std::string& /*rest*/) {
    const std::vector<Moment>& moments = bench_.moments();
    for (std::size_t i = 1; i < moments.size(); ++i)
        say("  " + std::to_string(i) + "  " + moments[i].typed +
            (i > bench_.step() ? "  (undone)" : "") + "\n");
    if (moments.size() == 1) say("  no step was taken yet\n");
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
    say("  " + typed_text(last.command) + "\n  law: " + last.law + "\n");
    say(checked_text(last));
    say(accumulators_text(state));
}

void Session::show(const std::string& rest) {
    const State& state = bench_.current();
    if (rest.empty()) return report(nullptr);
    if (rest == "steps") {
        history("");
    } else if (rest == "cost") {
        const Result<Cost> cost = cost_of_state(state, &machine_);
        if (cost)
            say(cost_table({bench_.plain(), state, *cost, &machine_},
                           static_cast<std::size_t>(terminal_width())));
        else
            print_diagnostics(cost.error(), context_.sources);
    } else if (rest == "tile") {
        const Result<TileProgram> tiles = expand(state);
        if (tiles)
            say(print(*tiles, context_.sources));
        else
            print_diagnostics(tiles.error(), context_.sources);
    } else if (words_of(rest).front() == "live") {
        display_.live(std::string(trimmed(rest.substr(4))), bench_);
    } else if (rest == "image" || rest == "text") {
        if (display_.use_images(rest == "image")) return report(nullptr);
        say("  this terminal takes no images by kitty's protocol, iTerm2's or sixels\n");
    } else {
        say("  show what? `show`, or with `steps`, `cost`, `tile`, `live`, `image` or `text`\n");
    }
}

void Session::save(const std::string& rest) {
    if (rest.empty()) return say("  write `save FILE.drv`\n");
    const std::string file = file_named(rest);
    const std::string derivation = text();
    std::optional<Diagnostic> failure = refuse_derivation(file);
    if (!failure) failure = write_file(file, derivation);
    if (failure) return print_diagnostics({{*failure}}, context_.sources);
    saved_ = derivation;
    say("  saved " + contents_text(bench_.plain(), bench_.current(), bench_.settings()) + " to " +
        file + "\n");
    const std::string parameters = parameters_text(bench_.plain(), bench_.settings());
    if (!parameters.empty())
        say("  a derivation holds no parameters: give `--set " + parameters + "` with it\n");
}

void Session::quit(const std::string& /*rest*/) {
    done_ = text() == saved_ || asked_ || !reader_.is_terminal();
    if (text() == saved_ || asked_) return;
    asked_ = true;
    if (reader_.is_terminal())
        say("  the derivation is not saved: `save FILE.drv` keeps it, `quit` again leaves without "
            "it\n");
    else
        print_talk("the derivation was not saved; `save FILE.drv` keeps it\n");
}

void Session::apart(const std::function<void()>& work) {
    const int code = guarded_apart([&] {
        work();
        return kOk;
    });
    if (code == -SIGINT && reader_.is_terminal()) return say("\n  interrupted\n");
    if (code == -SIGINT) ::raise(SIGINT);
    if (code < 0) say("  ended by signal " + std::to_string(-code) + "\n");
}

void Session::run_subcommand(Result<int> (*subcommand)(Context&), Arguments arguments) {
    const std::string parameters = parameters_text(bench_.plain(), bench_.settings());
    if (!parameters.empty()) arguments.sets.insert(arguments.sets.begin(), parameters);
    for (const auto& refused : {refuse_unused(arguments), refuse_outputs(arguments)})
        if (refused) return print_diagnostics({{*refused}}, context_.sources);
    apart([&] {
        Context inner{arguments, context_.sources, text()};
        const Result<int> code = subcommand(inner);
        if (!code) print_diagnostics(code.error(), context_.sources);
    });
}

void Session::run_as_typed(const Subcommand& subcommand, const std::string& rest) {
    if (const auto arguments = typed_arguments(subcommand, context_.arguments, rest))
        run_subcommand(subcommand.run, *arguments);
}

void Session::draw(const std::string& rest) {
    if (const auto arguments = draw_arguments(context_.arguments, rest))
        run_subcommand(run_draw, *arguments);
}

void Session::emit(const std::string& rest) {
    if (const auto arguments = emit_arguments(context_.arguments, rest))
        run_subcommand(run_emit, *arguments);
}

void Session::run_here(const std::string& rest) {
    if (const auto arguments = run_arguments(context_.arguments, rest))
        run_subcommand(run_run, *arguments);
}

}  // namespace

Result<int> run_interactive(Context& context, Loaded loaded) {
    const std::string& name = context.arguments.machine;
    Result<Machine> machine = take_machine(context.sources, name.empty() ? kDefaultMachine : name);
    if (!machine) return machine.error();
    return Session(context, std::move(loaded), std::move(machine).value()).run();
}

}  // namespace napkin::cli
