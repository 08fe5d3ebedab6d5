// The graph of kernels above pictures that are drawn kernel by kernel.
#include "diagrams/graphviz/overview.h"

#include <set>

#include "diagrams/check.h"
#include "tests/drawing/figures.h"
#include "tests/drawing/picture_checks.h"

namespace napkin::test {

TEST_CASE("the overview has each kernel once, apart, with what it loads and saves") {
    for (Figure (*make)() : {plain_attention, long_diagram}) {
        const Figure figure = make();
        const std::vector<Region>& regions = figure.relabelling.regions;
        const Result<drawing::Canvas> overview =
            drawing::draw_overview(figure.diagram, figure.relabelling, 900);
        REQUIRE(overview.has_value());
        CHECK(*overview == *drawing::draw_overview(figure.diagram, figure.relabelling, 900));
        for (const std::string& pair : overlapping_labels(*overview)) FAIL_CHECK(pair);
        for (const std::string& label : labels_on_glyphs(*overview)) FAIL_CHECK(label);
        std::set<std::string> wanted;
        for (const Region& region : regions)
            wanted.insert("kernel-" + region_name(figure.diagram, region));
        std::set<std::string> shown;
        for (const drawing::Element& element : overview->elements) {
            shown.insert(element.id);
            for (const drawing::Element& other : overview->elements)
                CHECK((element == other || !overlap(element.bounds, other.bounds)));
        }
        CHECK_EQ(shown, wanted);
        CHECK_EQ(overview->elements.size(), regions.size());
    }
}

TEST_CASE("the overview has an arrow for each kernel that reads what another saves") {
    const Figure figure = plain_attention();
    const Result<drawing::Canvas> overview =
        drawing::draw_overview(figure.diagram, figure.relabelling, 900);
    REQUIRE(overview.has_value());
    std::size_t heads = 0;
    for (const drawing::Operation& operation : overview->operations)
        if (const drawing::Polygon* shape = std::get_if<drawing::Polygon>(&operation.shape))
            heads += shape->part == drawing::Part::ArrowHead ? 1 : 0;
    CHECK_EQ(heads, 2);  // S to P, P to O
    CHECK_EQ(overview->elements[0].tooltip, "kernel S: loads Q, K; saves S");
}

TEST_CASE("kernels between which nothing flows stand side by side") {
    SourceMap sources;
    const Result<Checked> checked =
        load_diagram(sources, "apart.ncd",
                     "diagram apart {\n  axis n = 8, c = 4\n  input A[n, c] : f32\n"
                     "  output S[n] : f32 = sum(c) A[n, c]\n  output M[n] : f32 = max(c) A[n, c]\n"
                     "  output L[n] : f32 = min(c) A[n, c]\n}\n");
    REQUIRE(checked.has_value());
    const Relabelling plain = plain_relabelling(checked->diagram);
    const auto size = [&](double width) {
        const Result<drawing::Canvas> overview =
            drawing::draw_overview(checked->diagram, plain, width);
        REQUIRE(overview.has_value());
        return bounds_of(*overview);
    };
    CHECK_GT(size(900).right, 2 * size(900).bottom);
    CHECK_LE(size(120).right, 120);
    CHECK_GT(size(120).bottom, size(120).right);
}

TEST_CASE("an overview too wide for the page goes downwards") {
    const Figure figure = long_diagram();
    const Result<drawing::Canvas> wide =
        drawing::draw_overview(figure.diagram, figure.relabelling, 1e6);
    const Result<drawing::Canvas> narrow =
        drawing::draw_overview(figure.diagram, figure.relabelling, 300);
    REQUIRE(wide.has_value());
    REQUIRE(narrow.has_value());
    const drawing::Box2 across = bounds_of(*wide);
    const drawing::Box2 down = bounds_of(*narrow);
    CHECK_GT(down.bottom - down.top, across.bottom - across.top);
    CHECK_LT(down.right - down.left, across.right - across.left);
}

}  // namespace napkin::test
