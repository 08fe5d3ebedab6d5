#include "schedule/dependences.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/howard_cycle_ratio.hpp>

namespace napkin::schedule {
bool has(const std::vector<BufferId>& buffers, std::size_t buffer) {
    return std::any_of(buffers.begin(), buffers.end(),
                       [&](BufferId id) { return id.index() == buffer; });
}

Use use_of(const std::vector<RotationStep>& steps, std::size_t buffer) {
    Use use;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool reads = has(steps[i].reads, buffer);
        if (!reads && !has(steps[i].writes, buffer)) continue;
        use.carried = use.carried || (use.steps.empty() && reads);
        use.steps.push_back(i);
    }
    const bool written = std::any_of(use.steps.begin(), use.steps.end(),
                                     [&](std::size_t i) { return has(steps[i].writes, buffer); });
    use.carried = use.carried && written;
    return use;
}

std::vector<Dependence> dependences_of(const std::vector<RotationStep>& steps,
                                       const std::vector<RotationBuffer>& buffers) {
    std::vector<Dependence> found;
    for (std::size_t b = 0; b < buffers.size(); ++b) {
        const Use use = use_of(steps, b);
        const std::int64_t slots = use.carried ? 1 : buffers[b].slots;
        for (std::size_t x = 0; x < use.steps.size(); ++x)
            for (std::size_t y = 0; y < use.steps.size(); ++y) {
                const std::size_t i = use.steps[x];
                const std::size_t j = use.steps[y];
                const bool writes_first = has(steps[i].writes, b);
                const bool writes_then = has(steps[j].writes, b);
                if (!writes_first && !writes_then) continue;
                if (x < y) {
                    found.push_back({i, j, 0, buffers[b].shared});
                } else if (writes_then || use.carried) {
                    // The next chunk's content takes the place of this one's, or is made of it.
                    found.push_back({i, j, slots, buffers[b].shared});
                }
            }
    }
    return found;
}

double recurrence_bound(const std::vector<RotationStep>& steps,
                        const std::vector<Dependence>& dependences) {
    using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
    using Weights = boost::property<boost::edge_weight_t, double,
                                    boost::property<boost::edge_weight2_t, double>>;
    using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS,
                                        boost::no_property, Weights>;
    static_assert(std::is_same_v<Traits::vertex_descriptor, std::size_t>);
    Graph graph(steps.size());
    bool carried = false;
    for (const Dependence& edge : dependences) {
        // A chain of products in one accumulator goes through the tensor core without a stop.
        boost::add_edge(
            edge.from, edge.to,
            Weights(steps[edge.from].cost.of_busiest(), static_cast<double>(edge.distance)), graph);
        carried = carried || edge.distance > 0;
    }
    if (!carried) return 0;
    return std::max(0.0, boost::maximum_cycle_ratio(graph, boost::get(boost::vertex_index, graph),
                                                    boost::get(boost::edge_weight, graph),
                                                    boost::get(boost::edge_weight2, graph)));
}

}  // namespace napkin::schedule
