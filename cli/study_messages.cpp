#include "cli/study_messages.h"

#include "cli/messages.h"
#include "diagrams/nearest.h"

namespace napkin::cli {

namespace {

Diagnostic placed(std::string code, std::string message, Span place, std::string remark,
                  std::string help) {
    Diagnostic result;
    result.code = std::move(code);
    result.message = std::move(message);
    result.primary = {place, std::move(remark)};
    result.help = std::move(help);
    return result;
}

}  // namespace

Diagnostic no_prediction(const NotApplicable& why) {
    return plain_error("E9040", "there is no prediction: " + why.reason, why.help);
}

Diagnostic no_timeline(const NotApplicable& why) {
    return plain_error("E9051", "there is nothing to trace: " + why.reason, why.help);
}

Diagnostic malformed_sweep(const std::string& text, const std::string& reason) {
    return plain_error("E9041", "`--sweep " + text + "`: " + reason,
                       "write it as `--sweep q=512..16384`, `--sweep q,x=512..16384` or `--sweep "
                       "device.bandwidth=1TB/s..10TB/s`");
}

Diagnostic sweep_of_parameter(const std::string& text, const std::string& name,
                              const std::vector<std::string>& axes) {
    Diagnostic refused =
        malformed_sweep(text, "`" + name + "` is a parameter, and no time depends on it");
    refused.help = "the axes are " + listed(axes) + "; `napkin machines H200` lists figures";
    return refused;
}

Diagnostic against_without_sweep() {
    return plain_error("E9042", "`--against` is of sweeps",
                       "add `--sweep q=512..16384`; `napkin diff` compares at one size");
}

Diagnostic hypothesis_syntax(Span place, const std::string& reason) {
    return placed("E9043", "this is not TOML: " + reason, place, "here",
                  "docs/hypothesis.md shows what a hypothesis is made of");
}

Diagnostic hypothesis_key(Span place, const std::string& key,
                          const std::vector<std::string>& known) {
    const std::optional<std::string> near = nearest(key, known);
    return placed("E9044", "there is no `" + key + "` here", place, "unknown",
                  near ? "did you mean `" + *near + "`?" : "there are " + listed(known));
}

Diagnostic hypothesis_value(Span place, const std::string& key, const std::string& want) {
    return placed("E9045", "`" + key + "` is not " + want, place, "this value",
                  "docs/hypothesis.md shows what a hypothesis is made of");
}

Diagnostic hypothesis_lacks(Span place, const std::string& key) {
    return placed("E9046", "`" + key + "` is missing", place, "in this table",
                  "docs/hypothesis.md shows what a hypothesis is made of");
}

Diagnostic unknown_pipeline(Span place, const std::string& name,
                            const std::vector<std::string>& known) {
    return placed("E9047", "no kernel here uses `" + name + "`", place, "of this side",
                  "they use " + listed(known));
}

Diagnostic not_measured(Span place, const std::string& workload, const std::string& why) {
    return placed("E9048", "`" + workload + "` was not measured: " + why, place, "this kernel",
                  "run it where that GPU is, or name a file of `recorded` with its row: "
                  "`bench/model-on-gpu` and `bench/peers.py` write them");
}

Diagnostic recorded_unreadable(const std::string& path, std::size_t line,
                               const std::string& reason) {
    return plain_error(
        "E9049", "`" + path + "`, line " + std::to_string(line) + " is no recorded row: " + reason,
        "a row is one JSON object on one line");
}

Diagnostic measured_wrong(Span place, const std::string& workload) {
    return placed("E9050", "`" + workload + "` computes something else on this GPU", place,
                  "this kernel", "`napkin run --device cuda` says what differs");
}

}  // namespace napkin::cli
