// Why these tiles: a derivation's kernels on a machine beside those of other sizes, with more room,
// and one move further.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/session.h"
#include "search/predict.h"

namespace napkin::cli {

/// The machine, the target and the schedules that the arguments name; the usual machine where none
/// is.
[[nodiscard]] Result<Setup> setup_of(const Context& context);
/// The prediction of a state, or the diagnostic that says why there is none.
[[nodiscard]] Result<Prediction> predict_or_say(const State& state, const Setup& setup);

/// What more room would buy: the best of a derivation and its neighbours there.
struct Extra {
    std::string what;    ///< `8 KiB more shared memory`
    std::string change;  ///< the best there; empty where it is the derivation itself
    TimeEstimate time;
    bool helps = false;  ///< it is faster than the best without
};
struct TileReasons {
    Prediction now;
    std::vector<Alternative> neighbours;
    std::vector<Extra> extras;
    std::vector<Alternative> further;
};
[[nodiscard]] Result<TileReasons> tile_reasons(const Loaded& loaded,
                                               const std::vector<Command>& commands,
                                               const Setup& setup);
[[nodiscard]] std::string text_of(const TileReasons& reasons, const Setup& setup);
[[nodiscard]] Json to_json(const TileReasons& reasons, const Setup& setup);

}  // namespace napkin::cli
