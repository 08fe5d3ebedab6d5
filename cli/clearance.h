// What stands behind kernels before they leave the house. What is refuted never leaves; what is not
// decided leaves with `--unproved`, and its header says so.
#pragma once

#include <string>

#include "cli/commands.h"
#include "cli/emission.h"
#include "cli/json.h"
#include "cli/session.h"

namespace napkin::cli {

struct Clearance {
    std::string certificate;  ///< the text of one; empty where `--unproved` stands in for it
    std::string reservation;  ///< why nothing is proved then
};
/// Proves the derivation, or takes the certificate that the arguments name, of which it must be. A
/// proof is kept on disk beside compiled kernels. A diagnostic where kernels may not be written.
[[nodiscard]] Result<Clearance> clear(Context& context, const Loaded& loaded);
/// Kernels that may be written, and why.
struct Cleared {
    EmittedProgram program;
    Clearance clearance;
};
/// Emits what the arguments ask for, and clears it; a reservation stands in the headers.
[[nodiscard]] Result<Cleared> emit_cleared(Context& context, const Loaded& loaded,
                                           const TileProgram& tiles);
/// As members of an object: `certificate`, its hash, or `unproved`, the reservation.
[[nodiscard]] Json to_json(const Clearance& clearance);

}  // namespace napkin::cli
