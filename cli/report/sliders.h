// The sliders of a report: what can be other than it is, and at which values the formulas were
// found to give what the model counts.
#pragma once

#include "cli/derivation_steps.h"

namespace napkin::cli {

/// One object a slider: `{id, kind, symbol, axis, title, now, values, sets, off, ...}`. `kind` is
/// `axis`, `tile` (the size of a command, of which `command` is the number), `bits` or `figure`
/// (of the machine). `sets` are the pairs of a region and a symbol that it changes. `bounds` are
/// the bytes of the bound at each value, `times` what timing_json says. Where
/// `off` stands, it says why it cannot be moved.
///
/// Every value of a slider was tried: the derivation replays there, into regions whose numbers the
/// formulas of the last step give.
[[nodiscard]] Json sliders_of(Context& context, const Loaded& loaded, const DerivedStep& last,
                              const Machine& machine);

/// What is no formula, `{low, high, binds, kernel, kernel_us, units, excesses}`: what each unit
/// takes alone in the slowest kernel, of which one binds, and what is too large, in words (`C at
/// block`).
[[nodiscard]] Json timing_json(const Cost& cost, const Machine& machine);

}  // namespace napkin::cli
