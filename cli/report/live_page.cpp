#include "cli/report/live_page.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/files.h"
#include "cli/json.h"
#include "cli/messages.h"
#include "cli/picture.h"
#include "cli/report/html.h"
#include "cli/report/parts.h"
#include "cli/workbench.h"
#include "diagrams/drawing/changes.h"
#include "diagrams/drawing/render.h"

namespace napkin::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPageBegins =
    "<!DOCTYPE html>\n<!-- A live page of napkin: what stands in the script beside it";
constexpr std::string_view kScriptBegins = "// What a live page of napkin shows.\n";

/// Why a file cannot take the place of what stands there, unless that begins as it does.
std::optional<Diagnostic> refuse_other(const std::string& path, std::string_view begins) {
    std::error_code failure;
    const fs::file_status status = fs::status(path, failure);
    if (!fs::exists(status)) return std::nullopt;
    if (!fs::is_regular_file(status)) return cannot_write(path, "it is no file");
    const Result<std::string> text = text_of_file(path);
    if (!text) return text.error().list.front();
    if (text->starts_with(begins)) return std::nullopt;
    return output_is_no_live_page(path);
}

std::string script_of(const std::string& shown, bool ended) {
    return std::string(kScriptBegins) + "napkin(" + shown + (ended ? ",\"ended\":true" : "") +
           "});\n";
}

}  // namespace

LivePage::LivePage(std::string path) : path_(std::move(path)) {
    script_ = fs::path(path_).replace_extension(".js").string();
}

std::optional<Diagnostic> LivePage::refused() const {
    if (auto refused = refuse_other(path_, kPageBegins)) return refused;
    return refuse_other(script_, kScriptBegins);
}

std::optional<Diagnostic> LivePage::write() const {
    const std::string page = filled(report_live(), {{"STYLE", page_style()}});
    invariant(page.starts_with(kPageBegins), "a live page is known by how it begins");
    return write_file(path_, page);
}

std::optional<Diagnostics> LivePage::show(const LiveView& view) {
    PictureOptions options;
    options.title = view.state.diagram.name;
    Result<drawing::Canvas> picture = picture_of(view.state, view.cost, options);
    if (!picture) return picture.error();
    drawing::Canvas marked = *picture;
    if (picture_)
        drawing::mark_changes(marked, *picture_, changed_costs(*cost_, view.cost),
                              drawing::DrawOptions{}.max_width);
    Json steps = Json::array();
    for (const Command& command : commands_of(view.state)) steps.push_back(typed_text(command));
    const Json json{{"title", view.title},
                    {"steps", steps},
                    {"picture", drawing::render_svg_part(marked)},
                    {"words", view.words}};
    shown_ = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    shown_.pop_back();
    picture_ = std::move(*picture);
    cost_ = view.cost;
    if (const auto failure = write_file(script_, script_of(shown_, false)))
        return Diagnostics{{*failure}};
    return std::nullopt;
}

std::optional<Diagnostic> LivePage::end() {
    if (shown_.empty()) return std::nullopt;
    return write_file(script_, script_of(shown_, true));
}

}  // namespace napkin::cli
