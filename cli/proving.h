// A proof as the arguments ask for it, and what it shows as JSON.
#pragma once

#include "cli/json.h"
#include "cli/session.h"
#include "derive/proof/proof.h"

namespace napkin::cli {

/// What was shown; a diagnostic where it is refuted or not decided.
[[nodiscard]] Result<proof::Proof> prove_given(Context& context, std::uint32_t text,
                                               std::vector<Command> commands,
                                               const Settings& settings);
/// What `prove --json` prints.
[[nodiscard]] Json json_of(const proof::Proof& proof, const std::string& hash);

}  // namespace napkin::cli
