#include <algorithm>
#include <set>

#include "cli/lsp/features.h"
#include "cli/lsp/study.h"
#include "cli/lsp/vocabulary.h"
#include "cli/lsp/words.h"
#include "cli/prompt_help.h"
#include "diagrams/check.h"
#include "diagrams/check/functions.h"

namespace napkin::lsp {
namespace {

using Kind = Completion::Kind;

/// What stands before the place on its line.
std::string before(const Place& place) {
    const std::size_t start = place.text.offset({place.position.line, 0});
    return place.text.bytes().substr(start, place.text.offset(place.position) - start);
}

/// Without the word that is being written.
std::string without_last_word(std::string text) {
    const auto is_of_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    };
    while (!text.empty() && is_of_word(text.back())) text.pop_back();
    return text;
}

bool is_blank(const std::string& text) {
    return text.find_first_not_of(" \t") == std::string::npos;
}

/// Names as the text writes them, whether or not it is right: what stands before a bracket is an
/// array or an operation, other names may be anything.
void add_names(const Place& place, std::vector<Completion>& list) {
    std::set<std::string> known;
    const Study study = study_diagram(place.uri, place.text);
    const std::vector<Word> words = words_of(place.uri, place.text);
    const std::size_t here = place.text.offset(place.position);
    for (const Word& word : words) {
        const bool being_written = word.span.begin <= here && here <= word.span.end;
        if (!word.is_name || being_written || !known.insert(word.text).second) continue;
        if (study.plain && find_axis(*study.plain, word.text)) {
            const Axis& axis = (*study.plain)[*find_axis(*study.plain, word.text)];
            list.push_back({word.text, Kind::Axis, std::to_string(axis.extent)});
        } else if (place.text.bytes().substr(word.span.end, 1) == "[" ||
                   (study.plain && find_array(*study.plain, word.text))) {
            list.push_back({word.text, Kind::Array, ""});
        } else if (!study.plain) {
            list.push_back({word.text, Kind::Word, ""});
        }
    }
}

void add_operations(std::vector<Completion>& list) {
    for (const std::string& name : checking::built_in_names())
        list.push_back({name, Kind::Function, ""});
    for (const std::string& name : reductions())
        list.push_back({name, Kind::Function, "a reduction"});
    for (const std::string& word : words_of_expressions())
        list.push_back({word, Kind::Keyword, ""});
    SourceMap sources;
    const Result<syntax::File> library = syntax::parse(sources, sources.add("", library_text()));
    if (!library) return;
    for (const auto& item : library->definitions)
        if (const auto* definition = std::get_if<syntax::Definition>(&item)) {
            const std::string text(sources.text_of(definition->span));
            list.push_back(
                {definition->name.text, Kind::Function, text.substr(0, text.find('\n'))});
        }
}

std::vector<Completion> of_diagram(const Place& place) {
    const std::string text = before(place);
    const std::string earlier = without_last_word(text);
    std::vector<Completion> list;
    if (text.find('#') != std::string::npos) return list;
    const std::size_t colon = earlier.find_last_not_of(" \t");
    if (colon != std::string::npos && earlier[colon] == ':') {
        for (const std::string& type : types()) list.push_back({type, Kind::Type, ""});
        return list;
    }
    if (is_blank(earlier)) {
        for (const std::string& word : words_of_items()) list.push_back({word, Kind::Keyword, ""});
        return list;
    }
    add_names(place, list);
    if (earlier.find('=') != std::string::npos) add_operations(list);
    std::set<std::string> seen;
    std::erase_if(list, [&](const Completion& each) { return !seen.insert(each.label).second; });
    return list;
}

/// Where the derivation stands before the place's line.
std::optional<State> state_before(const Place& place) {
    const Text earlier(place.text.bytes().substr(0, place.text.offset({place.position.line, 0})));
    Study study = study_derivation(place.workspace, place.uri, earlier);
    if (study.states.empty()) return std::nullopt;
    return std::move(study.states.back());
}

std::vector<Completion> of_derivation(const Place& place) {
    std::vector<Completion> list;
    const std::string text = before(place);
    if (text.find('#') != std::string::npos) return list;
    const std::string earlier = without_last_word(text);
    if (is_blank(earlier)) {
        for (const Rule& rule : all_rules())
            list.push_back({std::string(rule.name), Kind::Rule, std::string(rule.usage)});
        return list;
    }
    const std::optional<State> state = state_before(place);
    if (!state) return list;
    for (const std::string& word : cli::words_after(earlier, *state, {})) {
        const Kind kind = find_axis(state->diagram, word)    ? Kind::Axis
                          : find_array(state->diagram, word) ? Kind::Array
                                                             : Kind::Word;
        list.push_back({word, kind, ""});
    }
    return list;
}

}  // namespace

std::vector<Completion> completions(const Place& place) {
    return is_derivation(place.uri) ? of_derivation(place) : of_diagram(place);
}

std::optional<std::string> formatted(const Place& place) {
    if (is_derivation(place.uri)) return std::nullopt;
    SourceMap sources;
    const Result<syntax::File> file = syntax::parse(sources, sources.add("", place.text.bytes()));
    if (!file) return std::nullopt;
    return syntax::print(*file);
}

}  // namespace napkin::lsp
