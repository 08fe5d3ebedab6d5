#include <fmt/format.h>

#include <algorithm>

#include "cli/lsp/features.h"
#include "cli/lsp/study.h"
#include "cli/lsp/words.h"
#include "diagrams/syntax/lexer.h"

namespace napkin::lsp {
namespace {

using Edits = std::map<std::string, std::vector<Edit>>;

bool is_in(const std::vector<Word>& words, const std::string& name) {
    return std::any_of(words.begin(), words.end(),
                       [&](const Word& word) { return word.is_name && word.text == name; });
}

/// Arrays and axes; a function is nobody's to rename here.
bool is_declared(const std::optional<Diagram>& diagram, const std::string& name) {
    return diagram &&
           (diagram->name == name || find_axis(*diagram, name) || find_array(*diagram, name));
}

/// The texts in which a name of this place's text stands for the same.
std::vector<std::string> texts_with(const Place& place, const std::string& name) {
    std::string diagram = place.uri;
    if (is_derivation(place.uri)) {
        const Study study = study_derivation(place.workspace, place.uri, place.text);
        const std::optional<std::string> own = place.workspace.diagram_of(place.uri);
        if (!own || !is_declared(study.plain, name)) return {place.uri};
        diagram = *own;
    }
    std::vector<std::string> texts = place.workspace.derivations_of(diagram);
    texts.insert(texts.begin(), diagram);
    return texts;
}

std::vector<Edit> edits_of(const std::string& uri, const Text& text, const std::string& name,
                           const std::string& with) {
    std::vector<Edit> edits;
    for (const Word& word : words_of(uri, text))
        if (word.is_name && word.text == name) edits.push_back({text.range(word.span), with});
    return edits;
}

std::string edited(const Text& text, const std::vector<Edit>& edits) {
    std::string bytes = text.bytes();
    for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
        const std::size_t begin = text.offset(edit->range.start);
        bytes.replace(begin, text.offset(edit->range.end) - begin, edit->text);
    }
    return bytes;
}

/// The diagram with the name put back, which then is the one that it was.
Diagram put_back(Diagram diagram, const std::string& name, const std::string& with) {
    // What the checker hoists out of `S` is called `S.1`.
    const auto put = [&](std::string& known) {
        if (known == with || known.starts_with(with + ".")) known.replace(0, with.size(), name);
    };
    for (Axis& axis : diagram.axes) put(axis.name);
    for (Array& array : diagram.arrays) put(array.name);
    put(diagram.name);
    return diagram;
}

/// Errors of a text: how many, so that none is added.
std::size_t errors_of(const Study& study) {
    return static_cast<std::size_t>(
        std::count_if(study.diagnostics.list.begin(), study.diagnostics.list.end(),
                      [](const Diagnostic& each) { return each.severity == Severity::Error; }));
}

/// Why what comes out would not be the same.
std::optional<std::string> why_not(const Place& place, const Edits& edits, const std::string& name,
                                   const std::string& with) {
    Workspace after = place.workspace;
    for (const auto& [uri, list] : edits)
        if (const std::optional<Text> text = place.workspace.read(uri))
            after.put(uri, edited(*text, list));
    for (const auto& [uri, list] : edits) {
        const Study before_study = study(place.workspace, uri, *place.workspace.read(uri));
        const Study after_study = study(after, uri, *after.read(uri));
        if (errors_of(after_study) != errors_of(before_study))
            return fmt::format("`{}` would have errors then", path_of(uri));
        if (before_study.plain && !is_derivation(uri) &&
            put_back(*after_study.plain, name, with) != *before_study.plain)
            return fmt::format("`{}` would mean something else then", path_of(uri));
    }
    return std::nullopt;
}

}  // namespace

std::optional<Range> renamed_range(const Place& place) {
    const std::optional<Word> word =
        word_at(words_of(place.uri, place.text), place.text.offset(place.position));
    if (!word || !word->is_name) return std::nullopt;
    const Study known = study(place.workspace, place.uri, place.text);
    const bool of_diagram = is_declared(known.plain, word->text);
    const bool of_derivation =
        std::any_of(known.states.begin(), known.states.end(),
                    [&](const State& state) { return is_declared(state.diagram, word->text); });
    if (!of_diagram && !of_derivation) return std::nullopt;
    return place.text.range(word->span);
}

std::variant<Edits, std::string> rename(const Place& place, const std::string& name) {
    const std::optional<Range> range = renamed_range(place);
    if (!range)
        return std::string("no axis, array or diagram stands there, or the text has errors");
    const std::size_t begin = place.text.offset(range->start);
    const std::string old = place.text.bytes().substr(begin, place.text.offset(range->end) - begin);
    if (!syntax::is_name(name))
        return fmt::format(
            "`{}` is no name: letters, digits and `_`, no digit first, no word of "
            "the language",
            name);
    Edits edits;
    for (const std::string& uri : texts_with(place, old)) {
        const std::optional<Text> text = place.workspace.read(uri);
        if (!text) continue;
        if (name != old && is_in(words_of(uri, *text), name))
            return fmt::format("`{}` stands in `{}` already", name, path_of(uri));
        std::vector<Edit> list = edits_of(uri, *text, old, name);
        if (!list.empty()) edits.emplace(uri, std::move(list));
    }
    if (const std::optional<std::string> reason = why_not(place, edits, old, name)) return *reason;
    return edits;
}

}  // namespace napkin::lsp
