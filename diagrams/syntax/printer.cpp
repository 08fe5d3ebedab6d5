// Canonical text of files: two spaces of indentation, one item a line, comments where they were.
#include "diagrams/overloaded.h"
#include "diagrams/syntax.h"
#include "diagrams/syntax/expression_printer.h"
#include "diagrams/syntax/text_writer.h"

namespace napkin::syntax {

namespace {

constexpr std::size_t kIndent = 2;
// Breaking tightness of the parts of an item; expressions use their precedences, from 0 up.
constexpr int kBetweenItems = -3;
constexpr int kAfterAssign = 10;
constexpr int kBeforeClause = -2;

void write_names(TextWriter& writer, const std::vector<Name>& names) {
    for (const Name& name : names) {
        if (&name != &names.front()) {
            writer << ",";
            writer.space(0);
        }
        writer << name.text;
    }
}

void write_axes(TextWriter& writer, const std::vector<Name>& axes) {
    if (axes.empty()) return;
    writer.open_bracket("[");
    write_names(writer, axes);
    writer.close_bracket("]");
}

void write_type(TextWriter& writer, const std::optional<ElementType>& type) {
    if (type) writer << " : " << name_of(*type);
}

void write_value(TextWriter& writer, const Expression& value) {
    writer << " =";
    writer.space(kAfterAssign);
    write_expression(writer, value);
}

void separate(TextWriter& writer, bool first) {
    if (first) return;
    writer << ",";
    writer.space(kBetweenItems);
}

void write_targets(TextWriter& writer, const std::vector<Target>& targets) {
    for (const Target& target : targets) {
        separate(writer, &target == &targets.front());
        writer << target.name.text;
        write_axes(writer, target.axes);
        write_type(writer, target.type);
    }
}

void write_axis_items(TextWriter& writer, const std::vector<AxisItem>& items) {
    for (const AxisItem& item : items) {
        separate(writer, &item == &items.front());
        writer << item.name.text;
        write_value(writer, item.size);
        if (item.dynamic) writer << " dynamic";
    }
}

/// A type is written once after the arrays that share it. An array without a type before one that
/// has one needs a line of its own, since it would take that type.
std::string input_lines(const InputLine& line) {
    std::string text;
    TextWriter writer(kIndent);
    writer << "input ";
    bool first = true;
    for (std::size_t i = 0; i < line.arrays.size(); ++i) {
        const Target& target = line.arrays[i];
        separate(writer, first);
        first = false;
        writer << target.name.text;
        write_axes(writer, target.axes);
        const bool last = i + 1 == line.arrays.size();
        if (last || line.arrays[i + 1].type != target.type) write_type(writer, target.type);
        if (!last && !target.type && line.arrays[i + 1].type) {
            text += writer.str() + "\n";
            writer = TextWriter(kIndent);
            writer << "input ";
            first = true;
        }
    }
    return text + writer.str();
}

void write_opaque(TextWriter& writer, const OpaqueLine& line) {
    writer << (line.output ? "output opaque " : "opaque ") << line.function.text;
    writer.open_bracket("(");
    write_targets(writer, line.inputs);
    writer.close_bracket(")");
    writer.space(kBeforeClause);
    writer << "-> ";
    write_targets(writer, line.outputs);
}

void write_weave(TextWriter& writer, const WeaveLine& line) {
    writer << "weave ";
    write_axis_items(writer, line.axes);
    if (line.over.empty()) return;
    writer.space(kBeforeClause);
    writer << "over ";
    write_names(writer, line.over);
}

std::string body_text(const LineBody& body) {
    if (const InputLine* input = std::get_if<InputLine>(&body)) return input_lines(*input);
    TextWriter writer(kIndent);
    std::visit(overloaded{
                   [&](const AxisLine& line) {
                       writer << "axis ";
                       write_axis_items(writer, line.axes);
                   },
                   [](const InputLine&) {},
                   [&](const ParamLine& line) {
                       writer << "param ";
                       write_targets(writer, {line.param});
                       write_value(writer, line.value);
                   },
                   [&](const WeaveLine& line) { write_weave(writer, line); },
                   [&](const LayoutLine& line) {
                       writer << "layout ";
                       write_targets(writer, {line.array});
                   },
                   [&](const LetLine& line) {
                       writer << "let ";
                       write_targets(writer, {line.target});
                       write_value(writer, line.value);
                   },
                   [&](const StatementLine& line) {
                       writer << (line.output ? "output " : "");
                       write_targets(writer, line.targets);
                       write_value(writer, line.value);
                   },
                   [&](const OpaqueLine& line) { write_opaque(writer, line); },
               },
               body);
    return writer.str();
}

std::string text_of(const Definition& definition) {
    TextWriter writer(0);
    writer << "def " << definition.name.text;
    write_axes(writer, definition.axes);
    writer.open_bracket("(");
    write_names(writer, definition.parameters);
    writer.close_bracket(")");
    write_value(writer, definition.value);
    if (!definition.glyph.text.empty()) {
        writer.space(kBeforeClause);
        writer << "glyph " << definition.glyph.text;
    }
    return writer.str();
}

std::string text_of(const MonoidDefinition& monoid) {
    TextWriter writer(0);
    writer << "monoid " << monoid.name.text;
    writer.open_bracket("(");
    write_names(writer, monoid.left);
    writer << "; ";
    write_names(writer, monoid.right);
    writer.close_bracket(")");
    writer << " =";
    writer.space(kAfterAssign);
    write_tuple(writer, monoid.combine);
    writer.space(kBeforeClause);
    writer << "identity ";
    write_tuple(writer, monoid.identity);
    if (!monoid.commutative) writer << " noncommutative";
    return writer.str();
}

std::string comment_lines(const std::vector<std::string>& comments, std::size_t indent) {
    std::string text;
    for (const std::string& comment : comments) {
        if (!comment.empty()) text += std::string(indent, ' ') + comment;
        text += '\n';
    }
    return text;
}

std::string item_text(const std::vector<std::string>& before, const std::string& body,
                      const std::string& after, std::size_t indent) {
    return comment_lines(before, indent) + body + (after.empty() ? "" : "  " + after) + "\n";
}

}  // namespace

std::string print(const File& file) {
    std::string text;
    for (const std::variant<Definition, MonoidDefinition>& definition : file.definitions)
        text += std::visit(
            [](const auto& item) {
                return item_text(item.comments_before, text_of(item), item.comment_after, 0);
            },
            definition);
    if (file.diagram) {
        text += comment_lines(file.comments_before, 0);
        text += "diagram " + file.diagram->text + " {\n";
        for (const Line& line : file.lines)
            text +=
                item_text(line.comments_before, body_text(line.body), line.comment_after, kIndent);
        text += comment_lines(file.comments_after, kIndent) + "}\n";
    }
    return text + comment_lines(file.comments_at_end, 0);
}

std::string print(const Expression& expression) {
    TextWriter writer(0);
    write_expression(writer, expression);
    return writer.one_line();
}

}  // namespace napkin::syntax
