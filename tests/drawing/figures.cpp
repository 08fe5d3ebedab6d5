#include "tests/drawing/figures.h"

namespace napkin::test {

namespace {

using drawing::TableRow;

/// A box of softmax over one axis, as the library gives it: three statements and a glyph.
ArrayId add_softmax(Builder& b, ArrayId source, std::vector<AxisId> axes, AxisId over,
                    const std::string& name, ArrayRole role) {
    std::vector<AxisId> kept;
    for (AxisId axis : axes)
        if (axis != over) kept.push_back(axis);
    const ArrayId largest = b.array(name + ".1", kept, ArrayRole::Intermediate);
    const ArrayId total = b.array(name + ".2", kept, ArrayRole::Intermediate);
    const ArrayId result = b.array(name, axes, role);
    const Expression shifted =
        apply(Function::Exp, {b.at(source) - apply(Function::Guard, {b.at(largest)})});
    b.define({largest}, Fold{kMax, {over}, {b.at(source)}, {}, false});
    b.define({total}, Fold{kSum, {over}, {shifted}, {}, false});
    b.define({result}, Map{shifted / b.at(total)});
    // One box of the three.
    std::vector<Box>& boxes = b.diagram.boxes;
    const BoxId box{static_cast<std::uint32_t>(boxes.size() - 3)};
    std::vector<StatementId> statements;
    for (std::size_t i = boxes.size() - 3; i < boxes.size(); ++i)
        statements.push_back(boxes[i].statements[0]);
    boxes.resize(boxes.size() - 2);
    boxes.back() = {"softmax", "triangle", {over}, {}, true, statements, {}};
    b.diagram.spellings.calls.push_back({"softmax", {b.at(source)}, shifted / b.at(total)});
    for (StatementId id : statements) b.diagram.statements[id.index()].box = box;
    return result;
}

ArrayId add_sum(Builder& b, const std::string& name, std::vector<AxisId> axes, AxisId over,
                Expression value, ArrayRole role = ArrayRole::Intermediate) {
    const ArrayId result = b.array(name, std::move(axes), role);
    b.define({result}, Fold{kSum, {over}, {std::move(value)}, {}, false});
    return result;
}

Figure finished(Builder& b) {
    verify(b.diagram);
    Figure figure;
    figure.diagram = b.diagram;
    figure.relabelling = plain_relabelling(b.diagram);
    return figure;
}

Figure opaque_figure(bool two_weaves) {
    Builder b;
    const AxisId a = b.axis("a", 64);
    const AxisId x = b.axis("x", 32);
    const AxisId w = b.axis("w", 32);
    const AxisId y = b.axis("y", 16);
    std::vector<AxisId> weight{w};
    std::vector<AxisId> out{a, y};
    if (two_weaves) {
        const AxisId second = b.axis("b", 64);
        weight.push_back(second);
        out.push_back(second);
    }
    const ArrayId input = b.input("A", {a, x});
    const ArrayId weights = b.input("W", weight);
    const ArrayId result = b.array("Y", out, ArrayRole::Output);
    b.define({result}, Opaque{"F", {b.at(input), b.at(weights)}});
    Figure figure = finished(b);
    figure.relabelling.regions[0].groups.push_back({a, 16, Level::Block});
    if (two_weaves) figure.relabelling.regions[0].groups.push_back({weight[1], 16, Level::Block});
    return figure;
}

struct AttentionParts {
    Builder builder;
    AxisId q;
    AxisId x;
};

AttentionParts attention_parts() {
    AttentionParts parts;
    Builder& b = parts.builder;
    const AxisId q = parts.q = b.axis("q", 4096);
    const AxisId x = parts.x = b.axis("x", 4096);
    const AxisId d = b.axis("d", 128);
    const AxisId batch = b.axis("b", 4);
    const AxisId h = b.axis("h", 16);
    b.diagram.axes[batch.index()].woven = b.diagram.axes[h.index()].woven = true;
    const ArrayId query = b.input("Q", {batch, h, q, d}, ElementType::BF16);
    const ArrayId key = b.input("K", {batch, h, x, d}, ElementType::BF16);
    const ArrayId value = b.input("V", {batch, h, x, d}, ElementType::BF16);
    const Expression scale = apply(Function::Rsqrt, {size_of(d)});
    const ArrayId s = add_sum(b, "S", {batch, h, q, x}, d, b.at(query) * b.at(key) * scale);
    const ArrayId p = add_softmax(b, s, {batch, h, q, x}, x, "P", ArrayRole::Intermediate);
    add_sum(b, "O", {batch, h, q, d}, x, b.at(p) * b.at(value), ArrayRole::Output);
    return parts;
}

}  // namespace

Figure figure_8() {
    Builder b;
    const AxisId q = b.axis("q", 64);
    const AxisId x = b.axis("x", 32);
    const AxisId d = b.axis("d", 16);
    const ArrayId s = b.input("S", {q, x});
    const ArrayId v = b.input("V", {x, d});
    const ArrayId p = add_softmax(b, s, {q, x}, x, "P", ArrayRole::Intermediate);
    add_sum(b, "O", {q, d}, x, b.at(p) * b.at(v), ArrayRole::Output);
    Figure figure = finished(b);
    figure.options.overbars = {q, x};
    figure.options.names = false;
    return figure;
}

Figure figure_9() {
    Figure figure = figure_8();
    figure.options.rows = {
        TableRow{"M_l1", {"", "", "", "", "qx + xd", ""}, "", false},
        TableRow{"H_l1", {"qx", "", "qx", "qx + xd", "", "qd"}, "3qx + xd + qd", false},
    };
    return figure;
}

Figure figure_11() {
    Figure figure = opaque_figure(false);
    figure.options.names = false;
    figure.options.legend = false;
    figure.options.rows = {
        TableRow{"M_l1", {"g_a x + w", "", "g_a y"}, "", false},
        TableRow{"H_{l1,g}", {"g_a x + w", "", "g_a y"}, "g_a (x + y) + w", false},
    };
    figure.options.notes = {"M_l1 ≥ g_a x + w, g_a y", "H_{l1,g} = g_a (x + y) + w",
                            "N_{l1,g} = a/g_a", "∴ H_l1 = ax + ay + aw/g_a"};
    return figure;
}

Figure figure_12() {
    Figure figure = opaque_figure(true);
    figure.options.names = false;
    figure.options.legend = false;
    figure.options.rows = {
        TableRow{"M_l1", {"g_a x + wg_b", "", "g_a yg_b"}, "", false},
        TableRow{"H_{l1,g}", {"g_a x + wg_b", "", "g_a yg_b"}, "g_a x + g_b w + g_a g_b y", true},
    };
    figure.options.notes = {"M_l1 ≥ g_a x + g_b w, g_a g_b y",
                            "H_l1 = N_{l1,g} (g_a x + g_b w + g_a g_b y)", "N_{l1,g} = ab/g_a g_b",
                            "∴ H_l1 = abx/g_b + abw/g_a + aby"};
    return figure;
}

Figure plain_attention() {
    AttentionParts parts = attention_parts();
    Figure figure = finished(parts.builder);
    figure.options.overbars = {parts.q, parts.x};
    figure.options.rows = {
        TableRow{"M_l1", {"", "qd + xd + qx", "", "", "qx", "", "", "qx + xd + qd", ""}, "", false},
        TableRow{"H_l1",
                 {"qd + xd", "", "qx", "qx", "", "qx", "qx + xd", "", "qd"},
                 "bh(2qd + 2xd + 4qx)",
                 false},
    };
    return figure;
}

Figure derived_attention() {
    AttentionParts parts = attention_parts();
    Figure figure = finished(parts.builder);
    Region fused;
    for (const Region& region : figure.relabelling.regions)
        fused.statements.insert(fused.statements.end(), region.statements.begin(),
                                region.statements.end());
    fused.groups = figure.relabelling.regions[0].groups;
    fused.groups.push_back({parts.q, 128, Level::Block});
    fused.streams.push_back({parts.x, 64, Level::Block});
    figure.relabelling.regions = {fused};
    figure.options.rows = {
        TableRow{"M_l1", {"", "", "", "2g_q d + 2s_x d", ""}, "", false},
        TableRow{"H_l1", {"g_q d + 2xd", "", "", "", "g_q d"}, "bh(2qd + 2xqd/g_q)", false},
    };
    return figure;
}

Figure recoloured_attention() {
    Figure figure = derived_attention();
    const Diagram& diagram = figure.diagram;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) {
        const bool softmax = !diagram[diagram.statements[i].box].name.empty();
        figure.relabelling.places[StatementId{i}] =
            softmax ? Place{Level::Thread, false} : Place{Level::Warps, true};
    }
    figure.options.rows.clear();
    return figure;
}

Figure nested_attention() {
    Figure figure = derived_attention();
    figure.relabelling.regions[0].groups.push_back(
        {*find_axis(figure.diagram, "q"), 16, Level::Warps});
    figure.options.rows.clear();
    return figure;
}

Figure long_diagram() {
    Builder b;
    std::vector<AxisId> woven;
    for (const char* name : {"b", "g", "h", "t", "u"}) {
        woven.push_back(b.axis(name, 4));
        b.diagram.axes[woven.back().index()].woven = true;
    }
    const AxisId n = b.axis("n", 64);
    std::vector<AxisId> features;
    for (const char* name : {"c", "d", "e", "f", "i", "j"}) features.push_back(b.axis(name, 32));
    const auto with = [&](std::vector<AxisId> axes) {
        axes.insert(axes.begin(), woven.begin(), woven.end());
        return axes;
    };
    ArrayId x = b.input("X", with({n, features[0]}));
    const ArrayId first = x;
    for (std::size_t layer = 0; layer < 5; ++layer) {
        const std::string number = std::to_string(layer);
        const ArrayId weight = b.input("W_" + number, with({features[layer], features[layer + 1]}));
        const ArrayId product = add_sum(b, "Y_" + number, with({n, features[layer + 1]}),
                                        features[layer], b.at(x) * b.at(weight));
        const ArrayId next =
            b.array("X_" + number, with({n, features[layer + 1]}), ArrayRole::Intermediate);
        b.define({next}, Map{apply(Function::Tanh, {b.at(product)})});
        x = next;
    }
    const ArrayId p =
        add_softmax(b, x, with({n, features[5]}), features[5], "P", ArrayRole::Intermediate);
    const ArrayId out = b.array("O", with({n, features[5]}), ArrayRole::Output);
    const ArrayId total = add_sum(b, "R", with({n}), features[0], b.at(first));
    b.define({out}, Map{b.at(p) + b.at(total) + b.at(x)});
    return finished(b);
}

}  // namespace napkin::test
