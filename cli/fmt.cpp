#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/session.h"
#include "diagrams/syntax.h"

namespace napkin::cli {

Result<int> run_fmt(Context& context) {
    const Result<std::uint32_t> file = load_text(context.sources, context.arguments.file);
    if (!file) return file.error();
    const Result<syntax::File> tree = parse_diagram(context.sources, *file);
    if (!tree) return tree.error();
    if (std::optional<Diagnostic> failure =
            write_data(context.arguments.output, syntax::print(*tree)))
        return *failure;
    return kOk;
}

}  // namespace napkin::cli
