// The subcommands. Each lives in a file of its own name and returns its exit code, or the
// diagnostics that stopped it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "diagrams/result.h"
#include "diagrams/source.h"

namespace napkin::cli {

/// What a subcommand works with: the arguments, and the texts that messages point into.
struct Context {
    const Arguments& arguments;
    SourceMap& sources;
    /// Replaces the file that `--drv` names: the derivation of an interactive session.
    std::optional<std::string> derivation = std::nullopt;
};

/// The options that a subcommand takes, besides its file.
struct Takes {
    bool file = true;
    const char* what = "the diagram, an .ncd file";  ///< FILE is
    const char* pattern = "*.ncd";                   ///< and how it ends
    bool derivation = false;
    bool derivation_required = false;
    bool sets = true;
    bool machine = false;
    bool machine_required = false;
    bool output = false;
    bool json = false;
    bool steps = false;
    bool tile = false;
    bool picture = false;  ///< which part, and how wide
    bool region = false;   ///< one of several
    bool interactive = false;
    bool top = false;
    bool as = false;
    bool mask_as = false;  ///< one of the forms that masks are written in
    bool target = false;
    bool threads = false;
    bool only_target = false;  ///< one that a search keeps to
    bool proof = false;        ///< what stands behind kernels that are written
    bool arch = false;
    bool device = false;
    bool inputs = false;
    bool outputs = false;
    bool quiz = false;   ///< a file of questions
    bool sheet = false;  ///< the answers to them
    bool seed = false;
    bool check = false;           ///< whether results are compared
    bool exported = false;        ///< how an export is named, and which sizes it leaves open
    bool calibration = false;     ///< the kernels that measure
    bool sweep = false;           ///< a size or a figure that changes
    bool levels = false;          ///< whether those of the machine are told one by one
    bool several = false;         ///< machines, as many as are named
    bool two = false;             ///< derivations, two of them
    const char* topic = nullptr;  ///< what the free word is, where there is one
    const char* about = "what to tell about";  ///< the free word says
};

struct Subcommand {
    std::string_view name;
    std::string_view description;
    std::string_view example;  ///< arguments that work where `examples/` is
    Takes takes;
    Result<int> (*run)(Context&) = nullptr;
};
[[nodiscard]] std::span<const Subcommand> all_subcommands();

[[nodiscard]] Result<int> run_check(Context& context);
[[nodiscard]] Result<int> run_bench(Context& context);
[[nodiscard]] Result<int> run_bound(Context& context);
[[nodiscard]] Result<int> run_calibrate(Context& context);
[[nodiscard]] Result<int> run_cost(Context& context);
[[nodiscard]] Result<int> run_derive(Context& context);
[[nodiscard]] Result<int> run_diff(Context& context);
[[nodiscard]] Result<int> run_doctor(Context& context);
[[nodiscard]] Result<int> run_draw(Context& context);
[[nodiscard]] Result<int> run_emit(Context& context);
[[nodiscard]] Result<int> run_explain(Context& context);
[[nodiscard]] Result<int> run_export(Context& context);
[[nodiscard]] Result<int> run_fmt(Context& context);
[[nodiscard]] Result<int> run_hypothesis(Context& context);
[[nodiscard]] Result<int> run_lecture(Context& context);
[[nodiscard]] Result<int> run_lsp(Context& context);
[[nodiscard]] Result<int> run_machines(Context& context);
[[nodiscard]] Result<int> run_compare(Context& context);
[[nodiscard]] Result<int> run_mask(Context& context);
[[nodiscard]] Result<int> run_prove(Context& context);
[[nodiscard]] Result<int> run_quiz(Context& context);
[[nodiscard]] Result<int> run_report(Context& context);
[[nodiscard]] Result<int> run_run(Context& context);
[[nodiscard]] Result<int> run_search(Context& context);
[[nodiscard]] Result<int> run_suggest(Context& context);
[[nodiscard]] Result<int> run_trace(Context& context);
[[nodiscard]] Result<int> run_verify(Context& context);

}  // namespace napkin::cli
