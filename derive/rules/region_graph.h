// Regions as vertices of a graph whose edges are data flow.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <optional>
#include <vector>

#include "diagrams/relabelling.h"

namespace napkin::rules {

using RegionGraph = boost::adjacency_list<boost::setS, boost::vecS, boost::bidirectionalS>;

[[nodiscard]] RegionGraph region_graph(const Diagram& diagram, const std::vector<Region>& regions);
/// The regions in an order in which they can run; nullopt where data would leave one and come back.
[[nodiscard]] std::optional<std::vector<Region>> in_running_order(const Diagram& diagram,
                                                                  std::vector<Region> regions);

}  // namespace napkin::rules
