#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "diagrams/binding.h"
#include "diagrams/diagram.h"
#include "diagrams/overloaded.h"
#include "diagrams/statement_text.h"
#include "diagrams/symbol_names.h"

namespace napkin {

namespace {

std::string text_of(const Number& number) {
    if (std::isinf(number.value)) return number.value < 0 ? "-inf" : "inf";
    std::array<char, 64> buffer{};
    const auto [end, error] =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), number.value);
    invariant(error == std::errc(), "a number that cannot be printed");
    std::string text(buffer.data(), end);
    const bool plain = text.find_first_of(".en") == std::string::npos;
    if (!number.is_integer && plain) text += ".0";
    return text;
}

class DiagramPrinter {
public:
    explicit DiagramPrinter(const Diagram& diagram) : diagram_(diagram) {}

    std::string print(const Expression& expression, Binding place = Binding::If) const {
        return std::visit(
            overloaded{
                [&](const Number& value) {
                    return enclose(text_of(value),
                                   std::signbit(value.value) ? Binding::Negate : Binding::Atom,
                                   place);
                },
                [&](const AxisIndex& index) { return diagram_[index.axis].name; },
                [&](const SizeOf& size) { return "size(" + diagram_[size.axis].name + ")"; },
                [&](const Read& element) {
                    const std::string& name = diagram_[element.array].name;
                    return element.index.empty() ? name : name + "[" + list(element.index) + "]";
                },
                [&](const Apply& call) { return print_call(call, place); },
                [&](const Convert& convert) {
                    return std::string(name_of(convert.type)) + "(" + list(convert.argument) + ")";
                },
                [](const Operand& operand) { return "$" + std::to_string(operand.slot); },
            },
            expression.node);
    }

    std::string list(const std::vector<Expression>& expressions) const {
        std::string text;
        for (const Expression& expression : expressions)
            text += (text.empty() ? "" : ", ") + print(expression);
        return text;
    }

    std::string axes(const std::vector<AxisId>& ids) const {
        std::string text;
        for (AxisId id : ids) text += (text.empty() ? "" : ", ") + diagram_[id].name;
        return text;
    }

    std::string place(ArrayId id) const {
        const Array& shown = diagram_[id];
        return shown.axes.empty() ? shown.name : shown.name + "[" + axes(shown.axes) + "]";
    }

    std::string array(ArrayId id) const {
        const Array& shown = diagram_[id];
        std::string text = place(id);
        bool reordered = false;
        for (std::size_t i = 0; i < shown.layout.size(); ++i)
            reordered = reordered || shown.layout[i] != i;
        text += " : " + std::string(name_of(shown.type));
        if (shown.rounds && shown.role != ArrayRole::Input && shown.role != ArrayRole::Parameter)
            text += " rounded";
        if (shown.indexes) text += " indexes " + diagram_[*shown.indexes].name;
        if (!reordered) return text;
        std::vector<AxisId> order;
        for (std::uint32_t position : shown.layout) order.push_back(shown.axes[position]);
        return text + " layout [" + axes(order) + "]";
    }

    std::string body(const Statement& statement) const {
        return std::visit(overloaded{
                              [&](const Map& map) { return print(map.value); },
                              [&](const Fold& fold) { return fold_text(fold); },
                              [&](const Select& select) {
                                  const std::string over = diagram_[select.over].name;
                                  return (select.rank ? "topk[" : "argmax[") + over + "](" +
                                         print(select.value) + ")";
                              },
                              [&](const Opaque& opaque) {
                                  return "opaque " + opaque.name + "(" + list(opaque.reads) + ")";
                              },
                          },
                          statement.body);
    }

private:
    static std::string enclose(const std::string& text, Binding own, Binding place) {
        return own < place ? "(" + text + ")" : text;
    }

    std::string fold_text(const Fold& fold) const {
        const std::string& name = diagram_[fold.monoid].name;
        std::string text = fold.every_prefix ? "scan[" + axes(fold.over) + "] " + name + " "
                                             : name + "(" + axes(fold.over) + ") ";
        text += fold.values.size() == 1 ? print(fold.values.front(), Binding::Product)
                                        : "(" + list(fold.values) + ")";
        return fold.seed.empty() ? text : text + " from (" + list(fold.seed) + ")";
    }

    std::string print_call(const Apply& call, Binding place) const {
        const std::vector<Expression>& args = call.arguments;
        const std::string name = name_of(call.function);
        if (call.function == Function::Select && args.size() == 3)
            return enclose("if " + print(args[0], Binding::Or) + " then " +
                               print(args[1], Binding::Or) + " else " + print(args[2]),
                           Binding::If, place);
        if (call.function == Function::Negate && args.size() == 1)
            return enclose("-" + print(args[0], Binding::Negate), Binding::Negate, place);
        if (call.function == Function::Not && args.size() == 1)
            return enclose("not " + print(args[0], Binding::Not), Binding::Not, place);
        const Operator infix = operator_of(call.function);
        if (infix.own == Binding::Atom || args.size() != 2) return name + "(" + list(args) + ")";
        return enclose(print(args[0], infix.left) + " " + name + " " + print(args[1], infix.right),
                       infix.own, place);
    }

    const Diagram& diagram_;
};

std::string axis_line(const Diagram& diagram, AxisId id) {
    const Axis& axis = diagram[id];
    std::string text = (axis.woven ? "weave " : "axis ") + axis.name + " = ";
    if (!has_own_size(diagram, id)) text += print(axis.size, SymbolNames(diagram.axes)) + " = ";
    text += std::to_string(axis.extent);
    return text + (axis.dynamic ? " dynamic\n" : "\n");
}

std::string statement_lines(const Diagram& diagram, const DiagramPrinter& printer, StatementId id) {
    const Statement& statement = diagram[id];
    std::string text;
    for (ArrayId target : statement.targets) {
        const bool output = diagram[target].role == ArrayRole::Output;
        text += (text.empty() ? "" : ", ") + std::string(output ? "output " : "") +
                printer.array(target);
    }
    return text + " = " + printer.body(statement) + "\n";
}

std::string box_line(const Diagram& diagram, const DiagramPrinter& printer, const Box& box) {
    if (box.name.empty()) return "";
    std::string text = "# " + box.name;
    if (!box.glyph_axes.empty()) text += "[" + printer.axes(box.glyph_axes) + "]";
    if (!box.glyph.empty()) text += ", drawn as " + box.glyph;
    return text + ", defines " + diagram[diagram[box.statements.back()].targets.back()].name + "\n";
}

}  // namespace

std::string statement_text(const Diagram& diagram, const Statement& statement) {
    const DiagramPrinter printer(diagram);
    std::string text;
    for (ArrayId target : statement.targets)
        text += (text.empty() ? "" : ", ") + printer.place(target);
    return text + " = " + printer.body(statement);
}

std::string print(const Diagram& diagram, const Expression& expression) {
    return DiagramPrinter(diagram).print(expression);
}

std::string print(const Diagram& diagram) {
    const DiagramPrinter printer(diagram);
    std::string text = "diagram " + diagram.name + "\n";
    for (std::uint32_t i = 0; i < diagram.axes.size(); ++i) text += axis_line(diagram, AxisId{i});
    for (std::size_t i = 0; i < diagram.arrays.size(); ++i) {
        const Array& array = diagram.arrays[i];
        const ArrayId id{static_cast<std::uint32_t>(i)};
        if (array.role == ArrayRole::Input) text += "input " + printer.array(id) + "\n";
        if (array.role == ArrayRole::Parameter)
            text += "param " + printer.array(id) + " = " +
                    text_of(Number{array.value.value_or(0), !is_floating(array.type)}) + "\n";
    }
    for (const Box& box : diagram.boxes) {
        text += box_line(diagram, printer, box);
        for (StatementId id : box.statements) text += statement_lines(diagram, printer, id);
    }
    return text;
}

}  // namespace napkin
