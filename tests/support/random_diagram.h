// Random valid diagrams as texts, for properties that must hold of every diagram. Values stay tame:
// with inputs N(0, 1) nothing overflows, and no result hangs on a difference of nearly equal
// numbers being exactly zero.
#pragma once

#include <cstdint>
#include <string>

namespace napkin::test {

/// What may occur; everything by default.
struct RandomDiagramOptions {
    int most_statements = 5;
    std::int64_t largest_size = 7;  ///< of an axis
    bool weaves = true;
    bool masks = true;           ///< `if` on axes, and on integer inputs where those are allowed
    bool affine = true;          ///< convolution-like indices `X[p + r]`
    bool elsewhere = true;       ///< reads at shifted, reversed, clamped and exchanged indices
    bool integer_inputs = true;  ///< lengths in masks, labels that index
    bool selections = true;      ///< argmax, topk
    bool scans = true;
    bool types = true;     ///< outputs that round
    bool library = true;   ///< calls such as softmax[x](...)
    bool cascades = true;  ///< several reductions of one axis, each using earlier ones
    bool monoids = true;   ///< of the user's own
    bool picks = true;     ///< elements beside a mask that does not say where they are
    bool chains = true;    ///< gathers at indices that are computed, or gathered themselves
    bool layouts = false;  ///< inputs that lie in another order of their axes
};

/// The same seed gives the same text on every machine.
[[nodiscard]] std::string random_diagram(std::uint32_t seed,
                                         const RandomDiagramOptions& options = {});

}  // namespace napkin::test
