#include "diagrams/evaluate/program.h"

#include <cmath>
#include <cstdlib>

#include "diagrams/evaluate.h"
#include "diagrams/overloaded.h"

namespace napkin::evaluation {
namespace {

void add_term(Affine& sum, AxisId axis, std::int64_t coefficient) {
    for (auto& [known, total] : sum.terms)
        if (known == axis) {
            total += coefficient;
            return;
        }
    sum.terms.emplace_back(axis, coefficient);
}

void add_scaled(Affine& sum, const Affine& other, std::int64_t factor) {
    sum.constant += factor * other.constant;
    for (const auto& [axis, coefficient] : other.terms) add_term(sum, axis, factor * coefficient);
}

/// Larger numbers are left to double arithmetic, so that 64 bits cannot overflow.
constexpr std::int64_t kMostCoefficient = std::int64_t{1} << 31;

bool moderate(std::int64_t value) {
    return std::abs(value) <= kMostCoefficient;
}

bool moderate(const Affine& form) {
    bool result = moderate(form.constant);
    for (const auto& [axis, coefficient] : form.terms) result = result && moderate(coefficient);
    return result;
}

Affine scaled(const Affine& form, std::int64_t factor) {
    Affine result;
    add_scaled(result, form, factor);
    return result;
}

std::optional<Affine> affine_apply(const Diagram& diagram, const Apply& call) {
    std::vector<Affine> forms;
    for (const Expression& argument : call.arguments) {
        std::optional<Affine> form = affine_form(diagram, argument);
        if (!form || !moderate(*form)) return std::nullopt;
        forms.push_back(std::move(*form));
    }
    if (call.function == Function::Negate) return scaled(forms[0], -1);
    if (call.function == Function::Add || call.function == Function::Subtract) {
        add_scaled(forms[0], forms[1], call.function == Function::Add ? 1 : -1);
        return forms[0];
    }
    if (call.function == Function::Multiply) {
        if (forms[0].terms.empty()) return scaled(forms[1], forms[0].constant);
        if (forms[1].terms.empty()) return scaled(forms[0], forms[1].constant);
    }
    return std::nullopt;
}

bool always_within(const Diagram& diagram, const Affine& form, std::int64_t extent) {
    auto low = static_cast<double>(form.constant);
    auto high = low;
    for (const auto& [axis, coefficient] : form.terms) {
        const auto last = static_cast<double>(diagram[axis].extent - 1);
        (coefficient < 0 ? low : high) += static_cast<double>(coefficient) * last;
    }
    return low >= 0 && high < static_cast<double>(extent);
}

class Compiler {
public:
    Compiler(const Diagram& diagram, const Strides& strides)
        : diagram_(diagram), strides_(strides) {}

    NodeId add(const Expression& expression) {
        Node node =
            std::visit(overloaded{
                           [](const Number& literal) { return constant(literal.value); },
                           [&](const AxisIndex& index) {
                               Node leaf;
                               leaf.kind = Node::Kind::Axis;
                               leaf.id = index.axis.value;
                               return leaf;
                           },
                           [&](const SizeOf& size) {
                               return constant(static_cast<double>(diagram_[size.axis].extent));
                           },
                           [&](const Read& element) { return read_node(element); },
                           [&](const Apply& call) { return apply_node(call); },
                           [&](const Convert& convert) { return convert_node(convert); },
                           [](const Operand& operand) {
                               Node leaf;
                               leaf.kind = Node::Kind::Operand;
                               leaf.id = operand.slot;
                               return leaf;
                           },
                       },
                       expression.node);
        node.span = expression.span;
        program.nodes.push_back(std::move(node));
        return program.root();
    }

    Program program;

private:
    static Node constant(double value) {
        Node node;
        node.constant = value;
        return node;
    }

    Node read_node(const Read& element) {
        const Array& array = diagram_[element.array];
        const std::vector<std::int64_t>& strides = strides_[element.array.index()];
        invariant(element.index.size() == array.axes.size(),
                  "a read with a wrong number of indices");
        Node node;
        node.kind = Node::Kind::Read;
        node.id = element.array.value;
        Affine offset;
        bool affine = true;
        for (std::size_t at = 0; at < strides.size(); ++at) {
            ReadIndex index;
            index.extent = diagram_[array.axes[at]].extent;
            index.stride = strides[at];
            index.affine = affine_form(diagram_, element.index[at]);
            if (index.affine && always_within(diagram_, *index.affine, index.extent))
                add_scaled(offset, *index.affine, index.stride);
            else
                affine = false;
            if (!index.affine) index.expression = add(element.index[at]);
            node.index.push_back(std::move(index));
        }
        if (affine) node.offset = std::move(offset);
        return node;
    }

    Node apply_node(const Apply& call) {
        Node node;
        node.kind = Node::Kind::Apply;
        node.function = call.function;
        std::vector<double> values;
        for (const Expression& argument : call.arguments) {
            const bool repeated = !node.arguments.empty() && argument == call.arguments.front();
            const NodeId id = repeated ? node.arguments.front() : add(argument);
            node.arguments.push_back(id);
            if (program.nodes[id].kind == Node::Kind::Constant)
                values.push_back(program.nodes[id].constant);
        }
        const bool known = values.size() == call.arguments.size();
        return known ? constant(apply_function(call.function, values)) : node;
    }

    Node convert_node(const Convert& convert) {
        Node node;
        node.kind = Node::Kind::Convert;
        node.type = convert.type;
        node.arguments.push_back(add(convert.argument.at(0)));
        return node;
    }

    const Diagram& diagram_;
    const Strides& strides_;
};

}  // namespace

std::optional<Affine> affine_form(const Diagram& diagram, const Expression& expression) {
    Affine form;
    if (const Number* literal = std::get_if<Number>(&expression.node)) {
        const bool integer = literal->value == std::floor(literal->value);
        if (!integer || std::abs(literal->value) > 0x1p31) return std::nullopt;
        form.constant = static_cast<std::int64_t>(literal->value);
        return form;
    }
    if (const SizeOf* size = std::get_if<SizeOf>(&expression.node)) {
        form.constant = diagram[size->axis].extent;
        return form;
    }
    if (const AxisIndex* index = std::get_if<AxisIndex>(&expression.node)) {
        form.terms.emplace_back(index->axis, 1);
        return form;
    }
    if (const Apply* call = std::get_if<Apply>(&expression.node))
        return affine_apply(diagram, *call);
    return std::nullopt;
}

Strides strides_of(const Diagram& diagram) {
    Strides strides;
    for (const Array& array : diagram.arrays) {
        std::vector<std::int64_t>& of_array = strides.emplace_back(array.axes.size());
        std::int64_t stride = 1;
        for (std::size_t at = of_array.size(); at-- > 0;) {
            of_array[at] = stride;
            stride *= diagram[array.axes[at]].extent;
        }
    }
    return strides;
}

Program compile(const Diagram& diagram, const Expression& expression, const Strides& strides) {
    Compiler compiler(diagram, strides);
    compiler.add(expression);
    return std::move(compiler.program);
}

CompiledStatement compile(const Diagram& diagram, const Statement& statement,
                          const Strides& strides) {
    CompiledStatement code;
    const auto add = [&](std::vector<Program>& programs, const std::vector<Expression>& from) {
        for (const Expression& expression : from)
            programs.push_back(compile(diagram, expression, strides));
    };
    if (const Map* map = std::get_if<Map>(&statement.body))
        code.values.push_back(compile(diagram, map->value, strides));
    if (const Select* select = std::get_if<Select>(&statement.body))
        code.values.push_back(compile(diagram, select->value, strides));
    if (const Fold* fold = std::get_if<Fold>(&statement.body)) {
        add(code.values, fold->values);
        add(code.seed, fold->seed);
        add(code.combine, diagram[fold->monoid].combine);
        add(code.identity, diagram[fold->monoid].identity);
        for (const Expression& seed : fold->seed)
            for (const ArrayId target : statement.targets)
                invariant(arrays_read(seed).count(target) == 0,
                          "a fold that starts from its own target has no element-wise meaning");
    }
    return code;
}

}  // namespace napkin::evaluation
