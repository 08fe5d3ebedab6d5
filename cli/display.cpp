#include "cli/display.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "cli/console.h"
#include "cli/lines.h"
#include "cli/picture.h"
#include "cli/terminal/ask.h"

namespace napkin::cli {
namespace {

/// `file:///a%20b/page.html`.
std::string address_of(const std::string& path) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    constexpr std::string_view kPlain = "-._~/";
    std::error_code failure;
    std::string address = "file://";
    for (const char c : std::filesystem::absolute(path, failure).lexically_normal().string()) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos)
            address += c;
        else
            address += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
    return address;
}

/// Whether a terminal would cut an image.
bool cuts(const Answers& terminal, ImageProtocol protocol, double width, double height) {
    return protocol == ImageProtocol::Sixel && terminal.most_width > 0 &&
           terminal.most_height > 0 &&
           (std::ceil(width) > terminal.most_width || std::ceil(height) > terminal.most_height);
}

/// The picture in the terminal's colours, its letters as large as those around it and no wider than
/// the window; none where it would be cut.
Result<std::optional<std::string>> image_of(const State& state, const Cost& cost,
                                            const Answers& terminal, ImageProtocol protocol) {
    constexpr int kCellWidth = 8;  // pixels, where the terminal does not say
    PictureOptions options;
    options.max_width = columns(terminal_width());
    const Result<drawing::Canvas> canvas = picture_of(state, cost, options);
    if (!canvas) return canvas.error();
    const double wide = std::min(canvas->width, *options.max_width);
    const int cell = terminal.cell_width > 0 ? terminal.cell_width : kCellWidth;
    const double scale = cell / drawing::kTerminalCell * wide / canvas->width;
    if (cuts(terminal, protocol, canvas->width * scale, canvas->height * scale))
        return std::optional<std::string>();
    const drawing::Theme theme = terminal.is_dark ? drawing::Theme::Dark : drawing::Theme::Paper;
    const Result<std::string> png = drawing::render_png(*canvas, theme, scale);
    if (!png) return png.error();
    return std::optional(
        image_text(protocol, *png, static_cast<int>(std::ceil(wide / columns(1)))));
}

}  // namespace

std::string Display::ask() {
    terminal_ = ask_terminal();
    images_ = protocol_of(terminal_);
    return terminal_.typed;
}

bool Display::use_images(bool wanted) {
    images_ = wanted ? protocol_of(terminal_) : std::nullopt;
    return !wanted || images_.has_value();
}

void Display::show_picture(const State& state, const Cost& cost) {
    if (images_) {
        const auto image = image_of(state, cost, terminal_, *images_);
        if (image && *image) return print_bytes(**image + "\n\n");
        if (image) {
            print_data("  text, since this terminal cuts an image of this size\n");
        } else {
            print_diagnostics(image.error(), sources_);
            print_data("  pictures are text from here on; `show image` tries again\n");
            images_.reset();
        }
    }
    print_data(terminal_picture(state, cost, wants_color(1)) + "\n");
}

void Display::report(const State* before, const Workbench& bench) {
    const Result<StepReport> report =
        report_step(before, bench.plain(), bench.current(), machine_, cost_of_);
    if (!report) return print_diagnostics(report.error(), sources_);
    if (!report->same_picture) show_picture(bench.current(), report->cost);
    print_lines(report->words + "\n");
    if (page_) follow(bench, *report);
}

void Display::follow(const Workbench& bench, const StepReport& report) {
    const std::string title = bench.current().diagram.name + " on " + machine_.name;
    const auto failure = page_->show({bench.current(), report.cost, title, report.words});
    if (!failure) return;
    print_diagnostics(*failure, sources_);
    print_data("  `" + page_->path() + "` follows no more\n");
    page_.reset();
}

void Display::live(const std::string& rest, const Workbench& bench) {
    if (rest == "off") {
        print_data(page_ ? "  `" + page_->path() + "` follows no more\n" : "  no page follows\n");
        return end();
    }
    if (!rest.empty()) return begin_page(rest, bench);
    begin_page(page_ ? page_->path() : bench.current().diagram.name + "-live.html", bench);
}

void Display::begin_page(const std::string& path, const Workbench& bench) {
    if (std::filesystem::path(path).extension() != ".html")
        return print_data("  write `show live FILE.html` or `show live off`\n");
    LivePage page(path);
    std::optional<Diagnostic> failure = page.refused();
    if (!failure) failure = page.write();
    if (failure) return print_diagnostics({{*failure}}, sources_);
    if (page_ && page_->path() != path) end();
    page_ = std::move(page);
    const Result<StepReport> report =
        report_step(nullptr, bench.plain(), bench.current(), machine_, cost_of_);
    if (!report) return print_diagnostics(report.error(), sources_);
    follow(bench, *report);
    if (page_)
        print_data("  open " + address_of(path) + " in a browser: it follows every command\n");
}

void Display::end() {
    if (!page_) return;
    if (const auto failure = page_->end()) print_diagnostics({{*failure}}, sources_);
    page_.reset();
}

}  // namespace napkin::cli
