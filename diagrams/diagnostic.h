// Errors that the user can mend: data with a code, a place and a fix. Wording lives in one
// catalogue per folder
// (`diagrams/messages.h` and its like), one factory function per code.
#pragma once

#include <string>
#include <vector>

#include "diagrams/source.h"

namespace napkin {

enum class Severity { Error, Warning };

/// A place with a remark under its caret.
struct Label {
    Span span;
    std::string text;
};

/// What sort of failure it is; decides the exit code of the command line.
enum class Failure {
    Input,
    Missing,
    NotProved
};  // 1: the user's input, 4: a device or tool is not there, 5

/// One message to the user: lower case, no full stop, names in backquotes; the fix is in `help`.
struct Diagnostic {
    std::string code;  ///< `E0103`, `W0201`; stable, one golden per code
    std::string message;
    Severity severity = Severity::Error;
    Failure failure = Failure::Input;
    bool has_place = true;  ///< false when there is no source text to point at (a missing file, a
                            ///< missing device)
    Label primary;
    std::vector<Label> related;
    std::string help;  ///< empty when there is no fix to offer
};

/// What a stage collected; errors and warnings in the order found.
struct Diagnostics {
    std::vector<Diagnostic> list;
    void add(Diagnostic diagnostic) { list.push_back(std::move(diagnostic)); }
    [[nodiscard]] bool has_errors() const;
};

/// A diagnostic without a place in a source text, such as a file that cannot be read.
[[nodiscard]] Diagnostic plain_error(std::string code, std::string message, std::string help = "",
                                     Failure failure = Failure::Input);

/// The text shown to the user: place, caret lines, related places, help. `color` uses ANSI escapes.
[[nodiscard]] std::string render(const Diagnostic& diagnostic, const SourceMap& sources,
                                 bool color = false);

}  // namespace napkin
