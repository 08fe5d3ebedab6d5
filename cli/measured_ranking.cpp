#include "cli/measured_ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/workbench.h"

namespace napkin::cli {
namespace {

std::string line_of(std::size_t place, const RankedCandidate& each) {
    const Measurement& measurement = each.measurement;
    const TimeEstimate& predicted = each.emitted->candidate->time;
    const std::string told = measurement.counts()
                                 ? time_text(measurement.median) + "  (" +
                                       interval_text(measurement.least, measurement.most) + ")"
                                 : measurement.verdict;
    const bool is_plain = !measurement.counts() || measurement.verdict == "right";
    return "# " + padded_left(measurement.counts() ? std::to_string(place) : "-", 3) + "  " +
           padded(told, 34) + padded(interval_text(predicted.low.value, predicted.high.value), 24) +
           padded_left(std::to_string(each.predicted_rank), 3) + "  " +
           each.emitted->timed.derivation + (is_plain ? "" : "  [" + measurement.verdict + "]") +
           "\n";
}

/// How much slower than the best the model's own choice is, where it was measured right.
std::optional<double> ratio_of_pick(const std::vector<RankedCandidate>& ranked) {
    for (const RankedCandidate& each : ranked)
        if (each.predicted_rank == 1 && each.measurement.counts())
            return each.measurement.median / ranked.front().measurement.median;
    return std::nullopt;
}

std::string text_of(const Ranking& ranking, const std::vector<RankedCandidate>& ranked) {
    std::string text = "# " + ranking.loaded.plain.name + ": " + std::to_string(ranked.size()) +
                       " candidates timed on " + ranking.bench.text() + "\n#      " +
                       padded("measured, median of the whole", 34) +
                       padded("predicted for " + ranking.machine.name, 24) + "rank\n";
    for (std::size_t i = 0; i < ranked.size(); ++i) text += line_of(i + 1, ranked[i]);
    if (const std::optional<double> ratio = ratio_of_pick(ranked))
        text +=
            fmt::format("# the model's choice takes {:.3f} times as long as the best\n", *ratio);
    if (ranked.front().measurement.counts())
        text += derivation_text(ranking.loaded.plain, ranked.front().emitted->candidate->state,
                                ranking.loaded.settings);
    return text;
}

int exit_code_of(const std::vector<RankedCandidate>& ranked) {
    int code = kOk;
    for (const RankedCandidate& each : ranked) {
        if (each.measurement.verdict == "wrong") return kWrongResult;
        if (each.measurement.failed()) code = kMissing;
    }
    return code;
}

Json json_of(const RankedCandidate& each) {
    Json json{{"predicted_rank", each.predicted_rank}, {"verdict", each.measurement.verdict}};
    if (each.measurement.counts())
        json["measured_us"] = Json{{"median", each.measurement.median * kMicroseconds},
                                   {"least", each.measurement.least * kMicroseconds},
                                   {"most", each.measurement.most * kMicroseconds},
                                   {"repetitions", each.measurement.repetitions}};
    const TimeEstimate& predicted = each.emitted->candidate->time;
    json["predicted_us"] = Json{{"low", predicted.low.value * kMicroseconds},
                                {"high", predicted.high.value * kMicroseconds}};
    for (const Command& command : each.emitted->candidate->commands)
        json["derivation"].push_back(print(command));
    return json;
}

Json json_of(const Ranking& ranking, const std::vector<RankedCandidate>& ranked) {
    Json json{{"ok", ranked.back().measurement.counts()}, {"device", ranking.bench.device},
              {"driver", ranking.bench.driver},           {"compiler", ranking.bench.compiler},
              {"machine", ranking.machine.name},          {"measured", Json::array()}};
    for (const RankedCandidate& each : ranked) json["measured"].push_back(json_of(each));
    return json;
}

}  // namespace

std::vector<RankedCandidate> rank_measured(const std::vector<EmittedCandidate>& candidates,
                                           const Kept& kept) {
    std::vector<RankedCandidate> ranked;
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (kept[i]) ranked.push_back({&candidates[i], i + 1, *kept[i]});
    std::stable_sort(
        ranked.begin(), ranked.end(), [](const RankedCandidate& a, const RankedCandidate& b) {
            if (a.measurement.counts() != b.measurement.counts()) return a.measurement.counts();
            return a.measurement.counts() && a.measurement.median < b.measurement.median;
        });
    return ranked;
}

Result<int> print_ranking(const Arguments& arguments, const Ranking& ranking,
                          const std::vector<RankedCandidate>& ranked) {
    invariant(!ranked.empty(), "a ranking of nothing");
    const std::string text = text_of(ranking, ranked);
    if (!arguments.output.empty() && ranked.front().measurement.counts())
        if (auto failure = write_data(arguments.output, text)) return *failure;
    if (arguments.json)
        print_data(text_of(json_of(ranking, ranked)));
    else if (arguments.output != "-")
        print_data(text);
    return exit_code_of(ranked);
}

}  // namespace napkin::cli
