#include "cli/mask_text.h"

#include <nlohmann/json.hpp>

#include "cli/numbers.h"

namespace napkin::cli {

std::string kernel_of(const State& state, const MaskReport& report) {
    return region_name(state.diagram, state.relabelling.regions[report.region]);
}

namespace {

/// Heads with other counts than those before them are listed up to here.
constexpr std::size_t kMostHeadLines = 16;

std::string kind_text(const Diagram& diagram, const MaskCondition& condition) {
    std::string text = name_of(condition.kind);
    std::string separator = ": ";
    for (const auto& [axis, trend] : condition.trends) {
        if (trend == Trend::Neither) continue;
        text += separator + name_of(trend) + " with " + diagram[axis].name;
        separator = ", ";
    }
    return text;
}

std::string tiles_text(const Diagram& diagram, const MaskReport& report) {
    std::vector<std::string> words;
    for (const index::Tiling& tiling : report.tilings)
        words.push_back(diagram[tiling.axis].name + " by " + std::to_string(tiling.size));
    return joined(words) + ": " + grouped(report.tiles) +
           (report.counts.size() > 1 ? " a head" : "");
}

std::string row(const std::string& name, const std::string& text) {
    return "  " + padded(name, 9) + text + "\n";
}

std::string counts_text(const TileCounts& counts) {
    return grouped(counts.visited) + " visited, " + grouped(counts.full) + " full, " +
           grouped(counts.partial()) + " partial";
}

/// Heads with the same counts on one line.
std::string heads_text(const Diagram& diagram, const MaskReport& report) {
    if (report.counts.size() < 2) return "";
    std::vector<std::pair<TileCounts, std::vector<std::size_t>>> alike;
    for (std::size_t head = 0; head < report.counts.size(); ++head) {
        auto same = std::find_if(alike.begin(), alike.end(), [&](const auto& each) {
            return each.first.visited == report.counts[head].visited &&
                   each.first.full == report.counts[head].full;
        });
        if (same == alike.end()) same = alike.insert(alike.end(), {report.counts[head], {}});
        same->second.push_back(head);
    }
    std::string text;
    for (std::size_t i = 0; i < alike.size() && i < kMostHeadLines; ++i) {
        const auto& [counts, heads] = alike[i];
        std::string name;
        for (const auto& [axis, index] : head_of(diagram, report, heads.front()))
            name += (name.empty() ? "" : " ") + diagram[axis].name + " " + std::to_string(index);
        if (heads.size() > 1) name += " and " + std::to_string(heads.size() - 1) + " more";
        text += row(i == 0 ? "heads" : "", name + ": " + counts_text(counts));
    }
    if (alike.size() > kMostHeadLines)
        text +=
            row("", std::to_string(alike.size() - kMostHeadLines) + " more kinds, with `--json`");
    return text;
}

std::string terms_text(const Diagram& diagram, const MaskReport& report) {
    std::string text;
    for (std::size_t i = 0; i < report.terms.size(); ++i) {
        std::string name = report.terms.size() == 1 ? "where" : i == 0 ? "either" : "or";
        for (const MaskCondition& condition : report.terms[i]) {
            text += row(name, print(diagram, condition.condition));
            text += row("", "  " + kind_text(diagram, condition));
            name.clear();
        }
    }
    return text;
}

}  // namespace

std::string mask_text(const State& state, const MaskReport& report,
                      const std::optional<MaskBytes>& bytes) {
    const Diagram& diagram = state.diagram;
    std::string text = report.statement + " in kernel " + kernel_of(state, report) + "\n" +
                       terms_text(diagram, report) + row("tiles", tiles_text(diagram, report));
    if (report.by_data)
        text += row("data", "counted as the files say; kernels may visit more of it");
    else if (!report.data.empty())
        text += row("data", "leaves fewer than counted here; `--input ARRAY=FILE.npy` gives it");
    if (report.counts.empty())
        return text + row("counts", "none: " + report.uncounted->list.front().message);
    if (!report.decided && !report.by_data)
        text +=
            row("kernels", "may visit more than is counted here: they know no closed form of it");
    const TileCounts total = report.total();
    text += heads_text(diagram, report);
    text += row("visited",
                grouped(total.visited) + (report.formula.empty() ? "" : " = " + report.formula));
    text += row("full", grouped(total.full));
    text += row("partial", grouped(total.partial()));
    text += row("pairs", grouped(total.pairs) + " visible");
    if (total.visited > 0)
        text += row("bound", three_digits(report.bound()) == "1"
                                 ? "as many tiles as all"
                                 : three_digits(report.bound()) + " times fewer tiles than all");
    if (total.pairs > 0) text += row("waste", as_many_text(report.waste()) + " pairs as visible");
    if (bytes && !report.by_data)
        text +=
            row("bytes", bytes_text(static_cast<double>(bytes->total)) +
                             (bytes->heads > 1 ? ", " +
                                                     bytes_text(static_cast<double>(bytes->total) /
                                                                static_cast<double>(bytes->heads)) +
                                                     " a head"
                                               : ""));
    return text;
}

Json mask_json(const State& state, const MaskReport& report,
               const std::optional<MaskBytes>& bytes) {
    const Diagram& diagram = state.diagram;
    Json json{{"statement", report.statement},
              {"kernel", kernel_of(state, report)},
              {"terms", Json::array()},
              {"tiles", Json::object()},
              {"tiles_a_head", report.tiles},
              {"data_decides", !report.data.empty()},
              {"counted_by_data", report.by_data},
              {"kernels_visit_more", !report.decided},
              {"heads", Json::array()}};
    for (const MaskTerm& term : report.terms) {
        Json conditions = Json::array();
        for (const MaskCondition& condition : term) {
            Json axes = Json::object();
            for (const AxisId axis : axes_used(condition.condition)) {
                const auto trend = condition.trends.find(axis);
                axes[diagram[axis].name] =
                    name_of(trend == condition.trends.end() ? Trend::Neither : trend->second);
            }
            conditions.push_back(Json{{"condition", print(diagram, condition.condition)},
                                      {"kind", name_of(condition.kind)},
                                      {"axes", axes}});
        }
        json["terms"].push_back(conditions);
    }
    for (const index::Tiling& tiling : report.tilings)
        json["tiles"][diagram[tiling.axis].name] = tiling.size;
    for (std::size_t head = 0; head < report.counts.size(); ++head) {
        Json one = Json::object();
        for (const auto& [axis, index] : head_of(diagram, report, head))
            one[diagram[axis].name] = index;
        const TileCounts& counts = report.counts[head];
        one["visited"] = counts.visited;
        one["full"] = counts.full;
        one["partial"] = counts.partial();
        json["heads"].push_back(one);
    }
    if (report.counts.empty()) return json;
    const TileCounts total = report.total();
    json["visited"] = total.visited;
    json["full"] = total.full;
    json["partial"] = total.partial();
    json["pairs"] = total.pairs;
    json["bound"] = total.visited > 0 ? Json(report.bound()) : Json();
    json["waste"] = total.pairs > 0 ? Json(report.waste()) : Json();
    if (!report.formula.empty()) json["formula"] = report.formula;
    if (bytes && !report.by_data) json["bytes"] = bytes->total;
    return json;
}

}  // namespace napkin::cli
