#include "cli/report/linked_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/prompt_arguments.h"
#include "diagrams/drawing/svg_tags.h"

namespace napkin::cli {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

template <class Visit>
void each_span(const std::vector<TileStatement>& body, const Visit& visit) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            each_span(parallel->body, visit);
        else if (const Loop* loop = std::get_if<Loop>(&statement.node))
            each_span(loop->body, visit);
        else
            visit(statement.span);
    }
}

std::string attribute(const char* kind, const std::string& name) {
    return std::string(" data-") + kind + "=\"" + drawing::xml_escaped(name) + "\"";
}

/// A line whose indent stays where it is broken.
std::string line_of(std::string_view line, const std::string& attributes,
                    const std::string& inside) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    return "<span class=\"line\" style=\"--indent:" + std::to_string(indent) + "\"" + attributes +
           ">" + inside + "</span>";
}

}  // namespace

Links::Links(const State& state, const TileProgram& program, const SourceMap& sources)
    : diagram_(state.diagram), sources_(sources) {
    for (std::uint32_t i = 0; i < diagram_.arrays.size(); ++i)
        arrays_[diagram_.arrays[i].name] = array_of(ArrayId{i});
    for (const RegionProgram& region : program.regions) {
        for (const Variable& variable : region.variables)
            if (variable.array.index() < diagram_.arrays.size())
                arrays_.emplace(variable.name, array_of(variable.array));
        each_span(region.body, [&](Span span) { add_place(span); });
    }
}

std::string Links::array_of(ArrayId array) const {
    const std::optional<StatementId> from = producer(diagram_, array);
    if (!from) return diagram_[array].name;
    const Span own = diagram_[diagram_[*from].box].span;
    for (const Box& box : diagram_.boxes) {
        const bool is_own = box.statements == diagram_[diagram_[*from].box].statements;
        const bool is_copied = own.end > own.begin && box.span.file == own.file &&
                               box.span.begin == own.begin && box.span.end == own.end;
        if (!box.statements.empty() && (is_own || is_copied))
            return diagram_[diagram_[box.statements.back()].targets.front()].name;
    }
    return diagram_[array].name;
}

std::string Links::at(Span span) const {
    for (const Box& box : diagram_.boxes)
        if (box.span.file == span.file && box.span.begin <= span.begin &&
            span.end <= box.span.end && !box.statements.empty())
            return array_of(diagram_[box.statements.back()].targets.front());
    for (std::uint32_t i = 0; i < diagram_.arrays.size(); ++i) {
        const Span own = diagram_.arrays[i].span;
        if (own.file == span.file && own.begin == span.begin) return array_of(ArrayId{i});
    }
    return "";
}

void Links::add_place(Span span) {
    if (span.end <= span.begin || span.file >= sources_.files.size()) return;
    if (const std::string array = at(span); !array.empty())
        places_[sources_.describe(span)] = array;
}

Json Links::words() const {
    Json words{{"axes", Json::object()}, {"arrays", Json::object()}};
    for (const Axis& axis : diagram_.axes) words["axes"][axis.name] = axis.name;
    for (const auto& [word, array] : arrays_) words["arrays"][word] = array;
    return words;
}

std::vector<std::string> Links::tile_program(const std::string& text) const {
    std::vector<std::string> kernels(1);
    for (const std::string_view line : lines_of(text)) {
        if (line.empty()) {
            kernels.emplace_back();
            continue;
        }
        const std::size_t remark = line.rfind("  # ");
        const auto place = remark == std::string_view::npos
                               ? places_.end()
                               : places_.find(std::string(line.substr(remark + 4)));
        const std::string_view said = trimmed(line.substr(0, remark));
        std::string attributes;
        if (place != places_.end())
            attributes = attribute("array", place->second) + " data-source=\"" +
                         drawing::xml_escaped(place->first) + "\" tabindex=\"0\"";
        kernels.back() += line_of(line, attributes, drawing::xml_escaped(said));
    }
    return kernels;
}

std::string Links::kernel(const std::string& text) const {
    std::string out;
    std::vector<std::string_view> paragraph;
    const auto close = [&] {
        std::string attributes;
        for (const std::string_view line : paragraph) {
            std::string_view said = trimmed(line);
            if (!said.starts_with("// ")) continue;
            said.remove_prefix(3);
            const auto place = places_.find(std::string(said.substr(0, said.find(", via "))));
            if (place == places_.end() || !attributes.empty()) continue;
            attributes = attribute("array", place->second) + " data-source=\"" +
                         drawing::xml_escaped(place->first) + "\" tabindex=\"0\"";
        }
        std::string inside;
        for (const std::string_view line : paragraph) inside += drawing::xml_escaped(line) + "\n";
        out += attributes.empty() ? inside : "<span" + attributes + ">" + inside + "</span>";
        paragraph.clear();
    };
    for (const std::string_view line : lines_of(text)) {
        if (!line.empty()) {
            paragraph.push_back(line);
            continue;
        }
        close();
        out += "\n";
    }
    close();
    return out;
}

}  // namespace napkin::cli
