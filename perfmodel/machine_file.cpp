// Reading machine files and `--machine` texts.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "diagrams/text_file.h"
#include "diagrams/toml_text.h"
#include "perfmodel/machine.h"
#include "perfmodel/machine_messages.h"
#include "perfmodel/machines_embedded.h"

namespace napkin {

namespace {

/// A figure of this kind, or what is wrong with the text.
std::variant<Figure, std::string> figure_of(const FigureKind& kind, std::string_view text) {
    std::variant<Figure, std::string> figure = parse_figure(text, kind.dimension);
    if (const Figure* read = std::get_if<Figure>(&figure); read && read->value > kind.most)
        return "`" + read->text + "` is more than " + std::to_string(std::lround(100 * kind.most)) +
               " %";
    return figure;
}

const FigureKind* find_kind(std::string_view key) {
    for (const FigureKind& kind : all_figures())
        if (kind.key == key) return &kind;
    return nullptr;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row[b.size()];
}

std::string nearest_key(std::string_view key) {
    std::string best;
    std::size_t least = 4;  // further away it is no misspelling
    for (const FigureKind& kind : all_figures())
        if (const std::size_t distance = edit_distance(key, kind.key); distance < least) {
            least = distance;
            best = std::string(kind.key);
        }
    return best;
}

std::optional<Origin> origin_named(std::string_view name) {
    for (const Origin origin : {Origin::Measured, Origin::Published, Origin::Assumed})
        if (name == name_of(origin)) return origin;
    return std::nullopt;
}

/// Another clock alone is that of long kernels too, of which they keep the same share.
void keep_share(const Machine& before, Machine& machine) {
    const auto clock = machine.figures.find("processor.clock");
    const auto sustained = machine.figures.find("processor.sustained");
    const std::optional<double> was = before.figure("processor.clock");
    const auto kept = before.figures.find("processor.sustained");
    if (!was || kept == before.figures.end() || clock == machine.figures.end() ||
        sustained->second != kept->second)
        return;
    Figure& figure = sustained->second;
    if (clock->second.value == *was) return;
    figure.value = std::min(figure.value * clock->second.value / *was, clock->second.value);
    figure.text = fmt::format("{:.4g} MHz", figure.value / 1e6);
    figure.origin = Origin::Assumed;
    figure.source = "the share of another clock that it was";
}

/// What two figures say of each other that cannot be.
std::optional<Diagnostic> contradiction(const Machine& machine, Span place) {
    const auto clock = machine.figures.find("processor.clock");
    const auto sustained = machine.figures.find("processor.sustained");
    if (clock == machine.figures.end() || sustained == machine.figures.end() ||
        sustained->second.value <= clock->second.value)
        return std::nullopt;
    return messages::wrong_figure(place, "processor.sustained",
                                  "no kernel keeps " + sustained->second.text +
                                      " where `processor.clock` is " + clock->second.text);
}

/// Reads one parsed file into a machine, collecting every mistake.
class MachineReader {
public:
    MachineReader(SourceMap& sources, std::uint32_t file) : sources_(sources), file_(file) {}

    Result<Machine> read(const toml::table& root);

private:
    [[nodiscard]] Span place(const toml::node& node) const { return place(node.source()); }
    [[nodiscard]] Span place(const toml::source_region& region) const {
        return toml_place(sources_.files[file_].text, region, file_);
    }
    void take_base(const toml::node& node);
    void take_text(const std::string& key, const toml::node& node, std::string& slot);
    void take_target(const toml::node& node);
    void take_table(const std::string& name, const toml::table& table);
    void take_figure(const std::string& key, Span key_place, const toml::node& node);

    SourceMap& sources_;
    std::uint32_t file_;
    Machine machine_;
    Diagnostics problems_;
};

void MachineReader::take_base(const toml::node& node) {
    const auto* text = node.as_string();
    if (text == nullptr) {
        problems_.add(messages::wrong_type(place(node), "base", "a text"));
        return;
    }
    const EmbeddedMachine* base = find_embedded(text->get());
    if (base == nullptr) {
        problems_.add(messages::base_too_deep(place(node), text->get()));
        return;
    }
    const Result<Machine> read =
        parse_machine(sources_, std::string(base->name) + ".toml", std::string(base->text));
    invariant(read.has_value(), "a machine of the binary does not parse");
    machine_ = *read;
}

void MachineReader::take_text(const std::string& key, const toml::node& node, std::string& slot) {
    if (const std::string* text = toml_line(node))
        slot = *text;
    else
        problems_.add(messages::wrong_type(place(node), key, "a text of one line"));
}

/// What its kernels are compiled for.
void MachineReader::take_target(const toml::node& node) {
    take_text("target", node, machine_.target);
    static const std::regex kArchitecture("sm_[0-9]{2,3}[af]?");
    if (node.is_string() && !std::regex_match(machine_.target, kArchitecture))
        problems_.add(messages::wrong_figure(
            place(node), "target",
            "`" + machine_.target + "` names no architecture, as `sm_80` or `sm_90a` does"));
}

void MachineReader::take_figure(const std::string& key, Span key_place, const toml::node& node) {
    const FigureKind* kind = find_kind(key);
    if (kind == nullptr) {
        problems_.add(messages::unknown_figure(key_place, key, nearest_key(key)));
        return;
    }
    const toml::table* table = node.as_table();
    const toml::node* value = table != nullptr ? table->get("value") : nullptr;
    if (value == nullptr || (!value->is_string() && !value->is_number())) {
        problems_.add(messages::wrong_type(place(node), key,
                                           "a table `{ value = \"...\", source = \"...\" }`"));
        return;
    }
    const toml::node* source = table->get("source");
    if (source == nullptr || !source->is_string() || source->as_string()->get().empty()) {
        problems_.add(messages::figure_without_source(place(node), key));
        return;
    }
    if (toml_line(*source) == nullptr)
        problems_.add(messages::wrong_type(place(*source), key + ".source", "a text of one line"));
    for (const auto& [other, unused] : *table)
        if (other.str() != "value" && other.str() != "source" && other.str() != "from")
            problems_.add(messages::unknown_figure(place(other.source()),
                                                   key + "." + std::string(other.str()), ""));
    std::string text = value->value<std::string>().value_or("");
    if (const std::optional<std::int64_t> whole = value->value_exact<std::int64_t>())
        text = std::to_string(*whole);
    else if (const std::optional<double> number = value->value_exact<double>())
        text = std::to_string(*number);
    std::variant<Figure, std::string> figure = figure_of(*kind, text);
    if (const std::string* reason = std::get_if<std::string>(&figure)) {
        problems_.add(messages::wrong_figure(place(*value), key, *reason));
        return;
    }
    Figure& good = std::get<Figure>(figure);
    good.source = source->as_string()->get();
    if (const toml::node* from = table->get("from")) {
        const std::optional<Origin> origin = origin_named(from->value<std::string>().value_or(""));
        if (!origin)
            problems_.add(messages::wrong_figure(
                place(*from), key, "it is from one of `measured`, `published` and `assumed`"));
        good.origin = origin.value_or(Origin::Assumed);
    }
    machine_.figures[key] = std::move(good);
}

void MachineReader::take_table(const std::string& name, const toml::table& table) {
    const std::optional<Level> level = level_named(name);
    const bool names_level = level && name_of(*level) == name;
    if (names_level) machine_.level_titles.try_emplace(*level, name);
    for (const auto& [key, node] : table) {
        const std::string text(key.str());
        if (names_level && text == "title")
            take_text(name + ".title", node, machine_.level_titles[*level]);
        else if (names_level && text == "memory")
            take_text(name + ".memory", node, machine_.memories[*level]);
        else
            take_figure(name + "." + text, place(key.source()), node);
    }
}

Result<Machine> MachineReader::read(const toml::table& root) {
    if (const toml::node* base = root.get("base")) take_base(*base);
    const Machine before = machine_;
    for (const auto& [key, node] : root) {
        const std::string name(key.str());
        if (name == "base") continue;
        if (name == "name")
            take_text(name, node, machine_.name);
        else if (name == "title")
            take_text(name, node, machine_.title);
        else if (name == "target")
            take_target(node);
        else if (const toml::table* table = node.as_table())
            take_table(name, *table);
        else
            problems_.add(messages::unknown_figure(place(key.source()), name, nearest_key(name)));
    }
    const bool complete = problems_.list.empty();
    const Span start{0, sources_.files[file_].text.empty() ? 0U : 1U, file_};
    for (const auto& [missing, what] : {std::pair{machine_.name.empty(), "name"},
                                        std::pair{!machine_.has(Level::Device), "[device]"},
                                        std::pair{!machine_.has(Level::Block), "[block]"}})
        if (missing && complete) problems_.add(messages::machine_lacks(start, what));
    std::stable_sort(problems_.list.begin(), problems_.list.end(),
                     [](const Diagnostic& a, const Diagnostic& b) {
                         return a.primary.span.begin < b.primary.span.begin;
                     });
    if (!problems_.list.empty()) return problems_;
    keep_share(before, machine_);
    if (const std::optional<Diagnostic> wrong = contradiction(machine_, start)) return *wrong;
    return machine_;
}

/// `text` is what was given, and begins with the name.
Result<Machine> named_machine(SourceMap& sources, const std::string& name, const std::string& text,
                              const std::string& given_as) {
    if (const EmbeddedMachine* known = find_embedded(name))
        return parse_machine(sources, std::string(known->name) + ".toml", std::string(known->text));
    std::error_code ignored;
    const bool is_path = name.find('/') != std::string::npos || name.ends_with(".toml");
    if (!is_path && !std::filesystem::exists(name, ignored)) {
        const Span place{0, static_cast<std::uint32_t>(std::max<std::size_t>(name.size(), 1)),
                         sources.add(given_as, text)};
        return messages::unknown_machine(place, name, machine_names());
    }
    const Result<std::string> file = text_of_file(name);
    if (!file) return file.error();
    return parse_machine(sources, name, *file);
}

constexpr const char* kHere = "given on the command line";

/// Applies `key=value` at [begin, end) of the machine's text.
void take_override(Machine& machine, std::string_view text, Span span, Diagnostics& problems) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
        problems.add(messages::malformed_override(span));
        return;
    }
    const std::string key(text.substr(0, equals));
    const std::uint32_t middle = span.begin + static_cast<std::uint32_t>(equals);
    const Span key_span{span.begin, std::max(middle, span.begin + 1), span.file};
    const FigureKind* kind = find_kind(key);
    if (kind == nullptr) {
        problems.add(messages::unknown_figure(key_span, key, nearest_key(key)));
        return;
    }
    const std::string table = key.substr(0, key.find('.'));
    const std::optional<Level> level = level_named(table);
    if (level && !machine.has(*level)) {
        problems.add(messages::level_missing(key_span, key, table));
        return;
    }
    std::variant<Figure, std::string> figure = figure_of(*kind, text.substr(equals + 1));
    if (const std::string* reason = std::get_if<std::string>(&figure)) {
        problems.add(messages::wrong_figure(
            {std::min(middle + 1, span.end - 1), span.end, span.file}, key, *reason));
        return;
    }
    Figure& good = std::get<Figure>(figure);
    good.source = kHere;
    if (const auto known = machine.figures.find(key);
        known != machine.figures.end() && known->second.source == kHere) {
        problems.add(messages::wrong_figure(key_span, key, "it is given twice"));
        return;
    }
    machine.figures[key] = std::move(good);
}

}  // namespace

std::vector<std::string> machine_names() {
    std::vector<std::string> names;
    for (const EmbeddedMachine& machine : embedded_machines()) names.emplace_back(machine.name);
    return names;
}

Result<Machine> parse_machine(SourceMap& sources, const std::string& name,
                              const std::string& text) {
    const std::uint32_t file = sources.add(name, text);
    try {
        const toml::table root = toml::parse(text, name);
        return MachineReader(sources, file).read(root);
    } catch (const toml::parse_error& error) {
        return messages::machine_syntax(toml_place(text, error.source(), file),
                                        std::string(error.description()));
    }
}

Result<Machine> load_machine(SourceMap& sources, const std::string& text,
                             const std::string& given_as) {
    const std::size_t comma = std::min(text.find(','), text.size());
    Result<Machine> machine = named_machine(sources, text.substr(0, comma), text, given_as);
    if (!machine || comma == text.size()) return machine;
    const std::uint32_t file = sources.add(given_as, text);
    const Machine before = *machine;
    Diagnostics problems;
    for (std::size_t begin = comma + 1; begin <= text.size();) {
        while (begin < text.size() && text[begin] == ' ') ++begin;
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const Span span{static_cast<std::uint32_t>(begin),
                        static_cast<std::uint32_t>(std::max(end, begin + 1)), file};
        take_override(*machine, std::string_view(text).substr(begin, end - begin), span, problems);
        begin = end + 1;
    }
    if (!problems.list.empty()) return problems;
    keep_share(before, *machine);
    const Span given{static_cast<std::uint32_t>(comma + 1), static_cast<std::uint32_t>(text.size()),
                     file};
    if (const std::optional<Diagnostic> wrong = contradiction(*machine, given)) return *wrong;
    return machine;
}

Result<Machine> load_timed_machine(SourceMap& sources, const std::string& text,
                                   const std::string& given_as) {
    Result<Machine> machine = load_machine(sources, text, given_as);
    if (!machine) return machine;
    if (const std::optional<std::string> key = figure_lacking(*machine))
        return messages::machine_without_times(machine->name, *key);
    return machine;
}

}  // namespace napkin
