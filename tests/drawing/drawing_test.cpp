#include <algorithm>
#include <map>
#include <set>

#include "diagrams/drawing/changes.h"
#include "diagrams/graphviz/render_canvas.h"
#include "tests/drawing/figures.h"
#include "tests/drawing/picture_checks.h"
#include "tests/golden.h"

namespace napkin::test {

namespace {

using drawing::Canvas;
using drawing::Column;
using drawing::ColumnKind;
using drawing::Medium;

const std::map<std::string, Figure (*)()>& figures() {
    static const std::map<std::string, Figure (*)()> kFigures = {
        {"figure-8", figure_8},
        {"figure-9", figure_9},
        {"figure-11", figure_11},
        {"figure-12", figure_12},
        {"attention-plain", plain_attention},
        {"attention-derived", derived_attention},
        {"attention-nested", nested_attention},
        {"attention-recoloured", recoloured_attention},
        {"long", long_diagram},
    };
    return kFigures;
}

Canvas draw(const Figure& figure) {
    return draw_diagram(figure.diagram, figure.relabelling, figure.options);
}

}  // namespace

TEST_CASE("every figure keeps labels apart, stays on its canvas and keeps wires in order") {
    for (const auto& [name, make] : figures()) {
        INFO("figure ", name);
        const Figure figure = make();
        check_picture(draw(figure));
        check_order(figure.diagram, figure.relabelling, figure.options);
    }
}

TEST_CASE("a bar on a line is found") {
    Canvas canvas;
    canvas.text(drawing::parse_math("a", true), {20, 20}, drawing::Anchor::Middle, 13);
    CHECK(bars_not_clear(canvas).empty());
    canvas.curve({0, 0}, {40, 24}, {}, drawing::Part::Wire);
    CHECK_FALSE(bars_not_clear(canvas).empty());
}

TEST_CASE("figures: golden SVG and terminal text") {
    for (const auto& [name, make] : figures()) {
        Figure figure = make();
        check_golden("drawing/" + name + ".svg",
                     drawing::render_svg(draw(figure), drawing::Theme::Paper, drawing::Font::None));
        figure.options.medium = Medium::Terminal;
        check_golden("drawing/" + name + ".txt", render_text(draw(figure)));
    }
}

TEST_CASE("hierarchies, the equivalence and listings: golden SVG") {
    const std::map<std::string, Canvas> pictures = {
        {"figure-7", drawing::draw_hierarchies(figure_7())},
        {"figure-10", drawing::draw_group_equivalence(figure_10())},
        {"listing", drawing::draw_listing(attention_listing())},
        {"listing-narrow", drawing::draw_listing(attention_listing(), 400)},
    };
    for (const auto& [name, canvas] : pictures) {
        INFO("figure ", name);
        check_picture(canvas);
        check_golden("drawing/" + name + ".svg",
                     drawing::render_svg(canvas, drawing::Theme::Paper, drawing::Font::None));
    }
    check_golden("drawing/listing.txt", drawing::listing_text({attention_listing()}, 80));
}

TEST_CASE("the law of every group that a figure has is drawn from its region") {
    std::size_t drawn = 0;
    for (const auto& [name, make] : figures()) {
        INFO("figure ", name);
        const Figure figure = make();
        for (const Region& region : figure.relabelling.regions)
            for (const Group& group : region.groups) {
                const drawing::WeavedAlgorithm algorithm =
                    drawing::weaved_algorithm(figure.diagram, region, group.axis);
                CHECK_FALSE(algorithm.inputs.empty());
                CHECK_FALSE(algorithm.outputs.empty());
                check_picture(drawing::draw_group_equivalence(algorithm));
                ++drawn;
            }
    }
    CHECK(drawn >= 5);
}

TEST_CASE("columns are what the table's cells stand for") {
    const Figure plain = plain_attention();
    std::string kinds;
    for (const Column& column : drawing::columns_of(plain.diagram, plain.relabelling))
        kinds += column.kind == ColumnKind::Load   ? 'L'
                 : column.kind == ColumnKind::Save ? 'S'
                                                   : 'B';
    CHECK_EQ(kinds, "LBSLBSLBS");
    const Figure derived = derived_attention();
    kinds.clear();
    for (const Column& column : drawing::columns_of(derived.diagram, derived.relabelling))
        kinds += column.kind == ColumnKind::Load   ? 'L'
                 : column.kind == ColumnKind::Save ? 'S'
                                                   : 'B';
    CHECK_EQ(kinds, "LBBBS");
}

TEST_CASE("what a step changed has a halo, and the old cost is struck through") {
    const Canvas before = draw(plain_attention());
    Canvas after = draw(derived_attention());
    Canvas same = before;
    const auto halos = [](const Canvas& canvas) {
        return std::count_if(
            canvas.operations.begin(), canvas.operations.end(), [](const auto& operation) {
                const auto* shape = std::get_if<drawing::Polygon>(&operation.shape);
                return shape != nullptr && shape->fill == drawing::kSubAlgorithmFill;
            });
    };
    mark_changes(same, before, {}, 900);
    CHECK(same == before);
    mark_changes(after, before, {{"H_l1 = 4qx", "H_l1 = 2qd"}, {"M_l1 = qx", ""}}, 900);
    CHECK_GT(halos(after), 0);
    const auto* strike = std::get_if<drawing::Line>(&after.operations.back().shape);
    REQUIRE(strike != nullptr);
    CHECK_EQ(strike->part, drawing::Part::Rule);
    check_picture(after);
    std::vector<Canvas> all{before, after};
    share_size(all);
    CHECK_EQ(all[0].width, all[1].width);
    CHECK_EQ(all[0].height, all[1].height);
}

TEST_CASE("long costs, old and new, go on below within the width") {
    const Canvas before = draw(plain_attention());
    std::string sum = "H_l1 = qd";
    for (int i = 0; i < 60; ++i) sum += " + " + std::to_string(i) + "qx";
    for (const double width : {400.0, 900.0, 1600.0}) {
        Canvas after = before;
        mark_changes(after, before, {{sum, "H_l1 = 2qd"}, {"M_l1 = qx", sum}, {sum, sum}}, width);
        CHECK_LE(after.width, std::max(width, before.width));
        check_picture(after);
    }
}

TEST_CASE("an axis that went one by one before has not changed where there is room to say so") {
    Canvas before;
    const auto label = [](Canvas& canvas, const char* text, bool overbar, const char* axis) {
        canvas.text(drawing::parse_math(text, overbar), {0, 0}, drawing::Anchor::Left, 12,
                    drawing::kBlack, {.axis = axis});
    };
    label(before, "b", true, "b");
    label(before, "q", false, "q");
    Canvas after = before;
    label(after, "1", false, "b");
    const Canvas same = after;
    mark_changes(after, before, {}, 900);
    CHECK(after == same);
    label(after, "q", true, "q");
    label(after, "1", false, "q");
    mark_changes(after, before, {}, 900);
    CHECK_EQ(after.operations.size(), same.operations.size() + 4);
}

TEST_CASE("a long diagram wraps to the width it is given") {
    Figure figure = long_diagram();
    for (const double width : {500.0, 760.0, 1200.0}) {
        figure.options.max_width = width;
        const Canvas canvas = draw(figure);
        CHECK_LE(canvas.width, width);
        check_picture(canvas);
    }
    figure.options.max_width = 1e6;
    CHECK_GT(draw(figure).width, 1500);
}

TEST_CASE("a kernel alone shows the arrays that it loads and saves, and no other") {
    Figure figure = long_diagram();
    const std::vector<Region>& regions = figure.relabelling.regions;
    for (std::size_t r = 0; r < regions.size(); ++r) {
        INFO("region ", r);
        figure.options.kernel = r;
        std::set<std::string> shown;
        for (const drawing::Element& element : draw(figure).elements)
            if (element.kind == "array") shown.insert(element.id);
        std::set<std::string> wanted;
        for (ArrayId array : loads_of(figure.diagram, regions[r]))
            wanted.insert("array-" + figure.diagram[array].name);
        for (ArrayId array : saves_of(figure.diagram, regions[r]))
            wanted.insert("array-" + figure.diagram[array].name);
        CHECK_EQ(shown, wanted);
    }
}

TEST_CASE("a row that goes on says so where it ends and where it begins again") {
    Figure figure = derived_attention();
    const auto marks = [&](double width) {
        figure.options.max_width = width;
        std::pair<int, int> found;
        for (const drawing::Operation& operation : draw(figure).operations)
            if (const drawing::Text* text = std::get_if<drawing::Text>(&operation.shape)) {
                const std::string words = to_unicode(text->text);
                found.first += words.find("goes on below") != std::string::npos ? 1 : 0;
                found.second += words.find("from above") != std::string::npos ? 1 : 0;
            }
        return found;
    };
    CHECK_EQ(marks(760), std::pair(0, 0));
    const auto [ends, starts] = marks(300);
    CHECK_GT(ends, 0);
    CHECK_EQ(ends, starts);
}

}  // namespace napkin::test
