#include "diagrams/check.h"

#include <algorithm>
#include <utility>

#include "diagrams/check/context.h"
#include "diagrams/check/messages.h"

namespace napkin {

namespace {

Result<syntax::File> parse_library() {
    SourceMap sources;
    const std::uint32_t file = sources.add("library.ncd", library_text());
    return syntax::parse(sources, file);
}

/// By place, whatever pass found them; what has no place comes first.
Diagnostics in_order(Diagnostics diagnostics) {
    std::stable_sort(diagnostics.list.begin(), diagnostics.list.end(),
                     [](const Diagnostic& a, const Diagnostic& b) {
                         const auto key = [](const Diagnostic& item) {
                             return std::pair(item.has_place, item.primary.span.begin);
                         };
                         return key(a) < key(b);
                     });
    return diagnostics;
}

}  // namespace

Result<Checked> check(const SourceMap& sources, const syntax::File& file, const Sizes& sizes) {
    (void)sources;
    const Result<syntax::File> library = parse_library();
    invariant(library.has_value(), "the library of operations does not parse");
    checking::Context context(file);
    if (!file.diagram) return messages::no_diagram(Span{});
    context.diagram.name = file.diagram->text;
    checking::collect_definitions(context, *library);
    checking::resolve_axes(context, sizes);
    checking::declare_inputs(context);
    checking::resolve_statements(context);
    checking::weave(context);
    checking::apply_layouts(context);
    checking::check_sizes(context);
    checking::check_bounds(context);
    if (context.errors.has_errors()) return in_order(std::move(context.errors));
    checking::warn_unused(context);
    verify(context.diagram);
    return Checked{std::move(context.diagram), in_order(std::move(context.warnings))};
}

Result<Checked> load_diagram(SourceMap& sources, const std::string& name, const std::string& text,
                             const Sizes& sizes) {
    const std::uint32_t file = sources.add(name, text);
    const Result<syntax::File> tree = syntax::parse(sources, file);
    if (!tree) return tree.error();
    return check(sources, *tree, sizes);
}

}  // namespace napkin
