#include "tests/language/parse_property.h"

#include "diagrams/syntax.h"

namespace napkin::test {

namespace {

std::string failure_of_messages(const Diagnostics& errors, const SourceMap& sources) {
    if (!errors.has_errors()) return "no tree and no error";
    const std::size_t size = sources.files.front().text.size();
    for (const Diagnostic& error : errors.list) {
        const Span span = error.primary.span;
        if (span.begin > span.end || span.end > size)
            return "a span outside the text: " + error.code;
        if (error.message.empty() || error.code.size() != 5) return "a message without a text";
        const std::string shown = render(error, sources);
        if (shown.size() > 4000) return "a message that is too long: " + error.code;
    }
    return "";
}

}  // namespace

std::string parse_property_failure(const std::string& text) {
    SourceMap sources;
    const Result<syntax::File> tree = syntax::parse(sources, sources.add("fuzz.ncd", text));
    if (!tree) return failure_of_messages(tree.error(), sources);
    const std::string printed = syntax::print(*tree);
    const Result<syntax::File> again = syntax::parse(sources, sources.add("again.ncd", printed));
    if (!again)
        return "the printed text is refused:\n" + printed + "\n" +
               render(again.error().list.front(), sources);
    if (!(*again == *tree)) return "the printed text reads as another tree:\n" + printed;
    if (syntax::print(*again) != printed) return "formatting twice changes the text:\n" + printed;
    return "";
}

}  // namespace napkin::test
