// A derivation and those beside it while a size or a figure of the machine changes: where another
// unit binds, and where another derivation is better.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/session.h"
#include "diagrams/drawing/plot.h"
#include "search/predict.h"

namespace napkin::cli {

/// What is swept: axes and parameters, all alike, or one figure of the machine.
struct SweepRange {
    std::string of;  ///< as it was typed: `q,x`, `device.bandwidth`
    std::vector<std::string> names;
    bool is_figure = false;
    bool is_whole = true;
    double from = 0;
    double to = 0;
    std::string unit;  ///< of a figure, as it was typed: `TB/s`
    double scale = 1;  ///< of the unit
    [[nodiscard]] std::string text(double value) const;
};
/// `q,x=512..16384`, `device.bandwidth=1TB/s..10TB/s`.
[[nodiscard]] Result<SweepRange> read_sweep(const Context& context, const Machine& machine);

struct SweepPoint {
    double value = 0;
    /// Of each derivation; none where it does not apply or fit there.
    std::vector<std::optional<TimeEstimate>> times;
    std::optional<std::size_t> best;  ///< of the derivations
    std::string why_not;              ///< the first has no time there
};
/// Between two values next to each other.
struct Crossover {
    double below = 0;
    double above = 0;
    std::string before;
    std::string after;
    bool of_best = false;  ///< of the better derivation; else of what binds the first
};
struct Sweep {
    SweepRange range;
    std::string machine;
    std::vector<std::string> names;  ///< of derivations; the first is the one that was given
    std::size_t against = 0;         ///< of these, after the first, those of `--against`
    std::vector<SweepPoint> points;
    std::vector<Crossover> crossovers;
};
/// Over the derivation, its neighbours and those of `--against`; a diagnostic where the first is
/// served nowhere in the range.
[[nodiscard]] Result<Sweep> sweep(Context& context, const Loaded& loaded,
                                  const std::vector<Command>& commands, const Setup& setup);
[[nodiscard]] std::string text_of(const Sweep& sweep);
[[nodiscard]] Json to_json(const Sweep& sweep);

[[nodiscard]] drawing::Plot plot_of(const Sweep& sweep);
/// Kernels under the roofs of the machine.
[[nodiscard]] drawing::Plot roofline(const Prediction& prediction, const Machine& machine);

}  // namespace napkin::cli
