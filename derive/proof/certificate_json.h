// Certificates as JSON values, shared by what writes and what re-checks them.
#pragma once

#include "derive/proof/certificate.h"
#include "derive/proof/program_json.h"

namespace napkin::proof {

/// Everything but the hash.
[[nodiscard]] Json certificate_json(const Proof& proof);
/// The hash of a certificate without its own `hash`.
[[nodiscard]] std::string hash_of(Json certificate);

}  // namespace napkin::proof
