#include "cli/line_reader.h"

#include <histedit.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cli/console.h"

namespace napkin::cli {

struct LineReader::Editor {
    EditLine* line = nullptr;
    History* history = nullptr;
    HistEvent event{};
    std::string prompt;
    std::string history_path;
    Completer completer;
};

namespace {

constexpr int kHistorySize = 1000;

std::string common_prefix(const std::vector<std::string>& words) {
    std::string prefix = words.front();
    for (const std::string& word : words) {
        std::size_t length = 0;
        while (length < prefix.size() && length < word.size() && prefix[length] == word[length])
            ++length;
        prefix.resize(length);
    }
    return prefix;
}

std::vector<std::string> starting_with(std::string_view start, std::vector<std::string> words) {
    std::erase_if(words, [&](const std::string& word) {
        return std::string_view(word).substr(0, start.size()) != start;
    });
    return words;
}

/// What the tab key does: completes the word before the cursor as far as it is certain, else lists
/// what it may be.
unsigned char complete(EditLine* line, const Completer& completer) {
    const LineInfo* info = el_line(line);
    const std::string_view typed(info->buffer,
                                 static_cast<std::size_t>(info->cursor - info->buffer));
    const std::size_t space = typed.find_last_of(" ,");
    const std::string_view word = space == std::string_view::npos ? typed : typed.substr(space + 1);
    const std::string_view before = typed.substr(0, typed.size() - word.size());
    const std::vector<std::string> fitting = starting_with(word, completer(before));
    if (fitting.empty()) return CC_ERROR;
    std::string more = common_prefix(fitting).substr(word.size());
    if (fitting.size() == 1) more += ' ';
    if (!more.empty()) return el_insertstr(line, more.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    std::string list = "\n";
    for (const std::string& candidate : fitting) list += "  " + candidate;
    print_data(list + "\n");
    std::fflush(stdout);
    return CC_REDISPLAY;
}

/// What ^C does: the line is given up, the session is not.
unsigned char give_up(EditLine* line, int /*key*/) {
    const LineInfo* info = el_line(line);
    const auto length = static_cast<int>(info->lastchar - info->buffer);
    print_data("^C\n");
    std::fflush(stdout);
    el_cursor(line, length);
    el_deletestr(line, length);
    return CC_REDISPLAY;
}

/// What ^Z does, with the terminal as the shell wants it.
unsigned char suspend(EditLine* line, int /*key*/) {
    el_set(line, EL_PREP_TERM, 0);
    ::raise(SIGTSTP);
    el_set(line, EL_PREP_TERM, 1);
    return CC_REDISPLAY;
}

}  // namespace

LineReader::LineReader(std::string prompt, std::string history, Completer completer)
    : prompt_(std::move(prompt)) {
    if (::isatty(STDIN_FILENO) == 0) return;
    editor_ = std::make_unique<Editor>();
    Editor& editor = *editor_;
    editor.prompt = prompt_;
    editor.history_path = std::move(history);
    editor.completer = std::move(completer);
    editor.line = el_init("napkin", stdin, stdout, stderr);
    editor.history = history_init();
    ::history(editor.history, &editor.event, H_SETSIZE, kHistorySize);
    ::history(editor.history, &editor.event, H_SETUNIQUE, 1);
    if (!editor.history_path.empty())
        ::history(editor.history, &editor.event, H_LOAD, editor.history_path.c_str());
    using PromptFunction = char* (*)(EditLine*);
    using KeyFunction = unsigned char (*)(EditLine*, int);
    const PromptFunction prompt_of = [](EditLine* line) {
        void* self = nullptr;
        el_get(line, EL_CLIENTDATA, &self);
        return static_cast<Editor*>(self)->prompt.data();
    };
    const KeyFunction tab = [](EditLine* line, int /*key*/) {
        void* self = nullptr;
        el_get(line, EL_CLIENTDATA, &self);
        return complete(line, static_cast<Editor*>(self)->completer);
    };
    el_set(editor.line, EL_CLIENTDATA, &editor);
    el_set(editor.line, EL_PROMPT, prompt_of);
    el_set(editor.line, EL_EDITOR, "emacs");
    el_set(editor.line, EL_SIGNAL, 1);
    // While a line is edited ^C and ^Z are keys; while a command runs they are signals.
    el_set(editor.line, EL_SETTY, "-d", "-isig", nullptr);
    el_set(editor.line, EL_HIST, ::history, editor.history);
    el_set(editor.line, EL_ADDFN, "napkin-complete", "complete the word", tab);
    el_set(editor.line, EL_BIND, "^I", "napkin-complete", nullptr);
    el_set(editor.line, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_set(editor.line, EL_ADDFN, "napkin-give-up", "give the line up", give_up);
    el_set(editor.line, EL_BIND, "^C", "napkin-give-up", nullptr);
    el_set(editor.line, EL_ADDFN, "napkin-suspend", "back to the shell", suspend);
    el_set(editor.line, EL_BIND, "^Z", "napkin-suspend", nullptr);
    el_source(editor.line, nullptr);
}

LineReader::~LineReader() {
    if (!editor_) return;
    if (!editor_->history_path.empty()) {
        const std::filesystem::path path(editor_->history_path);
        std::error_code ignored;
        std::filesystem::create_directories(path.parent_path(), ignored);
        ::history(editor_->history, &editor_->event, H_SAVE, path.c_str());
    }
    history_end(editor_->history);
    el_end(editor_->line);
}

std::optional<std::string> LineReader::next_piped() {
    char* buffer = nullptr;
    std::size_t capacity = 0;
    const ssize_t length = ::getline(&buffer, &capacity, stdin);
    std::string line(buffer == nullptr || length < 0 ? "" : buffer,
                     length < 0 ? 0 : static_cast<std::size_t>(length));
    std::free(buffer);
    if (length < 0) return std::nullopt;
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    print_data(prompt_ + line + "\n");
    return line;
}

std::optional<std::string> LineReader::next() {
    std::fflush(stdout);
    if (!editor_) return next_piped();
    int length = 0;
    const char* text = el_gets(editor_->line, &length);
    if (text == nullptr || length <= 0) {
        print_data("\n");
        return std::nullopt;
    }
    std::string line(text, static_cast<std::size_t>(length));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    if (!line.empty()) ::history(editor_->history, &editor_->event, H_ENTER, line.c_str());
    return line;
}

void LineReader::type(const std::string& text) {
    if (editor_ && !text.empty()) el_push(editor_->line, text.c_str());
}

std::string history_file() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
        return std::string(cache) + "/napkin/history";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
        return std::string(home) + "/.cache/napkin/history";
    return "";
}

}  // namespace napkin::cli
