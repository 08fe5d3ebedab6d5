// How wide pictures are: no wider than was asked for where they can be, and no taller for more
// width.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "derive/state.h"
#include "diagrams/check.h"
#include "diagrams/drawing/layout.h"
#include "diagrams/drawing/render.h"
#include "tests/drawing/figures.h"
#include "tests/drawing/picture_checks.h"
#include "tests/golden.h"

namespace napkin::test {

namespace {

using drawing::Medium;

std::size_t rows_of(const drawing::Canvas& canvas) {
    std::size_t rows = 1;
    for (const drawing::Operation& operation : canvas.operations)
        if (const drawing::Text* text = std::get_if<drawing::Text>(&operation.shape))
            rows += to_unicode(text->text).starts_with("goes on below") ? 1 : 0;
    return rows;
}

double width_of(const drawing::Canvas& canvas, Medium medium) {
    if (medium == Medium::Page) return canvas.width;
    return drawing::kTerminalCell * static_cast<double>(columns_of_text(render_text(canvas)));
}

/// Each kernel by itself, then all, at growing widths: from far too little to more than they take.
void check_widths(const Diagram& diagram, const Relabelling& relabelling) {
    for (const Medium medium : {Medium::Page, Medium::Terminal})
        for (std::size_t r = 0; r <= relabelling.regions.size(); ++r) {
            drawing::DrawOptions options;
            options.medium = medium;
            if (r < relabelling.regions.size()) options.kernel = r;
            double narrowest = 0;
            std::size_t most = 0;
            for (int columns = 10; columns <= 250; columns += 40) {
                CAPTURE(columns);
                options.max_width = drawing::kTerminalCell * columns;
                const drawing::Canvas canvas = draw_diagram(diagram, relabelling, options);
                const double width = width_of(canvas, medium);
                if (narrowest == 0) narrowest = width;
                CHECK_LE(width, std::max(narrowest, options.max_width));
                if (!options.kernel) continue;
                const std::size_t rows = rows_of(canvas);
                if (most > 0) CHECK_LE(rows, most);
                most = rows;
            }
        }
}

}  // namespace

TEST_CASE(
    "pictures are no wider than asked for where they can be, and more width takes no more rows") {
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR)) {
        std::filesystem::path file = entry.path();
        if (file.extension() != ".drv") continue;
        SourceMap sources;
        const Result<std::vector<Command>> commands =
            parse_derivation(sources, sources.add(file.string(), read_text(file)));
        REQUIRE(commands.has_value());
        file.replace_extension(".ncd");
        if (!std::filesystem::exists(file)) continue;
        CAPTURE(file.filename().string());
        const Result<Checked> checked = load_diagram(sources, file.string(), read_text(file));
        REQUIRE(checked.has_value());
        const Result<State> state = replay(checked->diagram, *commands);
        REQUIRE(state.has_value());
        check_widths(state->diagram, state->relabelling);
    }
    const Figure figure = long_diagram();
    check_widths(figure.diagram, figure.relabelling);
}

}  // namespace napkin::test
