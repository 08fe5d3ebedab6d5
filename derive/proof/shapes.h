// Small sizes at which a derivation is proved.
//
// Rung 2 holds at the shapes and tile sizes that were run, so these are chosen to show what goes
// wrong at edges: every axis is a few elements long, sizes that were in order stay in order, tiles
// divide nothing, and axes have several of them with a ragged last one. Another shape keeps the
// derivation's own tile sizes, which are then larger than the axes.
#pragma once

#include <vector>

#include "derive/state.h"
#include "diagrams/syntax.h"

namespace napkin::proof {

/// The derivation at one set of sizes.
struct Shape {
    Sizes sizes;                    ///< of every axis that has a size of its own
    std::vector<Command> commands;  ///< with tile sizes to go with them
    Diagram plain;
    State state;
};

/// What to prove: a parsed diagram with its derivation.
struct Subject {
    const SourceMap& sources;
    const syntax::File& file;
    std::vector<Command> commands;
    Sizes fixed;       ///< sizes that the shapes keep; these axes keep the derivation's tile sizes
    Sizes sizes = {};  ///< others than the file's, of the derivation but not of the shapes
    /// How much longer than they would be axes are that masks compare.
    std::int64_t scale = 1;

    /// The sizes that the derivation is replayed at.
    [[nodiscard]] Sizes given() const;
};

/// One shape or more, all of the same sizes; a diagnostic where the derivation applies at no small
/// sizes, or where sizes that were asked for make too much work.
[[nodiscard]] Result<std::vector<Shape>> choose_shapes(const Subject& subject);

/// Of the subject's fixed sizes those without which other shapes than these would be chosen.
[[nodiscard]] Sizes sizes_that_count(const Subject& subject, const std::vector<Shape>& shapes);

}  // namespace napkin::proof
