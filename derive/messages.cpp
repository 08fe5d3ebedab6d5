#include "derive/messages.h"

#include <utility>

namespace napkin::messages {

namespace {

Diagnostic at(Span place, std::string code, std::string message, std::string label,
              std::string help = "") {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.primary = {place, std::move(label)};
    diagnostic.help = std::move(help);
    return diagnostic;
}

}  // namespace

Diagnostic unexpected_character(Span place, char character) {
    return at(place, "E0601",
              std::string("unexpected character `") + character + "` in a derivation", "here",
              "a command is a rule, names separated by commas, and clauses such as `by 64`, `at "
              "l1`, `in O`");
}

Diagnostic unexpected_word(Span place, const std::string& word) {
    return at(place, "E0602", "unexpected `" + word + "`", "here",
              "clauses are `as NAMES`, `by SIZE`, `at LEVEL`, `to TYPE` and `in REGION`, each at "
              "most once");
}

Diagnostic missing_name(Span after, const std::string& word) {
    return at(after, "E0603", "a name is missing after `" + word + "`", "after this");
}

Diagnostic missing_size(Span after) {
    return at(after, "E0608", "a size is missing", "after this");
}

Diagnostic bracket_left_open(Span place) {
    return at(place, "E0609", "a bracket is left open", "this one", "axes end with `]`");
}

Diagnostic bad_size(Span place, const std::string& text) {
    return at(place, "E0604", "`" + text + "` is not a size", "here",
              "a size is a whole number from 1 to 2^63 - 1");
}

Diagnostic step_refused(Span place, const std::string& command, const std::string& reason,
                        const std::string& help) {
    return at(place, "E0606", "`" + command + "` does not apply: " + reason, "this step", help);
}

Diagnostic opaque_box(Span place, const std::string& name) {
    return at(place, "E0607",
              "`" + name + "` is opaque: it is drawn and costed, but has no meaning to execute",
              "declared here", "write the box out in index notation to run it");
}

}  // namespace napkin::messages
