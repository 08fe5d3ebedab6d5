#include "tests/support/forms.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

Form read_form(const std::filesystem::path& path) {
    Form form;
    form.name = path.stem().string();
    std::istringstream lines(read_text(path));
    std::string line;
    while (std::getline(lines, line)) {
        if (line.rfind("#>", 0) == 0) {
            form.commands += line.substr(3) + "\n";
        } else if (line.rfind("#!", 0) == 0) {
            std::istringstream words(line.substr(3));
            std::string how;
            std::string like;
            Change change;
            double amount = 0;
            words >> how >> change.input >> amount >> like;
            (how == "large" ? change.factor : how == "fall" ? change.fall : change.offset) = amount;
            form.changes.push_back(change);
            if (like == "like") words >> form.like;
        }
        form.text += line + "\n";
    }
    return form;
}

}  // namespace

std::vector<Form> all_forms() {
    std::vector<std::filesystem::path> paths;
    const char* const given = std::getenv("NAPKIN_FORMS");  // another folder to look for faults in
    const char* const folder = given != nullptr ? given : NAPKIN_FORMS_DIR;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<Form> forms;
    for (const std::filesystem::path& path : paths) forms.push_back(read_form(path));
    return forms;
}

std::string commands_of(const Form& form, std::int64_t size) {
    std::string commands = form.commands;
    for (std::size_t at = commands.find("SIZE"); at != std::string::npos;
         at = commands.find("SIZE"))
        commands.replace(at, 4, std::to_string(size));
    return commands;
}

std::variant<State, std::string> state_of(const Diagram& diagram, const std::string& text) {
    State state = initial_state(diagram);
    for (const Command& command : commands(text)) {
        Outcome outcome = apply(state, command);
        if (const NotApplicable* no = std::get_if<NotApplicable>(&outcome))
            return print(command) + ": " + no->reason;
        state = std::move(std::get<State>(outcome));
    }
    return state;
}

}  // namespace napkin::test
