// Expressions prepared for evaluation: a flat list of nodes with constants folded, sizes as numbers
// and the offsets of reads as affine functions of axes wherever they are.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin::evaluation {

/// constant + sum of coefficient * index.
struct Affine {
    std::int64_t constant = 0;
    std::vector<std::pair<AxisId, std::int64_t>> terms;
};
/// The affine form of an index expression, where it has one.
[[nodiscard]] std::optional<Affine> affine_form(const Diagram& diagram,
                                                const Expression& expression);

using NodeId = std::uint32_t;

/// One dimension of a read: an affine index, or an expression.
struct ReadIndex {
    std::optional<Affine> affine;
    NodeId expression = 0;
    std::int64_t extent = 0;
    std::int64_t stride = 0;
};

struct Node {
    enum class Kind : std::uint8_t { Constant, Axis, Read, Apply, Convert, Operand };
    Kind kind = Kind::Constant;
    Function function = Function::Add;    ///< of Apply
    ElementType type = ElementType::F64;  ///< of Convert
    double constant = 0;                  ///< of Constant
    std::uint32_t id = 0;                 ///< the axis, array or operand slot
    std::vector<NodeId> arguments;        ///< of Apply and Convert
    std::vector<ReadIndex> index;         ///< of Read, one a dimension
    std::optional<Affine> offset;         ///< of Read: the whole offset, where it is affine and
                                          ///< in bounds for every index
    Span span;
};

struct Program {
    std::vector<Node> nodes;  ///< arguments before their users; the last is the whole expression
    [[nodiscard]] NodeId root() const { return static_cast<NodeId>(nodes.size() - 1); }
};

/// Strides of every array in the order of Array::axes.
using Strides = std::vector<std::vector<std::int64_t>>;
/// Those of whole arrays, row-major.
[[nodiscard]] Strides strides_of(const Diagram& diagram);
/// Offsets of reads are in the given strides.
[[nodiscard]] Program compile(const Diagram& diagram, const Expression& expression,
                              const Strides& strides);

/// The programs of one statement.
struct CompiledStatement {
    std::vector<Program> values;
    std::vector<Program> seed;
    std::vector<Program> combine;
    std::vector<Program> identity;
};
[[nodiscard]] CompiledStatement compile(const Diagram& diagram, const Statement& statement,
                                        const Strides& strides);

}  // namespace napkin::evaluation
