// The function columns of a drawing: each box of the diagram (or its part in a region) with the
// glyph it is drawn with, which wires enter it and which pass around it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagrams/drawing/layout.h"

namespace napkin::drawing {

enum class GlyphKind { Contraction, Triangle, Box };

/// An array that a unit reads; `index` says for each of its wires by which axis it is read.
struct UnitInput {
    ArrayId array;
    std::vector<std::optional<AxisId>> index;
    MathText mark{};  ///< what a Box calls it beside its wires, where there are several
};

struct Unit {
    std::size_t region = 0;
    BoxId box;
    std::vector<StatementId> statements;
    std::optional<Place> place;  ///< where `recolour` put it
    GlyphKind glyph = GlyphKind::Box;
    std::vector<MathText> label;  ///< inside a Box, line by line
    MathText factor;              ///< beside a Contraction: the numbers that it multiplies by
    std::vector<AxisId> marked;   ///< folded by a Contraction, entered by a Triangle
    std::vector<AxisId> passing;  ///< pass around a Box or a Triangle
    std::vector<UnitInput> inputs;
    std::vector<ArrayId> outputs;
    /// Arrays without names of their own, as formulas call them.
    std::map<ArrayId, std::string> called;
    /// Of an operation that its name alone stands for: the arrays in the order in which it takes
    /// them, and what the box says where they come in in another.
    std::vector<ArrayId> arguments;
    std::vector<MathText> call;
};

/// The units of all regions in the order in which they run.
[[nodiscard]] std::vector<Unit> units_of(const Diagram& diagram, const Relabelling& relabelling);

/// What the pictures of a diagram are made of, found once for all of them.
struct Contents {
    const Diagram& diagram;
    const Relabelling& relabelling;
    std::vector<Unit> units;
    std::vector<Column> columns;
    std::vector<std::vector<ArrayId>> loads;  ///< of each region
    std::vector<std::vector<ArrayId>> saves;
};
/// Of a diagram with its factors apart, which the contents refer to.
[[nodiscard]] Contents contents_of(const Diagram& diagram, const Relabelling& relabelling);

/// What every array of some of the units with axes carries and every access uses plainly: one wire
/// each for all of them. These are woven axes and, outermost in every array, those of which a
/// product anywhere in the contents would join two wires.
[[nodiscard]] std::vector<AxisId> common_axes(const Contents& contents,
                                              const std::vector<Unit>& units);

}  // namespace napkin::drawing
