// The manual page, in the macros of man(7).
#include "cli/usage/usage.h"

namespace napkin::cli {
namespace {

/// Text that no macro or hyphenation changes.
std::string plain(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '`')
            out += "\\(ga";
        else
            out += c;
    }
    return (out.starts_with('.') || out.starts_with('\'') ? "\\&" : "") + out;
}

std::string bold(const std::string& text) {
    return "\\fB" + plain(text) + "\\fR";
}

std::string italic(const std::string& text) {
    return "\\fI" + plain(text) + "\\fR";
}

std::string option_entry(const OptionUsage& option) {
    std::string head;
    for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + bold(name);
    if (!option.value.empty()) head += (head.empty() ? "" : " ") + italic(option.value);
    std::string text = plain(option.description);
    if (!option.choices.empty()) {
        for (const std::string& choice : option.choices)
            text += (choice == option.choices.front() ? " (" : ", ") + plain(choice);
        text += ")";
    }
    return ".TP\n" + head + "\n" + text + "\n";
}

std::string command_section(const CommandUsage& command) {
    std::string head = bold("napkin " + command.name);
    for (const OptionUsage& option : command.options)
        if (option.names.empty()) head += " " + italic(option.value);
    std::string text = ".SS " + head + "\n" + plain(command.description) + ".\n";
    for (const OptionUsage& option : command.options) text += option_entry(option);
    return text;
}

std::string variable(const std::string& name, const std::string& text) {
    return ".TP\n" + bold(name) + "\n" + plain(text) + "\n";
}

}  // namespace

std::string manual_page() {
    std::string text = ".TH NAPKIN 1 \"\" \"napkin " + plain(version_text()) +
                       "\" \"User Commands\"\n"
                       ".SH NAME\nnapkin \\- from neural circuit diagrams to GPU kernels\n"
                       ".SH SYNOPSIS\n.B napkin\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIFILE\\fR]\n"
                       ".SH DESCRIPTION\n" +
                       plain(about_napkin()) + "\n.SH COMMANDS\n";
    for (const CommandUsage& command : all_usages()) text += command_section(command);
    return text + ".SH \"EXIT STATUS\"\n" + plain(about_exit_codes()) + "\n.SH ENVIRONMENT\n" +
           variable("NAPKIN_NVRTC",
                    "the file of the NVRTC library, which compiles kernels, in place of the search "
                    "of the library path, beside the program, CUDA_HOME, CUDA's usual folders and "
                    "Python's packages") +
           variable("XDG_CACHE_HOME",
                    "where compiled kernels and the prompt's history are kept, "
                    "below napkin/; ~/.cache when not set") +
           variable("NO_COLOR", "when set, messages have no colours");
}

}  // namespace napkin::cli
