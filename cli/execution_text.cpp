#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/execution.h"
#include "cli/numbers.h"

namespace napkin::cli {
namespace {

std::string short_number(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.3g", value);
    return buffer;
}

Json json_of(const LevelTraffic& traffic) {
    Json json = Json::object();
    for (const auto& [level, values] : traffic)
        json[std::string(name_of(level))] = Json{{"H", values.transferred}, {"A", values.peak}};
    return json;
}

std::string line_of(Level level, const Traffic& counted, const Traffic& modelled, bool alike) {
    const std::string name(name_of(level));
    if (counted == modelled)
        return "  " + name + ": H = " + std::to_string(counted.transferred) +
               " values and A = " + std::to_string(counted.peak) +
               " values, counted and modelled alike\n";
    if (alike)
        return "  " + name + ": H = " + std::to_string(counted.transferred) +
               " values, counted and modelled alike; A = " + std::to_string(counted.peak) +
               " values counted, " + std::to_string(modelled.peak) +
               " modelled, since masks leave a loop no chunk to hold\n";
    return "  " + name + ": counted H = " + std::to_string(counted.transferred) +
           ", A = " + std::to_string(counted.peak) +
           ", but modelled H = " + std::to_string(modelled.transferred) +
           ", A = " + std::to_string(modelled.peak) + "\n";
}

}  // namespace

Json to_json(const RunReport& report) {
    Json json{{"ok", report.exit_code() == kOk}, {"verdict", name_of(report.verdict())},
              {"device", report.device},         {"executed", report.executed},
              {"rungs", report.rungs},           {"sampled", report.validation.sampled()},
              {"outputs", Json::array()}};
    if (!report.target.empty()) json["target"] = report.target;
    if (!report.refusals.empty()) json["refused"] = report.refusals;
    for (const Comparison& output : report.validation.outputs)
        json["outputs"].push_back(Json{{"name", output.name},
                                       {"max_abs_error", output.max_abs_error},
                                       {"rel_frobenius", output.rel_frobenius},
                                       {"tolerance", output.tolerance},
                                       {"size", output.size},
                                       {"ok", output.verdict() != Verdict::Wrong},
                                       {"compared", output.compared},
                                       {"judged", output.judged()},
                                       {"failed", output.failed},
                                       {"unchecked", output.unchecked()},
                                       {"undecided", output.undecided},
                                       {"alike", output.alike},
                                       {"beyond", output.beyond},
                                       {"undefined", output.undefined},
                                       {"infinite", output.infinite},
                                       {"scale", output.scale},
                                       {"rounded", output.rounded},
                                       {"given", output.given},
                                       {"worst_index", output.worst_index}});
    json["counted"] = json_of(report.counted);
    json["modelled"] = json_of(report.modelled);
    json["written_twice"] = report.written_twice;
    json["never_written"] = report.never_written;
    json["canaries_broken"] = report.canaries_broken;
    json["repeatable"] = report.repeatable;
    return json;
}

std::string text_of(const RunReport& report) {
    std::string text = "device: " + report.device + "\n";
    if (!report.executed)
        text += "  transfers were counted but no values computed: " + short_number(report.work) +
                " elements are too many for this device (`set`, or --set, makes them fewer)\n";
    for (const Comparison& output : report.validation.outputs) {
        const Verdict verdict = output.verdict();
        text += std::string("  ") + (verdict == Verdict::Wrong ? "WRONG" : name_of(verdict)) +
                ": " + describe(output) + "\n";
    }
    for (const auto& [level, counted] : report.counted) {
        const auto modelled = report.modelled.find(level);
        text += line_of(level, counted,
                        modelled == report.modelled.end() ? Traffic{} : modelled->second,
                        report.is_as_modelled(level));
    }
    if (report.written_twice > 0)
        text += "  " + std::to_string(report.written_twice) + " output elements written twice\n";
    if (report.never_written > 0)
        text += "  " + std::to_string(report.never_written) + " output elements never written\n";
    if (report.canaries_broken > 0)
        text += "  " + std::to_string(report.canaries_broken) + " bytes outside buffers changed\n";
    if (!report.repeatable) text += "  repeated runs gave different bits\n";
    const Verdict verdict = report.verdict();
    const std::string outcome = verdict == Verdict::Right   ? "ok"
                                : verdict == Verdict::Wrong ? "WRONG"
                                                            : name_of(verdict);
    return text + outcome + ", rungs: " + joined(report.rungs) +
           (report.validation.sampled() ? " (sampled)" : "") + "\n";
}

}  // namespace napkin::cli
