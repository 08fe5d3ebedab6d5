#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/lines.h"
#include "cli/numbers.h"
#include "cli/prompt_help.h"
#include "cli/usage/help.h"
#include "cli/usage/usage.h"
#include "derive/state.h"
#include "perfmodel/machine.h"

namespace napkin::cli {
namespace {

/// In fewer words than CLI11's own, which names the largest number.
CLI::Validator positive() {
    return CLI::Validator(
        [](const std::string& text) -> std::string {
            double value = 0;
            const bool is_number = CLI::detail::lexical_cast(text, value);
            return is_number && value > 0 ? "" : "`" + text + "` is no number above 0";
        },
        "POSITIVE");
}

constexpr const char* kDescription =
    "napkin turns a neural circuit diagram into a GPU kernel, one legal relabelling at a time, and "
    "shows its work.";
constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 the input, 2 usage, 3 a wrong result, 4 a device or tool that is not "
    "there, 5 not proved, 70 a bug of napkin.";

/// What of a value may be the file: `q.npy` of `Q=q.npy`, `my.toml` of
/// `my.toml,block.capacity=1KiB`.
std::vector<std::string> files_in(const std::string& value) {
    return {value, value.substr(0, value.find(',')), value.substr(value.find('=') + 1)};
}

/// The arguments, and which of their options name files to read: outputs replace none of them, and
/// shells complete them.
struct Declared : Arguments {
    std::map<const CLI::Option*, std::string> files;  ///< the pattern of each; empty for any
};

/// Every option that names a file to read is declared through this.
template <class Value>
CLI::Option* add_file(CLI::App& app, const char* name, Value& value, const std::string& what,
                      Declared& out, const std::string& pattern) {
    CLI::Option* option = app.add_option(name, value, what);
    out.files[option] = pattern;
    return option;
}

void add_inputs(CLI::App& app, const Takes& takes, Declared& out) {
    if (takes.file) add_file(app, "FILE", out.file, takes.what, out, takes.pattern)->required();
    if (takes.derivation)
        add_file(app, "--drv", out.derivation, "replay the commands of this derivation first", out,
                 "*.drv")
            ->required(takes.derivation_required);
    if (takes.sets)
        app.add_option(
               "--set", out.sets,
               "override sizes and parameters, as in --set q=8192,eps=1e-5; may be repeated")
            ->allow_extra_args(false)
            ->type_name("NAME=VALUE");
    if (takes.machine)
        add_file(app, "--machine", out.machine,
                 "a machine by name or file, with overrides: H200,block.capacity=96KiB", out, "")
            ->required(takes.machine_required);
    if (takes.two)
        add_file(app, "DERIVATIONS", out.several, "two .drv files, the one to compare with first",
                 out, "*.drv")
            ->required()
            ->expected(2);
    if (takes.several)
        add_file(app, "MACHINES", out.several, "names or files, each with figures overridden", out,
                 "")
            ->required();
    if (takes.topic != nullptr) add_file(app, takes.topic, out.topic, takes.about, out, "");
}

void add_outputs(CLI::App& app, const Takes& takes, Declared& out) {
    if (takes.output) app.add_option("-o,--out", out.output, "write here, not to standard output");
    if (takes.json) app.add_flag("--json", out.json, "one JSON object on standard output");
    if (takes.steps) app.add_flag("--steps", out.steps, "one numbered picture for every step");
    if (takes.tile) app.add_flag("--tile", out.tile, "draw the tile program");
    if (takes.picture || takes.region)
        app.add_option("--region", out.region, "this kernel only, by an array that it saves");
    if (takes.picture) {
        app.add_option(
               "--width", out.width,
               "no wider than this: columns of text, or where it can be broken pixels of SVG and "
               "PNG, points of PDF and TeX")
            ->check(CLI::Range(1, 100000));
        app.add_flag("--per-group", out.per_group,
                     "say below what one group transfers, and how many groups there are");
        app.add_option("--theme", out.theme, "the colours, and how bold the lines are")
            ->capture_default_str()
            ->check(CLI::IsMember({"paper", "slides", "contrast", "dark"}));
        app.add_option("--font", out.font, "whether an SVG carries the letters that it is set in")
            ->capture_default_str()
            ->check(CLI::IsMember({"embed", "none"}));
    }
    if (takes.quiz)
        add_file(app, "--quiz", out.quiz, "questions, a file as docs/quiz.md describes it", out,
                 "*.quiz");
    if (takes.sheet)
        app.add_flag("--sheet", out.sheet, "write the teacher's sheet, with the answers, instead");
    if (takes.interactive) {
        CLI::Option* prompt =
            app.add_flag("-i,--interactive", out.interactive, "type commands, see what each does");
        for (const char* other : {"--out", "--json"}) prompt->excludes(app.get_option(other));
    }
    if (takes.top) app.add_option("--top", out.top, "how many to show")->check(CLI::Range(1, 1000));
}

/// Empty for `sm_90`, `sm_90a` and the like.
std::string why_no_architecture(const std::string& text) {
    const std::size_t end =
        text.find_first_not_of("0123456789", std::min<std::size_t>(3, text.size()));
    const std::string rest = end == std::string::npos ? "" : text.substr(end);
    const bool fits = text.substr(0, 3) == "sm_" && text.size() > 3 && end != 3 &&
                      (rest.empty() || rest == "a" || rest == "f");
    return fits ? "" : "`" + text + "` is no architecture: write it as `sm_90`";
}

/// The library takes -1 for the largest number, and what is larger too.
std::string why_no_seed(const std::string& text) {
    std::uint64_t seed = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, seed);
    const bool fits = parsed.ec == std::errc{} && parsed.ptr == end;
    return fits ? "" : "`" + text + "` is no whole number below 2^64";
}

void add_execution(CLI::App& app, const Takes& takes, Declared& out) {
    if (takes.as)
        app.add_option("--as", out.as, "what to write")
            ->required()
            ->check(CLI::IsMember({"tile", "schedule", "cuda", "ptx", "cubin"}));
    if (takes.as)
        app.add_option("--after", out.after, "of a schedule, the program after this pass")
            ->check(CLI::IsMember({"form", "rotate", "stages", "place", "synchronise"}));
    if (takes.mask_as)
        app.add_option("--as", out.as,
                       "rows of progressions, FlexAttention's function, lists of blocks, or, of a "
                       "matrix, a diagram")
            ->check(CLI::IsMember({"acsr", "flex", "blocks", "ncd"}));
    if (takes.mask_as)
        app.add_option("--statement", out.statement,
                       "this mask only, by the array in whose definition it stands");
    if (takes.only_target) {
        app.add_option("--target", out.only_target, "only derivations that it makes kernels of");
        app.add_option("--seconds", out.seconds,
                       "stop after so many, with what was found, as Ctrl-C does")
            ->check(positive());
        CLI::Option* measure =
            app.add_option("--measure", out.measure,
                           "time so many of the best on the GPU, and rank them by that; print the "
                           "best as a derivation")
                ->check(CLI::Range(1, 1000));
        add_file(app, "--measurements", out.measurements,
                 "the file in which times are kept; one in the cache folder when not given", out,
                 "*.sqlite")
            ->needs(measure);
    }
    if (takes.target)
        app.add_option(
            "--target", out.target,
            "simt, sm_80 or sm_90a; when not given, of each region the best that takes it on "
            "the architecture");
    if (takes.threads)
        app.add_option("--threads", out.threads, "threads of a block; chosen when not given")
            ->check(positive());
    if (takes.target)
        add_file(app, "--schedule", out.schedule,
                 "how regions are carried out, a TOML file such as `emit --as schedule` writes; "
                 "what it leaves open is chosen",
                 out, "*.toml");
    if (takes.proof) {
        add_file(app, "--certificate", out.certificate,
                 "the certificate of this derivation, instead of a proof", out, "*.json");
        app.add_flag("--unproved", out.unproved,
                     "write kernels that are neither proved nor refuted, too");
    }
    if (takes.arch)
        app.add_option("--arch", out.arch, "the GPU architecture that kernels are made for")
            ->capture_default_str()
            ->check(CLI::Validator(why_no_architecture, "ARCH"));
    if (takes.device)
        app.add_option("--device", out.device, "where to run: cpu, emulator or cuda")
            ->capture_default_str()
            ->check(CLI::IsMember({"cpu", "emulator", "cuda"}));
    if (takes.inputs)
        add_file(app, "--input", out.inputs, "an input from a file; may be repeated", out, "")
            ->allow_extra_args(false)
            ->type_name("ARRAY=FILE.npy");
    if (takes.outputs)
        app.add_option("--output", out.outputs, "an output to a file; may be repeated")
            ->allow_extra_args(false)
            ->type_name("ARRAY=FILE.npy");
    if (takes.calibration)
        app.add_flag("--print", out.print,
                     "write the kernels that would measure, for `--arch`, and run nothing");
    if (takes.sweep) {
        app.add_option("--sweep", out.sweep,
                       "times while sizes or a figure of the machine change, as in q=512..16384 or "
                       "device.bandwidth=1TB/s..10TB/s, and where another unit binds or another "
                       "derivation is better")
            ->type_name("NAME=FROM..TO");
        add_file(app, "--against", out.against,
                 "another derivation to sweep beside this one; may be repeated", out, "*.drv")
            ->allow_extra_args(false);
    }
    if (takes.levels)
        app.add_flag("--levels", out.levels,
                     "also what the best transfers into each level of the machine, what clusters "
                     "save, and what values half as wide do");
    if (takes.exported) {
        app.add_option("-o,--out", out.output, "the folder to write")->required();
        app.add_option(
               "--dynamic", out.dynamic,
               "axes whose sizes are given at run time, as in --dynamic b,q; may be repeated")
            ->allow_extra_args(false)
            ->delimiter(',')
            ->type_name("AXIS");
        app.add_option("--name", out.name,
                       "of the files, functions and the operator, instead of the diagram's")
            ->check(CLI::Validator(
                [](const std::string& text) { return text.empty() ? "a name is a word" : ""; },
                "WORD"));
        CLI::Option* gradient = add_file(
            app, "--gradient", out.gradient,
            "the diagram of its gradient, exported with it: the operator has a backward then", out,
            "*.ncd");
        add_file(app, "--gradient-drv", out.gradient_derivation, "the derivation of the gradient",
                 out, "*.drv")
            ->needs(gradient);
        app.add_option(
               "--cubin", out.cubins,
               "architectures that kernels are compiled for now, as in --cubin sm_80,sm_90, "
               "so that building the library needs no nvcc; may be repeated")
            ->allow_extra_args(false)
            ->delimiter(',')
            ->type_name("ARCH")
            ->check(CLI::Validator(why_no_architecture, "ARCH"));
    }
    if (takes.check)
        app.add_flag("--no-check", out.no_check,
                     "time only: results are not compared with the reference, and `unchecked`");
    if (takes.seed)
        app.add_option("--seed", out.seed, "of the random inputs")
            ->capture_default_str()
            ->check(CLI::Validator(why_no_seed, "NUMBER"));
}

bool is_subcommand(std::string_view word) {
    const auto commands = all_subcommands();
    return std::any_of(commands.begin(), commands.end(),
                       [&](const Subcommand& command) { return command.name == word; });
}

/// Options that print a text for a package, and end.
void add_texts(CLI::App& app) {
    app.set_version_flag("--version", "napkin " + version_text());
    app.add_option_function<std::string>(
           "--completions",
           [](const std::string& shell) {
               print_data(completions(shell));
               throw CLI::Success();
           },
           "print the completions of a shell")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->trigger_on_parse();
    app.add_flag_callback(
           "--manual",
           [] {
               print_data(manual_page());
               throw CLI::Success();
           },
           "print the manual page")
        ->trigger_on_parse();
}

void add_subcommands(CLI::App& app, Declared& out) {
    for (const Subcommand& command : all_subcommands()) {
        CLI::App* sub =
            app.add_subcommand(std::string(command.name), std::string(command.description));
        sub->footer("Example:\nnapkin " + std::string(command.example));
        add_inputs(*sub, command.takes, out);
        add_outputs(*sub, command.takes, out);
        add_execution(*sub, command.takes, out);
    }
}

/// Says of every machine that is asked for which ones napkin knows; completions have them anyway.
void name_machines(CLI::App& app) {
    for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
        for (const char* name : {"--machine", "MACHINES"})
            if (CLI::Option* option = sub->get_option_no_throw(name))
                option->description(option->get_description() + "; known are " +
                                    joined(machine_names()));
}

/// The set of a check, which the library shows as `{a,b}`.
std::vector<std::string> choices_in(const std::string& type) {
    std::vector<std::string> choices;
    const std::size_t open = type.find('{');
    if (open == std::string::npos) return choices;
    std::string word;
    for (const char c : type.substr(open + 1)) {
        if (c != ',' && c != '}') {
            word += c;
            continue;
        }
        choices.push_back(word);
        word.clear();
        if (c == '}') break;
    }
    return choices;
}

OptionUsage usage_of(const CLI::Option& option, const CommandUsage& command,
                     const Declared& declared) {
    const std::string name = option.get_single_name();
    const bool machine = name == "machine" || name == "MACHINES" || name == "MACHINE" ||
                         (name == "NAME" && command.name == "machines");
    OptionUsage usage;
    for (const std::string& letter : option.get_snames()) usage.names.push_back("-" + letter);
    for (const std::string& word : option.get_lnames()) usage.names.push_back("--" + word);
    const std::string type = option.get_type_name();
    if (usage.names.empty())
        usage.value = name;
    else if (option.get_items_expected_max() > 0)
        usage.value =
            type.empty() || type.starts_with("TEXT") ? "VALUE" : type.substr(0, type.find(':'));
    usage.description = option.get_description();
    usage.choices = machine ? machine_names() : choices_in(type);
    if (const auto file = declared.files.find(&option); file != declared.files.end())
        usage.files = file->second;
    else if (name == "out")
        usage.files = "*";
    usage.repeated = option.get_items_expected_max() > 1;
    return usage;
}

}  // namespace

std::string about_napkin() {
    return kDescription;
}

std::string about_exit_codes() {
    return kFooter;
}

std::vector<CommandUsage> all_usages() {
    Declared declared;
    CLI::App app;
    add_subcommands(app, declared);
    std::vector<CommandUsage> usages;
    for (const CLI::App* sub :
         std::as_const(app).get_subcommands([](const CLI::App*) { return true; })) {
        CommandUsage command{sub->get_name(), sub->get_description(), {}};
        for (const CLI::Option* option : sub->get_options())
            if (option != sub->get_help_ptr())
                command.options.push_back(usage_of(*option, command, declared));
        usages.push_back(std::move(command));
    }
    return usages;
}

std::variant<Arguments, int> parse_arguments(int count, const char* const* words) {
    Declared out;
    CLI::App app{broken(kDescription), "napkin"};
    app.footer(broken(kFooter));
    add_texts(app);
    app.require_subcommand(1);
    add_subcommands(app, out);
    name_machines(app);
    if (count < 2) {
        break_lines(app);
        print_talk(app.help());
        return kUsage;
    }
    // `napkin help cost` is `napkin cost --help`, `napkin help stream` what the prompt says of it.
    std::vector<const char*> asked = {words[0]};
    if (std::string_view(words[1]) == "help") {
        if (count > 2 && !is_subcommand(words[2]) && is_told_of(words[2])) {
            print_lines(help_on(words[2], {}));
            return kOk;
        }
        if (count > 2) asked.push_back(words[2]);
        asked.push_back("--help");
        words = asked.data();
        count = static_cast<int>(asked.size());
    }
    if (words[1][0] != '-' && !is_subcommand(words[1])) {
        const std::optional<std::string> near = subcommand_near(words[1]);
        print_talk("napkin: there is no command `" + std::string(words[1]) + "`; " +
                   (near ? "did you mean `" + *near + "`?" : "`napkin --help` lists them") + "\n");
        return kUsage;
    }
    try {
        app.parse(count, words);
    } catch (const CLI::Success& done) {  // --help, --version
        break_lines(app);
        return app.exit(done);
    } catch (const CLI::ParseError& wrong) {
        const std::vector<CLI::App*> chosen = app.get_subcommands();
        const std::string unknown =
            chosen.empty() ? "" : unknown_options(*chosen.front(), chosen.front()->remaining());
        print_talk("napkin: " + (unknown.empty() ? wrong.what() + std::string("\n") : unknown));
        const std::string which = chosen.empty() ? "" : " " + chosen.front()->get_name();
        print_talk("`napkin" + which + " --help` shows the usage\n");
        return kUsage;
    }
    for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
        if (out.output == name) out.output = "-";
    out.command = app.get_subcommands().front()->get_name();
    for (const auto& [option, pattern] : out.files)
        for (const std::string& value : option->results())
            for (std::string& file : files_in(value)) out.reads.push_back(std::move(file));
    return Arguments(std::move(out));
}

}  // namespace napkin::cli
