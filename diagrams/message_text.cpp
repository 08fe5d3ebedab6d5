#include "diagrams/message_text.h"

#include <utility>

namespace napkin::messages {

Diagnostic make_error(std::string code, Span place, std::string message, std::string remark,
                      std::string help) {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.primary = {place, std::move(remark)};
    diagnostic.help = std::move(help);
    return diagnostic;
}

Diagnostic make_warning(std::string code, Span place, std::string message, std::string remark,
                        std::string help) {
    Diagnostic diagnostic =
        make_error(std::move(code), place, std::move(message), std::move(remark), std::move(help));
    diagnostic.severity = Severity::Warning;
    return diagnostic;
}

// Concatenation in steps: GCC 12 warns falsely about chains that begin with a literal.
std::string quoted(std::string_view text) {
    std::string result = "`";
    result += text;
    result += '`';
    return result;
}

std::string join(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (std::string_view part : parts) text += part;
    return text;
}

std::string did_you_mean(std::string_view meant, std::string otherwise) {
    return meant.empty() ? std::move(otherwise) : join({"did you mean ", quoted(meant), "?"});
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
    std::string text = std::to_string(count);
    text += ' ';
    text += count == 1 ? one : many;
    return text;
}

}  // namespace napkin::messages
