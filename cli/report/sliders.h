// The sliders of a report: what can be other than it is, and at which values the formulas were
// found to give what the model counts.
#pragma once

#include "cli/derivation_steps.h"

namespace napkin::cli {

/// One object a slider: `{id, kind, symbol, axis, title, now, values, sets, off, ...}`. `kind` is
/// `axis`, `tile` (the size of a command, of which `command` is the number), `bits` or `figure`
/// (of the machine). `sets` are the pairs of a region and a symbol that it changes. `bounds` are
/// the bytes of the bound at each value, `times` the times, what binds and the excesses. Where
/// `off` stands, it says why it cannot be moved.
///
/// Every value of a slider was tried: the derivation replays there, into regions whose numbers the
/// formulas of the last step give.
[[nodiscard]] Json sliders_of(Context& context, const Loaded& loaded, const DerivedStep& last,
                              const Machine& machine);

/// What is too large, in words: `C at block`. What a kernel takes of a block is no formula.
[[nodiscard]] Json excesses_json(const Cost& cost, const Machine& machine);

}  // namespace napkin::cli
