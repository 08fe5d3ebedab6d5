// The sliders of a report: what can be other than it is, and at which values the formulas were
// found to give what the model counts.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/report/timings.h"
#include "cli/report/variants.h"
#include "perfmodel/bound.h"

namespace napkin::cli {

inline constexpr const char* kCounted =
    "what its tiles hold and leave out is counted one by one: no formula says it at another size";
/// The figure of a machine that kernels depend on; rates change only how long they take.
inline constexpr const char* kCapacity = "block.capacity";

/// What a report's questions are asked of.
struct WhatIf {
    const Loaded& loaded;
    const DerivedStep& last;
    const Machine& machine;
    Variants variants;
    Timings timings = {};

    /// What Timings says of some regions' kernels, in their order.
    [[nodiscard]] Json timings_of(const Cost& cost, const std::vector<bool>& regions,
                                  const Machine& on);
};

/// A slider and the derivation at each of its values.
struct Slider {
    Json json;
    std::vector<Position> places;   ///< of sizes
    std::vector<Variant> variants;  ///< likewise, and of figures
    std::vector<bool> touches;      ///< which regions' kernels
    bool open = false;              ///< of counts that are no closed forms

    [[nodiscard]] bool off() const { return json.contains("off"); }
    [[nodiscard]] std::string kind() const { return json.at("kind").get<std::string>(); }
    [[nodiscard]] std::string id() const { return json.at("id").get<std::string>(); }
};

/// In `json` stands `{id, kind, symbol, axis, title, now, values, sets, off, ...}`. `kind` is
/// `axis`, `tile` (the size of a command, of which `command` is the number), `bits` or `figure`
/// (of the machine). `sets` are the pairs of a region and a symbol that it changes. `bounds` are
/// the bytes of the bound at each value, `times` what is known there of the kernels that it
/// `touches`, which are regions by number.
/// Where `off` stands, it says why it cannot be moved.
///
/// Every value of a slider was tried: the derivation replays there, into regions whose numbers the
/// formulas of the last step give.
[[nodiscard]] std::vector<Slider> sliders_of(WhatIf& what);

[[nodiscard]] Machine with_figure(Machine machine, const std::string& key, double value);
[[nodiscard]] Json bytes_of(const std::optional<TransferBound>& bound);

}  // namespace napkin::cli
