#include "cli/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/files.h"
#include "cli/json.h"
#include "cli/study_messages.h"

namespace napkin::cli {
namespace {

constexpr double kMicrosecond = 1e-6;

/// What a file's first line says of all its rows.
struct Header {
    std::string target;
    std::string device;
};

const char* key_of_time(const Json& line) {
    return line.contains("us") ? "us" : "napkin_us";
}

const char* key_of_name(const Json& line) {
    return line.contains("diagram") ? "diagram" : "workload";
}

/// Whether a line is of a kernel that has a time and computes what it should: what computes
/// something else may be as fast as it likes.
bool is_timed(const Json& line) {
    const auto time = line.find(key_of_time(line));
    return time != line.end() && !time->is_null() && line.value("verdict", "") != "wrong" &&
           !line.contains("napkin_wrong");
}

bool holds_numbers(const Json& json) {
    return json.is_object() &&
           std::all_of(json.begin(), json.end(), [](const Json& each) { return each.is_number(); });
}

bool holds_texts(const Json& json) {
    return json.is_array() &&
           std::all_of(json.begin(), json.end(), [](const Json& each) { return each.is_string(); });
}

/// What of a line is of another kind than it must be; empty where nothing is.
std::string wrong_texts(const Json& line) {
    if (!line.is_object()) return "it is no object";
    for (const char* key : {"target", "device", "verdict"})
        if (line.contains(key) && !line[key].is_string())
            return fmt::format("its `{}` is no text", key);
    return "";
}

/// What a row with a time lacks; empty where it is whole.
std::string wrong_row(const Json& line) {
    const char* const time = key_of_time(line);
    const char* const name = key_of_name(line);
    if (!line[time].is_number()) return fmt::format("its `{}` is no number", time);
    if (!line.contains(name)) return "it has no `workload`, and no `diagram` either";
    if (!line[name].is_string()) return fmt::format("its `{}` is no text", name);
    if (!line.contains("sizes")) return "it has no `sizes`";
    if (!holds_numbers(line["sizes"])) return "its `sizes` are not a number for each axis";
    if (line.contains("steps") && !holds_texts(line["steps"])) return "its `steps` are no texts";
    return line[time].get<double>() > 0 ? "" : "its time is not more than zero";
}

/// A whole row of a file with that header.
RecordedRow row_of(const Json& line, const Header& header) {
    RecordedRow row;
    row.seconds = line[key_of_time(line)].get<double>() * kMicrosecond;
    row.name = line[key_of_name(line)];
    row.target = line.value("target", header.target);
    row.device = line.value("device", header.device);
    row.sizes = line["sizes"].get<std::map<std::string, double>>();
    row.tells_steps = line.contains("steps");
    if (row.tells_steps) row.steps = line["steps"].get<std::vector<std::string>>();
    return row;
}

bool has_sizes(const Diagram& diagram, const std::map<std::string, double>& sizes) {
    return std::all_of(sizes.begin(), sizes.end(), [&](const auto& size) {
        const auto axis = find_axis(diagram, size.first);
        return !axis || static_cast<double>(diagram[*axis].extent) == size.second;
    });
}

}  // namespace

Result<std::vector<RecordedRow>> read_recorded(const std::string& path) {
    const Result<std::string> text = text_of_file(path);
    if (!text) return text.error();
    std::vector<RecordedRow> rows;
    std::istringstream lines(*text);
    Header header;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.empty()) continue;
        const Json json = Json::parse(line, nullptr, false);
        std::string wrong = json.is_discarded() ? "it is no JSON" : wrong_texts(json);
        if (wrong.empty() && is_timed(json)) wrong = wrong_row(json);
        if (!wrong.empty()) return recorded_unreadable(path, number, wrong);
        if (number == 1) header = {json.value("target", ""), json.value("device", "")};
        if (!is_timed(json)) continue;
        rows.push_back(row_of(json, header));
        rows.back().file = path;
    }
    return rows;
}

const RecordedRow* find_row(const std::vector<RecordedRow>& rows, const Measurable& wanted) {
    const auto found = std::find_if(rows.rbegin(), rows.rend(), [&](const RecordedRow& row) {
        const bool all_sizes =
            std::all_of(wanted.sizes.begin(), wanted.sizes.end(), [&](const auto& size) {
                const auto there = row.sizes.find(size.first);
                return there != row.sizes.end() && there->second == size.second;
            });
        return row.name == wanted.name && row.target == wanted.target && all_sizes &&
               has_sizes(wanted.diagram, row.sizes) &&
               (!row.tells_steps || row.steps == wanted.steps);
    });
    return found == rows.rend() ? nullptr : &*found;
}

}  // namespace napkin::cli
