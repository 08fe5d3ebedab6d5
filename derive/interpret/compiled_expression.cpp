#include "derive/interpret/compiled_expression.h"

#include <array>
#include <cmath>
#include <utility>

#include "diagrams/overloaded.h"

namespace napkin {

CompiledExpression::CompiledExpression(const std::vector<Axis>& axes, const Expression& expression,
                                       const Bind& bind) {
    root_ = compile(axes, expression, bind);
}

std::uint32_t CompiledExpression::add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t CompiledExpression::compile(const std::vector<Axis>& axes,
                                          const Expression& expression, const Bind& bind) {
    const auto compile_all = [&](const std::vector<Expression>& list) {
        std::vector<std::uint32_t> children;
        for (const Expression& child : list) children.push_back(compile(axes, child, bind));
        return children;
    };
    Node node;
    std::visit(overloaded{
                   [&](const Number& value) { node.constant = value.value; },
                   [&](const AxisIndex& index) {
                       node.kind = Kind::Axis;
                       node.which = index.axis.value;
                   },
                   [&](const SizeOf& size) {
                       node.constant = static_cast<double>(axes[size.axis.index()].extent);
                   },
                   [&](const Read& element) {
                       const Binding& binding = bind.at(element.array);
                       node.constant = binding.parameter;
                       if (binding.tile == nullptr) return;
                       node.kind = Kind::Read;
                       node.tile = binding.tile;
                       node.children = compile_all(element.index);
                   },
                   [&](const Apply& call) {
                       node.kind = Kind::Apply;
                       node.function = call.function;
                       if (call.function == Function::Select) node.kind = Kind::Select;
                       if (call.function == Function::And) node.kind = Kind::And;
                       if (call.function == Function::Or) node.kind = Kind::Or;
                       node.children = compile_all(call.arguments);
                   },
                   [&](const Convert& convert) {
                       node.kind = Kind::Convert;
                       node.type = convert.type;
                       node.children = compile_all(convert.argument);
                   },
                   [&](const Operand& operand) {
                       node.kind = Kind::Operand;
                       node.which = operand.slot;
                   },
               },
               expression.node);
    return add(std::move(node));
}

double CompiledExpression::evaluate_node(std::uint32_t id,
                                         const std::vector<std::int64_t>& position,
                                         const double* operands) const {
    const Node& node = nodes_[id];
    const auto child = [&](std::size_t i) {
        return evaluate_node(node.children[i], position, operands);
    };
    switch (node.kind) {
    case Kind::Constant: return node.constant;
    case Kind::Axis: return static_cast<double>(position[node.which]);
    case Kind::Read: {
        std::int64_t offset = 0;
        for (std::size_t k = 0; k < node.children.size(); ++k) {
            const std::int64_t local = static_cast<std::int64_t>(child(k)) - node.tile->low[k];
            invariant(local >= 0 && local < node.tile->extent[k],
                      "a tile is read outside of its box");
            offset = offset * node.tile->extent[k] + local;
        }
        return node.tile->values[static_cast<std::size_t>(offset)];
    }
    case Kind::Apply: return evaluate_call(node, position, operands);
    case Kind::Select: return child(0) != 0 ? child(1) : child(2);
    case Kind::And: return child(0) != 0 && child(1) != 0 ? 1 : 0;
    case Kind::Or: return child(0) != 0 || child(1) != 0 ? 1 : 0;
    case Kind::Convert: return round_to(node.type, child(0));
    case Kind::Operand: return operands[node.which];
    }
    return 0;
}

double CompiledExpression::evaluate_call(const Node& node,
                                         const std::vector<std::int64_t>& position,
                                         const double* operands) const {
    std::array<double, 3> arguments{};
    for (std::size_t i = 0; i < node.children.size(); ++i)
        arguments[i] = evaluate_node(node.children[i], position, operands);
    return apply_function(node.function,
                          std::span<const double>(arguments.data(), node.children.size()));
}

}  // namespace napkin
