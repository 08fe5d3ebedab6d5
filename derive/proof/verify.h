// Checks certificates again, from their text alone.
//
// Three things happen, and each has to succeed:
//  1. the hash is that of the rest;
//  2. the derivation is replayed and proved again, and everything written down has to be what comes
//     out: so no step, law, binding, condition, guard, size, seed, bound or claim can be changed
//     and the rest kept;
//  3. a checker of its own (checker/) takes the diagram's text and the tile programs as they are
//     written down. It computes both at the recorded points and at one of its own, and compares. It
//     shares the parser, the checker of diagrams, the field arithmetic and the evaluator of plain
//     diagrams with the prover; rules, accumulators, expansion and interpreter it does not know. It
//     also looks whether each group and chunk of a program is one that a step asked for, and each
//     step's a part of the program, and whether every output element is written exactly once. It
//     runs nothing but what the replay has confirmed.
#pragma once

#include <string>
#include <vector>

#include "diagrams/result.h"

namespace napkin::proof {

struct Verification {
    std::string diagram;  ///< its name
    std::string hash;
    std::string derivation;          ///< the hash that the derivation's kernels carry
    std::vector<std::string> rungs;  ///< as the certificate states them
    std::vector<std::string> failures;
    [[nodiscard]] bool ok() const { return failures.empty(); }
};

/// A diagnostic where the text is no certificate at all.
[[nodiscard]] Result<Verification> verify_certificate(const std::string& text);

}  // namespace napkin::proof
