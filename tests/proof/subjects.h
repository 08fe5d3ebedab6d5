// Diagrams with derivations, at sizes as small as a proof takes them.
#pragma once

#include <string>
#include <vector>

#include "derive/proof/prove_program.h"
#include "derive/proof/shapes.h"
#include "tests/derive/programs.h"
#include "tests/support/examples.h"

namespace napkin::test {

/// Short sizes, for examples whose proof would take long, of axes that are like any other of them.
[[nodiscard]] Sizes short_axes(const std::string& example);
/// The shapes at which a proof would run.
[[nodiscard]] std::vector<proof::Shape> shapes_of(const std::string& diagram,
                                                  const std::string& derivation,
                                                  const Sizes& fixed = {});
/// Rungs 2 and 3t and provenance of a derivation at one shape.
[[nodiscard]] proof::ProgramProof prove(const proof::Shape& shape);
/// One line an output, an execution, and what provenance found: for messages.
[[nodiscard]] std::string describe(const proof::ProgramProof& proof);

}  // namespace napkin::test
