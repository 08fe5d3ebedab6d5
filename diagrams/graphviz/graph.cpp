#include "diagrams/graphviz/graph.h"

#include <fmt/format.h>

/// What Graphviz and the font libraries keep until the end is not a leak of ours: a sanitizer asks
/// here. Without one nobody calls it.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the sanitizer's name
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libfontconfig\nleak:libglib\nleak:libpango\nleak:libcairo\nleak:libgvc\n"
           "leak:libcgraph\nleak:libgvplugin\n";
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace napkin::drawing {

namespace {

struct ContextCloser {
    void operator()(GVC_t* context) const { gvFreeContext(context); }
};

/// Graphviz' setters take char* and copy it.
char* writable(std::string& text) {
    return text.data();
}

}  // namespace

GVC_t* graphviz() {
    // One for the life of the process: Graphviz' text layout remembers the name of the last font
    // beyond the context that owned it.
    static const std::unique_ptr<GVC_t, ContextCloser> kContext(gvContext());
    agseterr(AGMAX);  // what goes wrong is told by results
    return kContext.get();
}

Graph new_graph(Agdesc_t kind) {
    std::string name = "picture";
    return Graph(agopen(writable(name), kind, nullptr));
}

void set(void* object, const char* name, std::string value) {
    std::string key = name;
    std::string none;
    agsafeset(object, writable(key), writable(value), writable(none));
}

Agnode_t* add_node(Agraph_t* graph, std::string name, double width, double height) {
    Agnode_t* node = agnode(graph, writable(name), 1);
    set(node, "label", "");
    set(node, "shape", "box");
    set(node, "fixedsize", "true");
    set(node, "width", fmt::format("{:.3f}", width / kPointsPerInch));
    set(node, "height", fmt::format("{:.3f}", height / kPointsPerInch));
    return node;
}

}  // namespace napkin::drawing
