// Tile programs as readable pseudocode: one line a statement, every variable with its level, size
// and type where it is first written, the place in the diagram at the end of the line.
#include <algorithm>
#include <set>

#include "derive/tile_program.h"
#include "diagrams/overloaded.h"

namespace napkin {

namespace {

class Printer {
public:
    Printer(const RegionProgram& region, const SourceMap& sources)
        : region_(region), scope_(scope_of(region)), sources_(sources) {}

    std::string run() {
        text_ += "kernel " + region_.name + "\n";
        print_body(region_.body, 1);
        return text_;
    }

private:
    void print_body(const std::vector<TileStatement>& body, int depth) {
        for (const TileStatement& statement : body)
            std::visit(overloaded{
                           [&](const Parallel& node) { parallel(node, depth); },
                           [&](const Loop& node) { loop(node, depth); },
                           [&](const Load& node) { line(depth, load(node), statement.span); },
                           [&](const Compute& node) { line(depth, compute(node), statement.span); },
                           [&](const Save& node) { line(depth, save(node), statement.span); },
                       },
                       statement.node);
    }
    void parallel(const Parallel& node, int depth) {
        const std::string name = scope_[node.axis].name;
        const std::string group = node.size == 1
                                      ? "each " + name
                                      : "each group of " + std::to_string(node.size) + " " + name;
        plain(depth, "for " + group + " in parallel at " + std::string(name_of(node.level)) + ":");
        print_body(node.body, depth + 1);
    }
    void loop(const Loop& node, int depth) {
        std::string text =
            "for each chunk of " + std::to_string(node.size) + " " + scope_[node.axis].name;
        if (!node.visible.empty()) {
            text += " where";
            for (std::size_t i = 0; i < node.visible.size(); ++i)
                text += (i == 0 ? " " : " and ") + napkin::print(scope_, node.visible[i]);
            text += " may hold";
        }
        for (std::size_t i = 0; i < node.data_masks.size(); ++i)
            text += (i == 0 ? ", but for those where data has nowhere " : " or nowhere ") +
                    napkin::print(scope_, node.data_masks[i]);
        plain(depth, text + ":");
        print_body(node.body, depth + 1);
    }
    std::string load(const Load& node) {
        std::string text = "load " + variable(node.target);
        const std::string source = node.source
                                       ? region_.variables[node.source->index()].name
                                       : "device " + region_.arrays[node.array.index()].name;
        text += " from " + source;
        if (!node.gather.empty()) {
            text += "[";
            for (std::size_t i = 0; i < node.gather.size(); ++i)
                text += (i == 0 ? "" : ", ") + napkin::print(scope_, node.gather[i]);
            text += "]";
        }
        return text;
    }
    std::string save(const Save& node) {
        const Variable& source = region_.variables[node.source.index()];
        if (node.target) return "save " + source.name + " to " + variable(*node.target);
        return "save " + source.name + " to device " + region_.arrays[node.array.index()].name;
    }
    std::string compute(const Compute& node) {
        std::string text;
        for (std::size_t i = 0; i < node.targets.size(); ++i)
            text += (i == 0 ? "" : ", ") + variable(node.targets[i]);
        return text + " = " + value(node.statement);
    }
    std::string value(const Statement& statement) {
        const auto print_all = [&](const std::vector<Expression>& list) {
            std::string text;
            for (const Expression& expression : list)
                text += (text.empty() ? "" : ", ") + napkin::print(scope_, expression);
            return list.size() == 1 ? text : "(" + text + ")";
        };
        return std::visit(overloaded{
                              [&](const Map& map) { return napkin::print(scope_, map.value); },
                              [&](const Fold& fold) {
                                  return fold_text(fold, print_all(fold.values),
                                                   print_all(fold.seed));
                              },
                              [&](const Select& select) {
                                  return std::string(select.rank ? "topk[" : "argmax[") +
                                         scope_[select.over].name + "](" +
                                         napkin::print(scope_, select.value) + ")";
                              },
                              [&](const Opaque& opaque) {
                                  return opaque.name + "(" + print_all(opaque.reads) + ")";
                              },
                          },
                          statement.body);
    }
    std::string fold_text(const Fold& fold, const std::string& values, const std::string& seed) {
        std::string over;
        for (AxisId axis : fold.over) over += (over.empty() ? "" : ", ") + scope_[axis].name;
        const std::string name = scope_[fold.monoid].name;
        std::string text = (fold.every_prefix ? "scan " : "") + name + "(" + over + ") " + values;
        if (fold.seed.empty()) return text;
        if (fold.monoid == kSum) return seed + " + " + text;
        return name + "(" + seed + ", " + text + ")";
    }
    /// A variable's name; where it is first met, with its axes, level and type.
    std::string variable(VariableId id) {
        const Variable& variable = region_.variables[id.index()];
        if (!introduced_.insert(id).second) return variable.name;
        std::string text = variable.name + "[";
        for (std::size_t k = 0; k < variable.capacity_extent.size(); ++k) {
            const AxisId axis = region_.arrays[variable.array.index()].axes[k];
            text += (k == 0 ? "" : ", ") + scope_[axis].name + " " +
                    std::to_string(variable.capacity_extent[k]);
        }
        return text + "] " + std::string(name_of(variable.type)) + " at " +
               std::string(name_of(variable.level));
    }
    void plain(int depth, const std::string& text) {
        text_ += std::string(static_cast<std::size_t>(depth) * 2, ' ') + text + "\n";
    }
    void line(int depth, std::string text, Span span) {
        text.insert(0, static_cast<std::size_t>(depth) * 2, ' ');
        if (span.end > span.begin && span.file < sources_.files.size()) {
            text.resize(std::max<std::size_t>(text.size() + 2, 88), ' ');
            text += "# " + sources_.describe(span);
        }
        text_ += text + "\n";
    }

    const RegionProgram& region_;
    Diagram scope_;
    const SourceMap& sources_;
    std::set<VariableId> introduced_;
    std::string text_;
};

}  // namespace

std::string print(const TileProgram& program, const SourceMap& sources) {
    std::string text;
    for (const RegionProgram& region : program.regions) {
        if (!text.empty()) text += "\n";
        text += Printer(region, sources).run();
    }
    return text;
}

}  // namespace napkin
