#include "cli/recorded.h"

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

/// A row of a file with that header; throws what the JSON library does.
std::optional<RecordedRow> row_of(const Json& line, const Header& header) {
    const char* const time = line.contains("us") ? "us" : "napkin_us";
    if (!line.contains(time) || line[time].is_null()) return std::nullopt;
    // What computes something else may be as fast as it likes.
    if (line.value("verdict", "") == "wrong" || line.contains("napkin_wrong")) return std::nullopt;
    RecordedRow row;
    row.seconds = line[time].get<double>() * kMicrosecond;
    row.name = line.contains("diagram") ? line["diagram"] : line.at("workload");
    row.target = line.value("target", header.target);
    row.device = line.value("device", header.device);
    row.sizes = line.at("sizes").get<std::map<std::string, double>>();
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
        try {
            const Json json = Json::parse(line);
            if (!json.is_object()) return recorded_unreadable(path, number, "it is no object");
            if (number == 1) header = {json.value("target", ""), json.value("device", "")};
            if (std::optional<RecordedRow> row = row_of(json, header)) {
                if (!(row->seconds > 0))
                    return recorded_unreadable(path, number, "its time is not more than zero");
                row->file = path;
                rows.push_back(std::move(*row));
            }
        } catch (const Json::exception& wrong) {
            return recorded_unreadable(path, number, wrong.what());
        }
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
