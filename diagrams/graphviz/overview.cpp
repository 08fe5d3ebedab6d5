#include "diagrams/graphviz/overview.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "diagrams/contains.h"
#include "diagrams/graphviz/graph.h"
#include "diagrams/graphviz/messages.h"

namespace napkin::drawing {

namespace {

constexpr double kNameSize = 13;
constexpr double kListSize = 11;
constexpr double kLineHeight = 15;
constexpr double kPadding = 8;
constexpr double kWidestList = 130;  // of inputs and outputs in a box
constexpr double kHead = 6;          // of an arrow
constexpr double kBetweenParts = 18;

/// A box of the overview, or the name of an array between two.
struct Node {
    std::string name;
    std::vector<std::string> lines;  ///< under the name
    std::string tooltip;
    bool is_kernel = true;
    Agnode_t* placed = nullptr;
};

struct Overview {
    std::vector<Node> nodes;
    std::vector<std::pair<std::size_t, std::size_t>> edges;
};

std::string names_of(const Diagram& diagram, const std::vector<ArrayId>& arrays) {
    std::string text;
    for (ArrayId array : arrays) text += (text.empty() ? "" : ", ") + diagram[array].name;
    return text;
}

/// `from A, B, C` in lines of the widest list.
std::vector<std::string> wrapped(const std::string& word, const Diagram& diagram,
                                 const std::vector<ArrayId>& arrays) {
    std::vector<std::string> lines;
    for (ArrayId array : arrays) {
        const std::string& name = diagram[array].name;
        const std::string longer = lines.empty() ? word + " " + name : lines.back() + ", " + name;
        if (lines.empty())
            lines.push_back(longer);
        else if (width_of(plain_text(longer), kListSize) <= kWidestList)
            lines.back() = longer;
        else {
            lines.back() += ",";
            lines.push_back(name);
        }
    }
    return lines;
}

Overview overview_of(const Diagram& diagram, const Relabelling& relabelling) {
    Overview graph;
    const std::vector<Region>& regions = relabelling.regions;
    for (const Region& region : regions) {
        std::vector<ArrayId> inputs;
        std::vector<ArrayId> outputs;
        for (ArrayId array : loads_of(diagram, region))
            if (diagram[array].role == ArrayRole::Input) inputs.push_back(array);
        for (ArrayId array : saves_of(diagram, region))
            if (diagram[array].role == ArrayRole::Output) outputs.push_back(array);
        Node node;
        node.name = region_name(diagram, region);
        node.lines = wrapped("from", diagram, inputs);
        for (const std::string& line : wrapped("to", diagram, outputs)) node.lines.push_back(line);
        node.tooltip = "kernel " + node.name + ": loads " +
                       names_of(diagram, loads_of(diagram, region)) + "; saves " +
                       names_of(diagram, saves_of(diagram, region));
        graph.nodes.push_back(std::move(node));
    }
    for (std::size_t from = 0; from < regions.size(); ++from)
        for (ArrayId array : saves_of(diagram, regions[from])) {
            std::vector<std::size_t> readers;
            for (std::size_t to = 0; to < regions.size(); ++to)
                if (to != from && contains(loads_of(diagram, regions[to]), array))
                    readers.push_back(to);
            if (readers.empty()) continue;
            std::size_t source = from;
            // What is called like its kernel needs no name of its own.
            if (diagram[array].name != graph.nodes[from].name) {
                source = graph.nodes.size();
                graph.nodes.push_back({diagram[array].name, {}, "", false, nullptr});
                graph.edges.emplace_back(from, source);
            }
            for (std::size_t reader : readers) graph.edges.emplace_back(source, reader);
        }
    return graph;
}

Box2 size_of(const Node& node) {
    double width = width_of(plain_text(node.name), kNameSize);
    for (const std::string& line : node.lines)
        width = std::max(width, width_of(plain_text(line), kListSize));
    const double lines = 1 + static_cast<double>(node.lines.size());
    const double padding = node.is_kernel ? kPadding : 2;
    return {0, 0, width + 2 * padding, lines * kLineHeight + padding};
}

void paint_node(Canvas& canvas, const Node& node, Point middle) {
    const Box2 size = size_of(node);
    const Box2 box{middle.x - size.right / 2, middle.y - size.bottom / 2, middle.x + size.right / 2,
                   middle.y + size.bottom / 2};
    if (node.is_kernel) {
        canvas.rectangle(box, kWhite, {kBlack, 1.1, Dash::Solid}, Part::Glyph);
        canvas.element("kernel-" + node.name, "kernel", node.tooltip, box);
    }
    double y =
        middle.y - kLineHeight * static_cast<double>(node.lines.size()) / 2 + kNameSize * 0.3;
    canvas.text(plain_text(node.name), {middle.x, y}, Anchor::Middle, kNameSize,
                node.is_kernel ? kBlack : kNameColor);
    for (const std::string& line : node.lines) {
        y += kLineHeight;
        canvas.text(plain_text(line), {middle.x, y}, Anchor::Middle, kListSize, kNameColor);
    }
}

void paint_head(Canvas& canvas, Point before, Point tip) {
    const double length = std::hypot(tip.x - before.x, tip.y - before.y);
    if (length == 0) return;
    const double dx = (tip.x - before.x) / length * kHead;
    const double dy = (tip.y - before.y) / length * kHead;
    canvas.operations.push_back({Polygon{{tip,
                                          {tip.x - dx + dy * 0.45, tip.y - dy - dx * 0.45},
                                          {tip.x - dx - dy * 0.45, tip.y - dy + dx * 0.45}},
                                         kBlack,
                                         {kBlack, 0.5, Dash::Solid},
                                         Part::ArrowHead}});
}

void paint_edge(Canvas& canvas, Agedge_t* edge, double height) {
    const splines* all = ED_spl(edge);
    for (std::size_t i = 0; all != nullptr && i < static_cast<std::size_t>(all->size); ++i) {
        const bezier& piece = all->list[i];
        Line line{{}, true, {kBlack, 1, Dash::Solid}, Part::Arrow};
        for (std::size_t k = 0; k < static_cast<std::size_t>(piece.size); ++k)
            line.points.push_back({piece.list[k].x, height - piece.list[k].y});
        if (line.points.size() < 4) continue;
        const bool named = piece.eflag != 0;
        const Point tip = named ? Point{piece.ep.x, height - piece.ep.y} : line.points.back();
        const Point before = named ? line.points.back() : line.points[line.points.size() - 2];
        canvas.operations.push_back({std::move(line)});
        paint_head(canvas, before, tip);
    }
}

Result<Canvas> lay_out(Overview overview, const char* direction) {
    GVC_t* context = graphviz();
    if (context == nullptr) return no_graphviz();
    const Graph graph = new_graph(Agdirected);
    set(graph.get(), "rankdir", direction);
    set(graph.get(), "nodesep", "0.18");
    set(graph.get(), "ranksep", "0.3");
    for (std::size_t i = 0; i < overview.nodes.size(); ++i) {
        const Box2 size = size_of(overview.nodes[i]);
        overview.nodes[i].placed =
            add_node(graph.get(), std::to_string(i), size.right, size.bottom);
    }
    std::vector<Agedge_t*> edges;
    for (const auto& [from, to] : overview.edges) {
        edges.push_back(agedge(graph.get(), overview.nodes[from].placed, overview.nodes[to].placed,
                               nullptr, 1));
        set(edges.back(), "arrowsize", "0.6");
    }
    if (gvLayout(context, graph.get(), "dot") != 0) return no_plugin("dot");
    const double height = GD_bb(graph.get()).UR.y;
    Canvas canvas;
    for (Agedge_t* edge : edges) paint_edge(canvas, edge, height);
    for (const Node& node : overview.nodes)
        paint_node(canvas, node, {ND_coord(node.placed).x, height - ND_coord(node.placed).y});
    gvFreeLayout(context, graph.get());
    return canvas;
}

/// The parts between which nothing flows, in the order of their first kernels.
std::vector<Overview> parts_of(const Overview& overview) {
    std::vector<std::size_t> part(overview.nodes.size());
    std::iota(part.begin(), part.end(), std::size_t{0});
    for (std::size_t round = 0; round < overview.nodes.size(); ++round)
        for (const auto& [from, to] : overview.edges)
            part[from] = part[to] = std::min(part[from], part[to]);
    std::vector<Overview> parts(overview.nodes.size());
    std::vector<std::size_t> place;
    for (std::size_t i = 0; i < part.size(); ++i) {
        place.push_back(parts[part[i]].nodes.size());
        parts[part[i]].nodes.push_back(overview.nodes[i]);
    }
    for (const auto& [from, to] : overview.edges)
        parts[part[from]].edges.emplace_back(place[from], place[to]);
    parts.erase(std::remove_if(parts.begin(), parts.end(),
                               [](const Overview& each) { return each.nodes.empty(); }),
                parts.end());
    return parts;
}

Result<Canvas> lay_out_within(const Overview& overview, double max_width) {
    Result<Canvas> canvas = lay_out(overview, "LR");
    if (!canvas) return canvas;
    const Box2 box = bounds_of(*canvas);
    if (box.right - box.left <= max_width) return canvas;
    return lay_out(overview, "TB");
}

}  // namespace

Result<Canvas> draw_overview(const Diagram& diagram, const Relabelling& relabelling,
                             double max_width) {
    const double room = max_width - 2 * kMargin;
    Canvas all;
    Point at;
    double bottom = 0;
    for (const Overview& part : parts_of(overview_of(diagram, relabelling))) {
        const Result<Canvas> canvas = lay_out_within(part, room);
        if (!canvas) return canvas;
        const Box2 box = bounds_of(*canvas);
        const double width = box.right - box.left;
        if (at.x > 0 && at.x + width > room) at = {0, bottom + kBetweenParts};
        add(all, *canvas, at.x - box.left, at.y - box.top);
        at.x += width + kBetweenParts;
        bottom = std::max(bottom, at.y + box.bottom - box.top);
    }
    return all;
}

}  // namespace napkin::drawing
