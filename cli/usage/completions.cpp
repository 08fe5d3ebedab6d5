// Scripts that complete what is typed after `napkin`, for three shells.
#include "cli/usage/usage.h"

namespace napkin::cli {
namespace {

std::string joined(const std::vector<std::string>& words, const std::string& between) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
    return text;
}

/// The text with a backslash before each of the characters.
std::string escaped(const std::string& text, const std::string& special) {
    std::string out;
    for (const char c : text) {
        if (special.find(c) != std::string::npos) out += '\\';
        out += c;
    }
    return out;
}

/// Between single quotes, as shells read them.
std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string first_line(const std::string& shell) {
    return "# Completions of napkin, made by `napkin --completions " + shell + "`.\n";
}

std::string bash_reply(const std::string& which) {
    return "COMPREPLY=($(compgen " + which + " -- \"$word\"))";
}

std::string bash_values(const OptionUsage& option) {
    if (!option.choices.empty()) return bash_reply("-W " + quoted(joined(option.choices, " ")));
    if (!option.files.empty()) return bash_reply("-f -X " + quoted("!" + option.files));
    return "COMPREPLY=()";
}

/// By the option before the cursor, else by the subcommand.
std::string bash() {
    std::vector<std::string> commands = {"--help", "--version"};
    std::string values;
    std::string words;
    for (const CommandUsage& command : all_usages()) {
        commands.push_back(command.name);
        std::vector<std::string> options = {"--help"};
        std::string plain = "COMPREPLY=()";
        for (const OptionUsage& option : command.options) {
            if (option.names.empty()) plain = bash_values(option);
            for (const std::string& name : option.names) {
                options.push_back(name);
                if (!option.value.empty())
                    values += "    " + quoted(command.name + " " + name) + ") " +
                              bash_values(option) + "; return ;;\n";
            }
        }
        words += "    " + command.name + ") if [[ $word == -* ]]; then " +
                 bash_reply("-W " + quoted(joined(options, " "))) + "; else " + plain + "; fi ;;\n";
    }
    return first_line("bash") +
           "_napkin() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} IFS=$' \\t\\n'\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        " +
           bash_reply("-W " + quoted(joined(commands, " "))) +
           "\n        return\n    fi\n"
           "    case \"$command ${COMP_WORDS[COMP_CWORD-1]}\" in\n" +
           values + "    esac\n    case \"$command\" in\n" + words +
           "    esac\n}\n"
           "complete -o filenames -o plusdirs -F _napkin napkin\n";
}

std::string zsh_value(const OptionUsage& option) {
    std::string text = ":" + escaped(option.value, ":\\") + ":";
    if (!option.choices.empty()) return text + "(" + joined(option.choices, " ") + ")";
    if (!option.files.empty()) return text + "_files -g \"" + option.files + "\"";
    return text;
}

/// The arguments of `_arguments` for one option.
std::vector<std::string> zsh_specs(const OptionUsage& option) {
    if (option.names.empty()) return {(option.repeated ? "*" : "1") + zsh_value(option)};
    const std::string others = option.repeated           ? "*"
                               : option.names.size() > 1 ? "(" + joined(option.names, " ") + ")"
                                                         : "";
    std::vector<std::string> specs;
    for (const std::string& name : option.names)
        specs.push_back(others + name + "[" + escaped(option.description, "[]:\\") + "]" +
                        (option.value.empty() ? "" : zsh_value(option)));
    return specs;
}

std::string zsh() {
    std::string commands;
    std::string cases;
    for (const CommandUsage& command : all_usages()) {
        commands +=
            "        " + quoted(command.name + ":" + escaped(command.description, ":\\")) + "\n";
        cases += "    " + command.name + ") _arguments -s '--help[show the usage]'";
        for (const OptionUsage& option : command.options)
            for (const std::string& spec : zsh_specs(option))
                cases += " \\\n        " + quoted(spec);
        cases += " ;;\n";
    }
    return "#compdef napkin\n" + first_line("zsh") +
           "_napkin() {\n"
           "    if (( CURRENT == 2 )); then\n"
           "        local -a commands=(\n" +
           commands +
           "        )\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $words[1] in\n" +
           cases +
           "    esac\n}\n"
           "if [ \"$funcstack[1]\" = _napkin ]; then _napkin \"$@\"; else compdef _napkin napkin; "
           "fi\n";
}

std::string fish_option(const std::string& command, const OptionUsage& option) {
    std::string line = "complete -c napkin -n '__fish_seen_subcommand_from " + command + "'";
    for (const std::string& name : option.names)
        line += name.substr(0, 2) == "--" ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.choices.empty())
        line += (option.names.empty() ? " -a " : " -x -a ") + quoted(joined(option.choices, " "));
    else if (!option.files.empty() && option.files != "*")
        line += (option.names.empty() ? " -a " : " -x -a ") +
                quoted("(__fish_complete_suffix " + option.files.substr(1) + ")");
    else if (!option.value.empty())
        line += option.files.empty() ? " -x" : " -r -F";
    if (!option.names.empty()) line += " -d " + quoted(escaped(option.description, "\\"));
    return line + "\n";
}

std::string fish() {
    std::string text =
        first_line("fish") +
        "complete -c napkin -f\n"
        "complete -c napkin -l help -d 'show the usage'\n"
        "complete -c napkin -n __fish_use_subcommand -l version -d 'show the version'\n";
    for (const CommandUsage& command : all_usages()) {
        text += "complete -c napkin -n __fish_use_subcommand -a " + command.name + " -d " +
                quoted(escaped(command.description, "\\")) + "\n";
        for (const OptionUsage& option : command.options) text += fish_option(command.name, option);
    }
    return text;
}

}  // namespace

std::string completions(const std::string& shell) {
    if (shell == "bash") return bash();
    return shell == "zsh" ? zsh() : fish();
}

}  // namespace napkin::cli
