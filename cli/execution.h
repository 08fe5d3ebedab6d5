// Executes a derivation on the CPU, in the emulator or on a GPU, and judges what came out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/validation.h"
#include "codegen/run/execute.h"
#include "derive/interpret.h"
#include "derive/state.h"
#include "perfmodel/cost.h"

namespace napkin::cli {

/// H and A of one level: H summed over regions, A the most of any.
struct Traffic {
    std::int64_t transferred = 0;
    std::int64_t peak = 0;
    bool operator==(const Traffic&) const = default;
};
using LevelTraffic = std::map<Level, Traffic>;

/// What one run found.
struct RunReport {
    std::string device;
    std::string target;                 ///< of kernels; empty on the CPU
    std::vector<std::string> refusals;  ///< why no better target served
    bool executed = true;  ///< false where only transfers were counted: too large for this device
    double work = 0;       ///< elements that the diagram visits
    Tensors outputs;
    Validation validation;
    Precision precision{.arithmetic = ElementType::F64};  ///< of what was executed
    LevelTraffic counted;
    LevelTraffic modelled;
    bool skips_all = false;  ///< some loop is never entered: its mask holds for no chunk
    std::int64_t written_twice = 0;
    std::int64_t never_written = 0;
    std::int64_t canaries_broken = 0;
    bool repeatable = true;
    std::vector<std::string> rungs;
    std::vector<Timing> times;             ///< a kernel each, where they were measured
    std::vector<CompiledKernel> compiled;  ///< of a GPU, without their bytes
    Cost cost;
    [[nodiscard]] bool ok() const;
    /// That of the results, and wrong where what is around them is.
    [[nodiscard]] Verdict verdict() const;
    [[nodiscard]] int exit_code() const;
    /// Whether what was counted at a level is what the model says; of a loop that is never entered
    /// the model still holds the memory.
    [[nodiscard]] bool is_as_modelled(Level level) const;
};

/// Timed ones, where nobody asks for another number.
inline constexpr int kRepetitions = 20;
/// Where kernels are measured one after another, on a machine that has better to do.
inline constexpr double kCheckSeconds = 5;

struct ExecutionOptions {
    std::string device = "cpu";    ///< `cpu`, `emulator` or `cuda`
    int repetitions = 0;           ///< timed ones, on a GPU
    double scale = 1;              ///< of the inputs, where they are random
    bool compares = true;          ///< the results with the reference
    double check_seconds = 60;     ///< that comparing whole results may take; else some are sampled
    Progress* progress = nullptr;  ///< told of each stage, where there is one
};
/// Runs what was derived and judges it by the plain diagram that was given, whose inputs these are;
/// the report's outputs are the plain diagram's too.
[[nodiscard]] Result<RunReport> execute(Context& context, const Loaded& loaded,
                                        const Tensors& inputs, const ExecutionOptions& options);
/// The same with random inputs, tried again smaller while an output is undecided. The report is
/// about the first, with the judgements of those that decide the most; or about those that came out
/// wrong.
[[nodiscard]] Result<RunReport> execute_random(Context& context, const Loaded& loaded,
                                               ExecutionOptions options);
/// The diagnostic where the memory that executing this takes is not there.
[[nodiscard]] std::optional<Diagnostic> excess_memory(const Loaded& loaded,
                                                      const std::string& device);
[[nodiscard]] LevelTraffic traffic_of(const std::vector<Counters>& counters);
[[nodiscard]] LevelTraffic traffic_of(const Cost& cost);
[[nodiscard]] Json to_json(const RunReport& report);
[[nodiscard]] std::string text_of(const RunReport& report);

}  // namespace napkin::cli
