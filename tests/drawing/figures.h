// The diagrams of the paper's figures and a few harder ones, built from C++.
#pragma once

#include <string>
#include <vector>

#include "diagrams/drawing/group_equivalence.h"
#include "diagrams/drawing/hierarchy.h"
#include "diagrams/drawing/layout.h"
#include "diagrams/drawing/listing.h"
#include "tests/evaluate/builder.h"

namespace napkin::test {

/// A diagram, a relabelling and options: all that a picture needs.
struct Figure {
    Diagram diagram;
    Relabelling relabelling;
    drawing::DrawOptions options;
};

[[nodiscard]] std::vector<drawing::Hierarchy> figure_7();
[[nodiscard]] drawing::WeavedAlgorithm figure_10();
/// A tile program as derive lays it out.
[[nodiscard]] drawing::Listing attention_listing();
[[nodiscard]] Figure figure_8();
[[nodiscard]] Figure figure_9();
[[nodiscard]] Figure figure_11();
[[nodiscard]] Figure figure_12();
/// Attention with batch and heads: one kernel a statement.
[[nodiscard]] Figure plain_attention();
/// The same as one kernel, queries grouped and keys streamed.
[[nodiscard]] Figure derived_attention();
/// Twelve boxes over five woven axes, weights shared by some of them.
[[nodiscard]] Figure long_diagram();
/// The derived attention with its boxes on the tensor core and on threads.
[[nodiscard]] Figure recoloured_attention();
/// The derived attention with the queries of a block grouped once more.
[[nodiscard]] Figure nested_attention();

}  // namespace napkin::test
