#include "cli/json.h"

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

std::string text_of(const Json& json) {
    // Escapes keep the value where the locale has no UTF-8.
    return json.dump(2, ' ', !writes_utf8(), Json::error_handler_t::replace) + "\n";
}

}  // namespace napkin::cli
