// Certificates: what was proved, as text that can be checked again.
//
// A certificate is JSON: the diagram's text, the steps with law, bindings and side conditions, the
// guards under which they hold, for every shape the tile program and what the trials showed, the
// rungs with what they claim, and a hash over all of it. Nothing in it depends on the machine.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "derive/proof/proof.h"

namespace napkin::proof {

/// The certificate of a proof that holds: indented, ends in a newline.
[[nodiscard]] std::string certificate_text(const Proof& proof);
/// The hash that a certificate's text states, or empty.
[[nodiscard]] std::string certificate_hash(const std::string& text);

/// What a certificate is about, as 32 hexadecimal digits: the canonical text of the diagram, the
/// sizes of the axes that have one of their own, and the steps. No trial is needed for it, so every
/// kernel carries it, and the certificate of its derivation states the same.
[[nodiscard]] std::string derivation_hash(const std::string& diagram_text, const Sizes& sizes,
                                          std::span<const Step> steps);

/// What each rung claims, no wider than it was shown.
[[nodiscard]] std::string_view claim_of(const std::string& rung);
/// `1.1e+07/2305843009213688669`, or `no bound`.
[[nodiscard]] std::string bound_text(const Identity& identity);
/// For which points an identity holds, as a clause.
[[nodiscard]] std::string claim_of(const Identity& identity);

}  // namespace napkin::proof
