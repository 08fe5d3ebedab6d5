// Graphviz' graphs, held and set from here.
#pragma once

#include <graphviz/gvc.h>

#include <memory>
#include <string>

namespace napkin::drawing {

inline constexpr double kPointsPerInch = 72;

struct GraphCloser {
    void operator()(Agraph_t* graph) const { agclose(graph); }
};
using Graph = std::unique_ptr<Agraph_t, GraphCloser>;

/// The one context of this process; null where Graphviz does not start.
[[nodiscard]] GVC_t* graphviz();
/// An empty graph; its kind is one of Graphviz' (`Agdirected`).
[[nodiscard]] Graph new_graph(Agdesc_t kind);
/// Sets an attribute of a graph, a node or an edge.
void set(void* object, const char* name, std::string value);
/// A node without a label, `width` by `height` points.
[[nodiscard]] Agnode_t* add_node(Agraph_t* graph, std::string name, double width, double height);

}  // namespace napkin::drawing
