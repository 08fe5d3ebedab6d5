#include "diagrams/graphviz/messages.h"

namespace napkin::drawing {

Diagnostic no_graphviz() {
    return plain_error("E0802", "Graphviz does not start",
                       "install the package `graphviz`, or draw to .svg, .txt or .tex",
                       Failure::Missing);
}

Diagnostic no_plugin(const std::string& plugin) {
    return plain_error(
        "E0803", "this installation of Graphviz has no plugin for `" + plugin + "`",
        "install the package `graphviz`, run `dot -c` once, or draw to .svg, .txt or .tex",
        Failure::Missing);
}

Diagnostic no_fonts() {
    return plain_error(
        "E0806", "this machine has no fonts, and the picture's text would be empty boxes",
        "install the package `fonts-liberation`, or draw to .svg, .txt or .tex", Failure::Missing);
}

}  // namespace napkin::drawing
