#include "cli/display.h"

#include <filesystem>

#include "cli/console.h"
#include "cli/picture.h"

namespace napkin::cli {
namespace {

/// `file:///home/a%20b/page.html`.
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

}  // namespace

void Display::report(const State* before, const Workbench& bench) {
    const Result<StepReport> report =
        report_step(before, bench.plain(), bench.current(), machine_, cost_of_);
    if (!report) return print_diagnostics(report.error(), sources_);
    if (!report->same_picture)
        print_data(terminal_picture(bench.current(), report->cost, wants_color(1)) + "\n");
    print_data(report->words + "\n");
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
