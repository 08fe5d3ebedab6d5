// What the model says of a derivation's kernels on a machine, and of derivations beside it: other
// sizes, one more fusion or stream, a machine with a little more room.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "derive/state.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"
#include "perfmodel/time.h"
#include "schedule/requests.h"

namespace napkin {

/// For what kernels are made and timed.
struct Setup {
    Machine machine;
    std::string target;  ///< the best that the machine runs where empty
    std::vector<schedule::Request> schedules;
};
/// With so much more shared memory for a block and its processor, in bytes.
[[nodiscard]] Setup with_shared_memory(Setup setup, double bytes);

/// A derivation's kernels, one after the other.
struct Prediction {
    Cost cost;  ///< in numbers alone, with the work of the kernels
    TimeEstimate time;
    std::vector<Excess> excesses;
    std::int64_t missing_registers = 0;  ///< the most of any thread
    [[nodiscard]] bool fits() const { return excesses.empty() && missing_registers <= 0; }
    /// `does not fit: ...`, `spills: ...`; empty where it fits.
    [[nodiscard]] std::string why_not() const;
};
/// Of the kernels with the schedules that the derivation and the setup ask for; the reason where
/// one is refused or a count has no number.
[[nodiscard]] std::variant<Prediction, NotApplicable> predict(const State& state,
                                                              const Setup& setup);

/// The same kernels where every thread has so many registers more.
[[nodiscard]] Prediction with_registers(Prediction prediction, const Setup& setup,
                                        std::int64_t registers);

/// By more than the model's numbers are told apart.
[[nodiscard]] bool is_faster(Seconds time, Seconds than);

/// A derivation beside another.
struct Alternative {
    std::string change;  ///< `group q by 64 at l1`
    std::vector<Command> commands;
    std::optional<State> state;  ///< none where a rule refuses it
    std::optional<Prediction> prediction;
    std::string refusal;  ///< why there is no prediction
};
/// Each size of a group or stream a step down and up, halved and doubled.
[[nodiscard]] std::vector<Alternative> neighbours_of(const Diagram& plain,
                                                     std::span<const Command> commands,
                                                     const Setup& setup);
/// One fusion or one stream at block level more, each with its best size; and why others are
/// refused.
[[nodiscard]] std::vector<Alternative> further_moves(const State& state, const Setup& setup);

}  // namespace napkin
