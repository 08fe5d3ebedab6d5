#include "cli/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/ascii.h"

namespace napkin::cli {

Json to_json(const Diagnostic& diagnostic, const SourceMap& sources) {
    Json json;
    json["code"] = diagnostic.code;
    json["severity"] = diagnostic.severity == Severity::Error ? "error" : "warning";
    json["message"] = diagnostic.message;
    if (diagnostic.has_place && diagnostic.primary.span.file < sources.files.size()) {
        const LineColumn place = sources.position(diagnostic.primary.span);
        json["file"] = sources.files[diagnostic.primary.span.file].name;
        json["line"] = place.line;
        json["column"] = place.column;
    }
    if (!diagnostic.help.empty()) json["help"] = diagnostic.help;
    return json;
}

Json to_json(const Diagnostics& diagnostics, const SourceMap& sources) {
    Json json = Json::array();
    for (const Diagnostic& diagnostic : diagnostics.list)
        json.push_back(to_json(diagnostic, sources));
    return json;
}

std::string json_of_failure(const Diagnostics& diagnostics, const SourceMap& sources) {
    Json json;
    json["ok"] = false;
    json["errors"] = to_json(diagnostics, sources);
    return text_of(json);
}

namespace {

/// Whether it is one thing to read: a number, a word, a tree of these.
bool is_short(const Json& json) {
    if (json.is_string()) return json.get_ref<const std::string&>().find(' ') == std::string::npos;
    if (json.is_array()) return std::all_of(json.begin(), json.end(), is_short);
    return !json.is_object();
}

std::string on_one_line(const Json& json) {
    if (json.is_array()) {
        std::string parts;
        for (const Json& part : json) parts += (parts.empty() ? "" : ", ") + on_one_line(part);
        return "[" + parts + "]";
    }
    // Escapes keep the value where the locale has no UTF-8.
    return json.dump(-1, ' ', !writes_utf8(), Json::error_handler_t::replace);
}

void write(const Json& json, const std::string& indent, std::string& out) {
    if (is_short(json) || json.empty() || !json.is_structured()) {
        out += on_one_line(json);
        return;
    }
    const std::string inner = indent + "  ";
    out += json.is_object() ? "{" : "[";
    const char* between = "\n";
    for (const auto& [key, value] : json.items()) {
        out += between + inner;
        if (json.is_object()) out += on_one_line(Json(key)) + ": ";
        write(value, inner, out);
        between = ",\n";
    }
    out += "\n" + indent + (json.is_object() ? "}" : "]");
}

}  // namespace

std::string text_of(const Json& json) {
    std::string out;
    write(json, "", out);
    return out + "\n";
}

}  // namespace napkin::cli
