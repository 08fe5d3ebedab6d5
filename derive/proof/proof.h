// The proof of a derivation: rungs 0, 1, 2 and 3t of the verification ladder, provenance and
// safety.
#pragma once

#include <string>
#include <vector>

#include "derive/proof/prove_program.h"
#include "derive/proof/safety.h"
#include "derive/proof/shapes.h"

namespace napkin::proof {

/// A shape with its program and what was shown of it.
struct ProvedShape {
    Shape shape;
    TileProgram program;
    ProgramProof proof;
};

struct Proof {
    std::string diagram_text;  ///< canonical
    Sizes sizes;               ///< of every axis with a size of its own, as the derivation has them
    State state;               ///< at these sizes
    TileProgram program;
    ProofOptions options;
    Sizes fixed;  ///< sizes that shapes have because the user asked for them
    std::vector<ProvedShape> shapes;
    Safety safety;

    [[nodiscard]] bool identity() const;
    [[nodiscard]] bool executes() const;
    /// Proved where every shape is, refuted where one is.
    [[nodiscard]] Verdict verdict() const;
    [[nodiscard]] bool ok() const { return verdict() == Verdict::Proved; }
    /// The rungs reached: `0`, `1`, `2`, `3t`.
    [[nodiscard]] std::vector<std::string> rungs() const;
    /// What stands in the way, one line each; empty where nothing does.
    [[nodiscard]] std::vector<std::string> failures() const;
};

/// Sizes of the axes that have one of their own; the others follow.
[[nodiscard]] Sizes own_sizes(const Diagram& diagram);

/// Real inputs of the safety claim lie within this.
inline constexpr double kRealInputs = 1000;

/// Replays the derivation, expands it, and tries everything. A diagnostic where the derivation does
/// not apply, has nothing to execute, or applies at no small sizes.
[[nodiscard]] Result<Proof> prove(const Subject& subject, const ProofOptions& options);

}  // namespace napkin::proof
