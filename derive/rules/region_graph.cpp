#include "derive/rules/region_graph.h"

#include <algorithm>
#include <boost/graph/topological_sort.hpp>
#include <map>

namespace napkin::rules {

RegionGraph region_graph(const Diagram& diagram, const std::vector<Region>& regions) {
    std::map<ArrayId, std::size_t> home;
    for (std::size_t r = 0; r < regions.size(); ++r)
        for (StatementId id : regions[r].statements)
            for (ArrayId target : diagram[id].targets) home[target] = r;
    RegionGraph graph(regions.size());
    for (std::size_t r = 0; r < regions.size(); ++r)
        for (ArrayId input : loads_of(diagram, regions[r]))
            if (const auto from = home.find(input); from != home.end() && from->second != r)
                boost::add_edge(from->second, r, graph);
    return graph;
}

std::optional<std::vector<Region>> in_running_order(const Diagram& diagram,
                                                    std::vector<Region> regions) {
    // Sorting by last statement first makes the order stable wherever data flow leaves a choice.
    std::sort(regions.begin(), regions.end(), [](const Region& a, const Region& b) {
        return a.statements.back() < b.statements.back();
    });
    std::vector<std::size_t> reversed;
    const RegionGraph graph = region_graph(diagram, regions);
    try {
        boost::topological_sort(graph, std::back_inserter(reversed));
    } catch (const boost::not_a_dag&) {
        return std::nullopt;
    }
    std::vector<Region> ordered;
    for (std::size_t i = reversed.size(); i-- > 0;) ordered.push_back(regions[reversed[i]]);
    return ordered;
}

}  // namespace napkin::rules
