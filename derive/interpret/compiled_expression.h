// Expressions compiled to a flat form for repeated evaluation over tiles.
#pragma once

#include <array>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "derive/interpret/domain.h"
#include "derive/interpret/memory.h"
#include "diagrams/overloaded.h"

namespace napkin {

/// Where an expression's reads find their values: a tile, or a scalar parameter.
template <class Value>
struct Binding {
    const Tile<Value>* tile = nullptr;
    Value parameter = {};
};

/// One expression over a domain, its reads bound to tiles of one level.
template <class Domain>
class CompiledExpression {
public:
    using Value = typename Domain::Value;
    using Bind = std::map<ArrayId, Binding<Value>>;
    CompiledExpression(Domain& domain, const std::vector<Axis>& axes, const Expression& expression,
                       const Bind& bind)
        : domain_(&domain) {
        root_ = compile(axes, expression, bind);
    }

    /// The value at a position of every axis (by AxisId); `operands` are those of a monoid's
    /// combine.
    [[nodiscard]] Value evaluate(const std::vector<std::int64_t>& position,
                                 const Value* operands = nullptr) const {
        return evaluate_node(root_, position, operands);
    }

private:
    enum class Kind { Constant, Axis, Read, Apply, Select, And, Or, Convert, Operand };
    struct Node {
        Kind kind = Kind::Constant;
        Value constant = {};
        std::uint32_t which = 0;  // axis, operand slot
        Function function = Function::Add;
        ElementType type = ElementType::F32;
        const Tile<Value>* tile = nullptr;
        std::vector<std::uint32_t> children;
    };
    std::uint32_t compile(const std::vector<Axis>& axes, const Expression& expression,
                          const Bind& bind);
    [[nodiscard]] Value evaluate_node(std::uint32_t id, const std::vector<std::int64_t>& position,
                                      const Value* operands) const;
    [[nodiscard]] Value evaluate_read(const Node& node, const std::vector<std::int64_t>& position,
                                      const Value* operands) const;
    [[nodiscard]] Value evaluate_call(const Node& node, const std::vector<std::int64_t>& position,
                                      const Value* operands) const;

    Domain* domain_;
    std::vector<Node> nodes_;
    std::uint32_t root_ = 0;
};

template <class Domain>
std::uint32_t CompiledExpression<Domain>::compile(const std::vector<Axis>& axes,
                                                  const Expression& expression, const Bind& bind) {
    const auto compile_all = [&](const std::vector<Expression>& list) {
        std::vector<std::uint32_t> children;
        for (const Expression& child : list) children.push_back(compile(axes, child, bind));
        return children;
    };
    Node node;
    std::visit(overloaded{
                   [&](const Number& value) { node.constant = domain_->number(value.value); },
                   [&](const AxisIndex& index) {
                       node.kind = Kind::Axis;
                       node.which = index.axis.value;
                   },
                   [&](const SizeOf& size) {
                       node.constant =
                           domain_->number(static_cast<double>(axes[size.axis.index()].extent));
                   },
                   [&](const Read& element) {
                       const Binding<Value>& binding = bind.at(element.array);
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
    nodes_.push_back(std::move(node));
    return static_cast<std::uint32_t>(nodes_.size() - 1);
}

template <class Domain>
typename Domain::Value CompiledExpression<Domain>::evaluate_node(
    std::uint32_t id, const std::vector<std::int64_t>& position, const Value* operands) const {
    const Node& node = nodes_[id];
    const auto child = [&](std::size_t i) {
        return evaluate_node(node.children[i], position, operands);
    };
    switch (node.kind) {
    case Kind::Constant: return node.constant;
    case Kind::Axis: return index_value(*domain_, position[node.which]);
    case Kind::Read: return evaluate_read(node, position, operands);
    case Kind::Apply: return evaluate_call(node, position, operands);
    case Kind::Select:
        return domain_->choose(child(0), [&](bool taken) { return child(taken ? 1 : 2); });
    case Kind::And:
        return domain_->choose(child(0),
                               [&](bool taken) { return taken ? child(1) : domain_->number(0); });
    case Kind::Or:
        return domain_->choose(child(0),
                               [&](bool taken) { return taken ? domain_->number(1) : child(1); });
    case Kind::Convert: return domain_->round(node.type, child(0));
    case Kind::Operand: return operands[node.which];
    }
    throw InternalError("unknown node");
}

template <class Domain>
typename Domain::Value CompiledExpression<Domain>::evaluate_read(
    const Node& node, const std::vector<std::int64_t>& position, const Value* operands) const {
    invariant(node.tile->low.size() == node.children.size(), "a tile is read before it is written");
    std::int64_t offset = 0;
    std::vector<Value> indices;
    for (std::size_t k = 0; k < node.children.size(); ++k) {
        const Node& child = nodes_[node.children[k]];
        std::int64_t at = 0;
        if (child.kind == Kind::Axis && !Domain::kTracksIndices) {
            at = position[child.which];
        } else {
            const Value index = evaluate_node(node.children[k], position, operands);
            at = domain_->index(index);
            if constexpr (Domain::kTracksIndices) indices.push_back(index);
        }
        const std::int64_t local = at - node.tile->low[k];
        invariant(local >= 0 && local < node.tile->extent[k], "a tile is read outside of its box");
        offset = offset * node.tile->extent[k] + local;
    }
    const Value& element = node.tile->values[static_cast<std::size_t>(offset)];
    if constexpr (Domain::kTracksIndices) return domain_->read(element, indices);
    return element;
}

template <class Domain>
typename Domain::Value CompiledExpression<Domain>::evaluate_call(
    const Node& node, const std::vector<std::int64_t>& position, const Value* operands) const {
    std::array<Value, 3> arguments{};
    for (std::size_t i = 0; i < node.children.size(); ++i)
        arguments[i] = evaluate_node(node.children[i], position, operands);
    return domain_->apply(node.function,
                          std::span<const Value>(arguments.data(), node.children.size()));
}

}  // namespace napkin
