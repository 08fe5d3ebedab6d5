// Diagrams far larger than a page.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "derive/state.h"
#include "diagrams/check.h"
#include "diagrams/drawing/layout.h"

namespace napkin::test {

namespace {

/// `count` maps, each of what the one before computes.
State chain_of(int count) {
    std::string text = "diagram chain {\n  axis n = 8\n  input X0[n] : f32\n";
    for (int i = 1; i < count; ++i)
        text += "  X" + std::to_string(i) + "[n] = relu(X" + std::to_string(i - 1) + "[n]) + 1\n";
    text += "  output Y[n] : f32 = tanh(X" + std::to_string(count - 1) + "[n])\n}\n";
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "chain.ncd", text);
    REQUIRE(checked.has_value());
    return initial_state(checked->diagram);
}

}  // namespace

TEST_CASE("of hundreds of kernels every array has its place, in the width of a page") {
    const State state = chain_of(300);
    const drawing::Canvas canvas = drawing::draw_diagram(state.diagram, state.relabelling);
    CHECK_LE(canvas.width, 900);
    std::set<std::string> placed;
    for (const drawing::Element& element : canvas.elements) placed.insert(element.meaning.array);
    for (const Array& array : state.diagram.arrays)
        CHECK_MESSAGE(placed.contains(array.name), array.name);
}

}  // namespace napkin::test
