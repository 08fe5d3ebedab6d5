// Expressions compiled to a flat form for repeated evaluation over tiles.
#pragma once

#include <map>
#include <vector>

#include "derive/interpret/memory.h"

namespace napkin {

/// Where an expression's reads find their values: a tile, or a scalar parameter.
struct Binding {
    const Tile* tile = nullptr;
    double parameter = 0;
};

/// One expression, its reads bound to tiles of one level.
class CompiledExpression {
public:
    using Bind = std::map<ArrayId, Binding>;
    CompiledExpression(const std::vector<Axis>& axes, const Expression& expression,
                       const Bind& bind);

    /// The value at a position of every axis (by AxisId); `operands` are those of a monoid's
    /// combine.
    [[nodiscard]] double evaluate(const std::vector<std::int64_t>& position,
                                  const double* operands = nullptr) const {
        return evaluate_node(root_, position, operands);
    }

private:
    enum class Kind { Constant, Axis, Read, Apply, Select, And, Or, Convert, Operand };
    struct Node {
        Kind kind = Kind::Constant;
        double constant = 0;
        std::uint32_t which = 0;  // axis, operand slot
        Function function = Function::Add;
        ElementType type = ElementType::F32;
        const Tile* tile = nullptr;
        std::vector<std::uint32_t> children;
    };
    std::uint32_t compile(const std::vector<Axis>& axes, const Expression& expression,
                          const Bind& bind);
    std::uint32_t add(Node node);
    [[nodiscard]] double evaluate_node(std::uint32_t id, const std::vector<std::int64_t>& position,
                                       const double* operands) const;
    [[nodiscard]] double evaluate_call(const Node& node, const std::vector<std::int64_t>& position,
                                       const double* operands) const;

    std::vector<Node> nodes_;
    std::uint32_t root_ = 0;
};

}  // namespace napkin
