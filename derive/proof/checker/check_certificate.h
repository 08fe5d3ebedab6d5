// The separate check of a certificate: what its programs compute, and that its steps account for
// them.
#pragma once

#include <string>
#include <vector>

#include "derive/proof/program_json.h"
#include "derive/state.h"
#include "diagrams/syntax.h"

namespace napkin::proof::checker {

/// What does not hold, one line each. `file` is the certificate's diagram. Throws
/// MalformedCertificate.
[[nodiscard]] std::vector<std::string> check_programs(const Json& certificate,
                                                      const SourceMap& sources,
                                                      const syntax::File& file);
[[nodiscard]] std::vector<std::string> check_steps(const Json& certificate);

}  // namespace napkin::proof::checker
