#include "cli/lsp/server.h"

#include <fmt/format.h>

#include "cli/lsp/features.h"
#include "cli/lsp/study.h"
#include "diagrams/overloaded.h"

namespace napkin::lsp {
namespace {

// The protocol's error codes.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kInternalError = -32603;
constexpr int kNotInitialized = -32002;
constexpr int kRequestFailed = -32803;

/// Why a request has no result.
struct Refusal {
    int code = kInvalidParams;
    std::string message;
};

Json error_of(const Json& id, int code, const std::string& message) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

Json to_json(const Position& position) {
    return {{"line", position.line}, {"character", position.character}};
}

Json to_json(const Range& range) {
    return {{"start", to_json(range.start)}, {"end", to_json(range.end)}};
}

/// A member of a type; refused where it is not there.
template <class T>
T member(const Json& object, const char* name) {
    if (!object.is_object() || !object.contains(name))
        throw Refusal{kInvalidParams, fmt::format("`{}` is missing", name)};
    try {
        return object.at(name).get<T>();
    } catch (const Json::exception&) {
        throw Refusal{kInvalidParams, fmt::format("`{}` is of another type", name)};
    }
}

std::string uri_in(const Json& parameters) {
    return member<std::string>(member<Json>(parameters, "textDocument"), "uri");
}

/// A number of any size, as one that no text reaches.
std::int64_t count_in(const Json& object, const char* name) {
    constexpr double kMost = 2147483647.0;  // the protocol's largest
    const double value = member<double>(object, name);
    if (!(value >= 0)) throw Refusal{kInvalidParams, fmt::format("`{}` is below 0", name)};
    return static_cast<std::int64_t>(std::min(value, kMost));
}

Place place_in(const Workspace& workspace, const Json& parameters) {
    const std::string uri = uri_in(parameters);
    const Text* text = workspace.find(uri);
    if (text == nullptr) throw Refusal{kInvalidParams, fmt::format("`{}` is not open", uri)};
    Position position;
    if (parameters.contains("position")) {
        const Json given = member<Json>(parameters, "position");
        position = {count_in(given, "line"), count_in(given, "character")};
    }
    return {workspace, uri, *text, position};
}

Json capabilities() {
    constexpr int kFull = 1;  // a changed text comes as a whole
    return {{"capabilities",
             {{"positionEncoding", "utf-16"},
              {"textDocumentSync", {{"openClose", true}, {"change", kFull}}},
              {"hoverProvider", true},
              {"completionProvider", {{"triggerCharacters", {":", " "}}}},
              {"renameProvider", {{"prepareProvider", true}}},
              {"documentFormattingProvider", true}}},
            {"serverInfo", {{"name", "napkin"}, {"version", NAPKIN_VERSION}}}};
}

int kind_number(Completion::Kind kind) {
    switch (kind) {
    case Completion::Kind::Keyword: return 14;
    case Completion::Kind::Function: return 3;
    case Completion::Kind::Array: return 6;
    case Completion::Kind::Axis: return 20;
    case Completion::Kind::Type: return 25;
    case Completion::Kind::Rule: return 14;
    case Completion::Kind::Word: return 1;
    }
    throw InternalError("unknown kind of completion");
}

Json hover_json(const Place& place) {
    const std::optional<Hover> found = hover(place);
    if (!found) return nullptr;
    return {{"contents", {{"kind", "markdown"}, {"value", found->markdown}}},
            {"range", to_json(found->range)}};
}

Json completion_json(const Place& place) {
    Json items = Json::array();
    for (const Completion& each : completions(place)) {
        Json item{{"label", each.label}, {"kind", kind_number(each.kind)}};
        if (!each.detail.empty()) item["detail"] = each.detail;
        items.push_back(std::move(item));
    }
    return items;
}

Json edit_json(const Edit& edit) {
    return {{"range", to_json(edit.range)}, {"newText", edit.text}};
}

Json rename_json(const Place& place, const Json& parameters) {
    const auto renamed = rename(place, member<std::string>(parameters, "newName"));
    if (const std::string* why = std::get_if<std::string>(&renamed))
        throw Refusal{kRequestFailed, *why};
    Json changes = Json::object();
    for (const auto& [uri, edits] : std::get<0>(renamed))
        for (const Edit& edit : edits) changes[uri].push_back(edit_json(edit));
    return {{"changes", changes}};
}

Json formatting_json(const Place& place) {
    const std::optional<std::string> text = formatted(place);
    if (!text || *text == place.text.bytes()) return Json::array();
    return Json::array({edit_json({place.text.whole(), *text})});
}

Json diagnostic_json(const Diagnostic& diagnostic, const Study& study, const Text& text,
                     const std::string& uri) {
    constexpr int kError = 1;
    constexpr int kWarning = 2;
    const bool here = diagnostic.has_place && diagnostic.primary.span.file == study.file;
    const Range range = here ? text.range(diagnostic.primary.span) : Range{};
    std::string message = diagnostic.message;  // the editor marks the place, without the remark
    if (!diagnostic.help.empty()) message += "\n" + diagnostic.help;
    Json json{{"range", to_json(range)},
              {"severity", diagnostic.severity == Severity::Error ? kError : kWarning},
              {"code", diagnostic.code},
              {"source", "napkin"},
              {"message", message}};
    for (const Label& label : diagnostic.related)
        if (label.span.file == study.file)
            json["relatedInformation"].push_back(
                {{"location", {{"uri", uri}, {"range", to_json(text.range(label.span))}}},
                 {"message", label.text}});
    return json;
}

}  // namespace

void Server::publish_one(const std::string& uri) {
    const Text* text = workspace_.find(uri);
    Json list = Json::array();
    if (text != nullptr) {
        const Study known = study(workspace_, uri, *text);
        for (const Diagnostic& each : known.diagnostics.list)
            list.push_back(diagnostic_json(each, known, *text, uri));
    }
    send_({{"jsonrpc", "2.0"},
           {"method", "textDocument/publishDiagnostics"},
           {"params", {{"uri", uri}, {"diagnostics", list}}}});
}

void Server::publish(const std::string& uri) {
    publish_one(uri);
    if (is_derivation(uri)) return;
    for (const std::string& other : workspace_.opened())
        if (is_derivation(other) && workspace_.diagram_of(other) == uri) publish_one(other);
}

void Server::note(const std::string& method, const Json& parameters) {
    if (method == "textDocument/didOpen") {
        const Json document = member<Json>(parameters, "textDocument");
        const std::string uri = member<std::string>(document, "uri");
        workspace_.put(uri, member<std::string>(document, "text"));
        publish(uri);
    } else if (method == "textDocument/didChange") {
        const std::string uri = uri_in(parameters);
        const Json changes = member<Json>(parameters, "contentChanges");
        if (!changes.is_array() || changes.empty() || workspace_.find(uri) == nullptr) return;
        workspace_.put(uri, member<std::string>(changes.back(), "text"));
        publish(uri);
    } else if (method == "textDocument/didClose") {
        const std::string uri = uri_in(parameters);
        workspace_.drop(uri);
        publish(uri);
    }
}

Json Server::result_of(const std::string& method, const Json& parameters) {
    if (method == "shutdown") {
        shut_down_ = true;
        return nullptr;
    }
    if (method == "textDocument/hover") return hover_json(place_in(workspace_, parameters));
    if (method == "textDocument/completion")
        return completion_json(place_in(workspace_, parameters));
    if (method == "textDocument/prepareRename") {
        const std::optional<Range> range = renamed_range(place_in(workspace_, parameters));
        return range ? to_json(*range) : Json(nullptr);
    }
    if (method == "textDocument/rename")
        return rename_json(place_in(workspace_, parameters), parameters);
    if (method == "textDocument/formatting")
        return formatting_json(place_in(workspace_, parameters));
    throw Refusal{kMethodNotFound, fmt::format("there is no method `{}`", method)};
}

std::optional<int> Server::answer(const Json& message) {
    const bool is_request = message.contains("id");
    const Json id = is_request ? message["id"] : Json(nullptr);
    if (!message.contains("method")) return std::nullopt;  // an answer to nothing that was asked
    const Json parameters = message.contains("params") ? message["params"] : Json::object();
    try {
        const std::string method = member<std::string>(message, "method");
        if (method == "exit") return shut_down_ ? 0 : 1;
        if (!is_request) {
            if (initialized_ && !shut_down_) note(method, parameters);
            return std::nullopt;
        }
        if (shut_down_) throw Refusal{kInvalidRequest, "the server is shut down"};
        if (method == "initialize") {
            initialized_ = true;
            send_({{"jsonrpc", "2.0"}, {"id", id}, {"result", capabilities()}});
            return std::nullopt;
        }
        if (!initialized_) throw Refusal{kNotInitialized, "`initialize` comes first"};
        Json result = result_of(method, parameters);
        send_({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
    } catch (const Refusal& refusal) {
        if (is_request) send_(error_of(id, refusal.code, refusal.message));
    } catch (const std::exception& bug) {
        if (is_request)
            send_(error_of(id, kInternalError, std::string("a bug of napkin: ") + bug.what()));
    }
    return std::nullopt;
}

std::optional<int> Server::take(const std::string& message) {
    const Json json = Json::parse(message, nullptr, false);
    if (json.is_discarded()) {
        refuse("the message is no JSON");
        return std::nullopt;
    }
    if (!json.is_object()) {
        send_(error_of(nullptr, kInvalidRequest, "a message is an object"));
        return std::nullopt;
    }
    return answer(json);
}

void Server::refuse(const std::string& why) {
    send_(error_of(nullptr, kParseError, why));
}

}  // namespace napkin::lsp
