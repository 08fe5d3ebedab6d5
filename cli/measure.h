// What a search found, timed on a GPU: the part of `search --measure` after the search.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cli/measurements.h"
#include "cli/search.h"
#include "cli/session.h"
#include "codegen/emit.h"

namespace napkin::cli {

/// Of each of several programs what is kept.
using Kept = std::vector<std::optional<Measurement>>;
/// Times one of the programs by its place in their list, on a device.
using TimeProgram = std::function<Result<Measurement>(std::size_t)>;
/// Told before each how many are done, of how many that were not kept, and the best time so far;
/// false stops.
using MeasureProceed = std::function<bool(std::size_t done, std::size_t all, double best)>;

/// Of each program what is kept of it on this bench, in their order; nothing where there is none.
[[nodiscard]] Result<Kept> find_measured(const Measurements& kept, const TestBench& bench,
                                         const std::vector<TimedProgram>& programs);
/// Times the programs of which nothing is kept, and keeps each as soon as it is there: stopped, by
/// `proceed`, by an error, or by one that failed, since a device may do nothing more after that, it
/// goes on from there the next time. Returns what is kept then.
[[nodiscard]] Result<Kept> measure_missing(const Measurements& kept, const TestBench& bench,
                                           const std::vector<TimedProgram>& programs,
                                           const TimeProgram& time, const MeasureProceed& proceed);

/// A candidate's kernels as they would be timed.
struct EmittedCandidate {
    const Candidate* candidate = nullptr;
    EmittedProgram program;
    TimedProgram timed;
};
/// Kernels of the first `--measure` candidates for the device that is there, or else the machine.
[[nodiscard]] Result<std::vector<EmittedCandidate>> emit_candidates(Context& context,
                                                                    const Diagram& plain,
                                                                    const Machine& machine,
                                                                    const SearchResult& found);

/// Times the best candidates, ranks them by that, and prints the ranking with the best derivation
/// as a `.drv`. Where no GPU is, from what is kept, or else a diagnostic.
[[nodiscard]] Result<int> measure_found(Context& context, const Loaded& loaded,
                                        const Machine& machine, const SearchResult& found);

}  // namespace napkin::cli
