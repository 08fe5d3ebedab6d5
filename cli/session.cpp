#include "cli/session.h"

#include <algorithm>
#include <charconv>

#include "cli/console.h"
#include "cli/messages.h"

namespace napkin::cli {
Result<std::uint32_t> load_text(SourceMap& sources, const std::string& path) {
    Result<std::string> text = read_file(path);
    if (!text) return text.error();
    return sources.add(path, std::move(text).value());
}

Result<Sizes> sizes_of_sets(const std::vector<std::string>& sets) {
    Sizes sizes;
    for (const std::string& text : sets) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0) return malformed_set(text);
        std::int64_t size = 0;
        const char* const end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data() + equals + 1, end, size);
        if (parsed.ec != std::errc{} || parsed.ptr != end || size < 1) return malformed_set(text);
        sizes[text.substr(0, equals)] = size;
    }
    return sizes;
}

namespace {

/// As if the axes were declared `dynamic`: the checker then proves what it proves for every size.
std::optional<Diagnostic> make_dynamic(syntax::File& file, const std::vector<std::string>& axes) {
    std::vector<syntax::AxisItem*> items;
    for (syntax::Line& line : file.lines) {
        if (auto* declared = std::get_if<syntax::AxisLine>(&line.body))
            for (syntax::AxisItem& item : declared->axes) items.push_back(&item);
        if (auto* woven = std::get_if<syntax::WeaveLine>(&line.body))
            for (syntax::AxisItem& item : woven->axes) items.push_back(&item);
    }
    for (const std::string& axis : axes) {
        const auto item =
            std::find_if(items.begin(), items.end(),
                         [&](const syntax::AxisItem* known) { return known->name.text == axis; });
        if (item == items.end()) {
            std::vector<std::string> known;
            for (const syntax::AxisItem* other : items) known.push_back(other->name.text);
            return unknown_dynamic_axis(axis, known);
        }
        (*item)->dynamic = true;
    }
    return std::nullopt;
}

}  // namespace

Result<Checked> check_text(Context& context, std::uint32_t file, const Sizes& sizes) {
    Result<syntax::File> tree = syntax::parse(context.sources, file);
    if (!tree) return tree.error();
    if (const auto wrong = make_dynamic(*tree, context.arguments.dynamic)) return *wrong;
    return check(context.sources, *tree, sizes);
}

Result<Checked> load_checked(Context& context, const Sizes& sizes) {
    const Result<std::uint32_t> file = load_text(context.sources, context.arguments.file);
    if (!file) return file.error();
    return check_text(context, *file, sizes);
}

}  // namespace napkin::cli
