#include "cli/session.h"

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

Result<Checked> load_checked(Context& context, const Sizes& sizes) {
    const Result<std::uint32_t> file = load_text(context.sources, context.arguments.file);
    if (!file) return file.error();
    const Result<syntax::File> tree = syntax::parse(context.sources, *file);
    if (!tree) return tree.error();
    return check(context.sources, *tree, sizes);
}

}  // namespace napkin::cli
