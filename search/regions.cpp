#include "search/regions.h"

#include <algorithm>
#include <map>
#include <set>

#include "diagrams/contains.h"
#include "diagrams/statement_text.h"

namespace napkin {
namespace {

/// More sets than these are not looked at.
constexpr std::size_t kMostSets = 2000;

bool is_connected(const BoxGraph& graph, const std::vector<BoxSet>& beside) {
    BoxSet seen = graph.none();
    seen.set(0);
    for (bool grows = true; grows;) {
        BoxSet next = seen;
        for (std::size_t box = seen.find_first(); box != BoxSet::npos; box = seen.find_next(box))
            next |= beside[box];
        grows = next != seen;
        seen = std::move(next);
    }
    return seen.all();
}

/// All convex sets that grow by one box beside them at a time, sizes rising; every connected convex
/// set does, since it has a first or last box without which it stays connected.
BoxSets grown(const BoxGraph& graph, const std::vector<BoxSet>& beside, std::size_t most_boxes) {
    BoxSets found;
    std::set<BoxSet> layer;
    for (std::size_t box = 0; box < graph.size(); ++box) {
        BoxSet one = graph.none();
        one.set(box);
        layer.insert(std::move(one));
    }
    for (std::size_t boxes = 1; !layer.empty(); ++boxes) {
        if (boxes > most_boxes || found.sets.size() + layer.size() > kMostSets) {
            found.most_boxes = boxes - 1;
            break;
        }
        found.sets.insert(found.sets.end(), layer.begin(), layer.end());
        std::set<BoxSet> next;
        for (const BoxSet& set : layer) {
            BoxSet near = graph.none();
            for (std::size_t box = set.find_first(); box != BoxSet::npos; box = set.find_next(box))
                near |= beside[box];
            near -= set;
            for (std::size_t box = near.find_first(); box != BoxSet::npos;
                 box = near.find_next(box)) {
                BoxSet larger = set;
                larger.set(box);
                if (is_convex(graph, larger)) next.insert(std::move(larger));
            }
            if (next.size() > kMostSets) break;
        }
        layer = std::move(next);
    }
    if (found.most_boxes > 0 && is_connected(graph, beside)) found.sets.push_back(~graph.none());
    return found;
}

std::set<ArrayId> arrays_read(const Diagram& diagram, const Region& region) {
    std::set<ArrayId> read;
    for (const ArrayId array : loads_of(diagram, region))
        if (!diagram[array].axes.empty()) read.insert(array);
    return read;
}

/// Writes a region with names of its own.
class KindText {
public:
    KindText(const State& state, const Region& region)
        : state_(state), region_(region), named_(state.diagram) {}

    RegionKind run() {
        for (const StatementId id : region_.statements) note(state_.diagram[id]);
        RegionKind kind;
        kind.axes = axes_;
        for (const AxisId axis : axes_) kind.text += text_of(named_[axis]);
        for (const ArrayId array : arrays_) kind.text += text_of(array);
        std::optional<BoxId> box;
        for (const StatementId id : region_.statements) {
            if (box != named_[id].box) kind.text += "box\n";
            box = named_[id].box;
            kind.text += statement_text(named_, named_[id]) + "\n";
        }
        return kind;
    }

private:
    void note(const Statement& statement) {
        for (const ArrayId target : statement.targets) note(target);
        for (const AxisId axis : axes_of(state_.diagram, statement)) note(axis);
        for (const ArrayId input : inputs_of(statement)) note(input);
        for (const Expression* expression : expressions_of(statement))
            walk(*expression, [&](const Expression& node) {
                if (const SizeOf* size = std::get_if<SizeOf>(&node.node)) note(size->axis);
            });
    }
    void note(AxisId axis) {
        if (contains(axes_, axis)) return;
        named_.axes[axis.index()].name = "x" + std::to_string(axes_.size());
        axes_.push_back(axis);
    }
    void note(ArrayId array) {
        if (contains(arrays_, array)) return;
        named_.arrays[array.index()].name = "A" + std::to_string(arrays_.size());
        arrays_.push_back(array);
        for (const AxisId axis : state_.diagram[array].axes) note(axis);
        if (const auto& indexed = state_.diagram[array].indexes) note(*indexed);
    }

    static std::string text_of(const Axis& axis) {
        return axis.name + " = " + std::to_string(axis.extent) + (axis.woven ? " woven" : "") +
               (axis.dynamic ? " dynamic" : "") + "\n";
    }
    [[nodiscard]] std::string text_of(ArrayId id) const {
        const Array& array = named_[id];
        std::string text =
            array.name + " : " + std::string(name_of(array.type)) + " stored " +
            std::string(name_of(storage_type(state_.diagram, state_.relabelling, id)));
        for (const AxisId axis : array.axes) text += " " + named_[axis].name;
        for (const std::uint32_t place : array.layout) text += " " + std::to_string(place);
        const bool is_made = producer(state_.diagram, id).has_value();
        text += is_made && is_saved(state_.diagram, region_, id) ? " saved" : "";
        text += array.rounds ? " rounds" : "";
        text += array.role == ArrayRole::Parameter ? " parameter" : "";
        if (array.value) text += " " + std::to_string(*array.value);
        if (array.indexes) text += " indexes " + named_[*array.indexes].name;
        return text + "\n";
    }

    const State& state_;
    const Region& region_;
    Diagram named_;
    std::vector<AxisId> axes_;
    std::vector<ArrayId> arrays_;
};

}  // namespace

BoxGraph box_graph(const State& plain) {
    const std::vector<Region>& regions = plain.relabelling.regions;
    const std::size_t count = regions.size();
    const BoxSet none(count);
    BoxGraph graph{std::vector(count, none), std::vector(count, none), std::vector(count, none),
                   std::vector(count, none)};
    std::map<ArrayId, std::size_t> made_by;
    for (std::size_t box = 0; box < count; ++box)
        for (const StatementId id : regions[box].statements)
            for (const ArrayId target : plain.diagram[id].targets) made_by[target] = box;
    std::map<ArrayId, std::vector<std::size_t>> readers;
    for (std::size_t box = 0; box < count; ++box)
        for (const ArrayId array : arrays_read(plain.diagram, regions[box])) {
            readers[array].push_back(box);
            const auto source = made_by.find(array);
            if (source == made_by.end()) continue;
            graph.beside[box].set(source->second);
            graph.beside[source->second].set(box);
            graph.before[box].set(source->second);
        }
    for (std::size_t through = 0; through < count; ++through)
        for (BoxSet& before : graph.before)
            if (before.test(through)) before |= graph.before[through];
    for (std::size_t box = 0; box < count; ++box)
        for (std::size_t other = 0; other < count; ++other)
            if (graph.before[other].test(box)) graph.after[box].set(other);
    for (const auto& [array, boxes] : readers)
        for (const std::size_t box : boxes)
            for (const std::size_t other : boxes)
                if (box != other) graph.sharing[box].set(other);
    return graph;
}

bool is_convex(const BoxGraph& graph, const BoxSet& set) {
    BoxSet before = graph.none();
    BoxSet after = graph.none();
    for (std::size_t box = set.find_first(); box != BoxSet::npos; box = set.find_next(box)) {
        before |= graph.before[box];
        after |= graph.after[box];
    }
    return (before & after & ~set).none();
}

BoxSets convex_sets(const BoxGraph& graph, std::size_t most_boxes) {
    std::vector<BoxSet> related = graph.beside;
    for (std::size_t box = 0; box < graph.size(); ++box) related[box] |= graph.sharing[box];
    BoxSets found = grown(graph, related, most_boxes);
    return found.most_boxes == 0 ? found : grown(graph, graph.beside, most_boxes);
}

RegionKind kind_of(const State& state, const Region& region) {
    return KindText(state, region).run();
}

}  // namespace napkin
