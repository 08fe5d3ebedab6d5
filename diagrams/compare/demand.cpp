#include "diagrams/compare/demand.h"

#include <algorithm>
#include <map>

namespace napkin {
namespace {

/// Which indices of a dimension are wanted: all, one, or those of a dimension of the wanted array.
struct Reach {
    enum class Kind { All, One, Tied };
    Kind kind = Kind::All;
    std::size_t dimension = 0;
    bool operator==(const Reach&) const = default;
};
constexpr Reach kAll{Reach::Kind::All, 0};
constexpr Reach kOne{Reach::Kind::One, 0};

using ArrayReach = std::vector<Reach>;  // one a dimension

class Tracer {
public:
    Tracer(const Diagram& diagram, ArrayId array) : diagram_(diagram) {
        ArrayReach wanted;
        for (std::size_t at = 0; at < diagram[array].axes.size(); ++at)
            wanted.push_back({Reach::Kind::Tied, at});
        reaches_[array] = std::move(wanted);
    }

    std::vector<Demand> run() {
        std::vector<Demand> demands;
        for (std::size_t at = diagram_.statements.size(); at-- > 0;) {
            const Statement& statement = diagram_.statements[at];
            for (const ArrayId target : statement.targets) {
                const auto wanted = reaches_.find(target);
                if (wanted == reaches_.end()) continue;
                demands.push_back(trace(statement, target, wanted->second));
                break;  // all targets of a statement come together
            }
        }
        return demands;
    }

private:
    Demand trace(const Statement& statement, ArrayId target, const ArrayReach& wanted) {
        std::map<AxisId, Reach> axes;
        for (std::size_t at = 0; at < wanted.size(); ++at)
            axes[diagram_[target].axes[at]] = wanted[at];
        if (const Select* select = std::get_if<Select>(&statement.body); select && select->rank)
            axes[*select->rank] = kOne;  // every rank comes with the first
        for (const AxisId axis : folded_axes(statement)) axes[axis] = kAll;
        Demand demand;
        for (const auto& [axis, reach] : axes) {
            if (reach.kind == Reach::Kind::Tied) demand.dimensions.push_back(reach.dimension);
            if (reach.kind == Reach::Kind::All)
                demand.visits *= static_cast<double>(diagram_[axis].extent);
        }
        std::sort(demand.dimensions.begin(), demand.dimensions.end());
        demand.dimensions.erase(std::unique(demand.dimensions.begin(), demand.dimensions.end()),
                                demand.dimensions.end());
        for (const Expression* expression : expressions_of(statement))
            walk(*expression, [&](const Expression& part) {
                if (const Read* element = std::get_if<Read>(&part.node)) want(*element, axes);
            });
        return demand;
    }

    void want(const Read& element, const std::map<AxisId, Reach>& axes) {
        ArrayReach reach;
        for (const Expression& index : element.index) reach.push_back(reach_of(index, axes));
        const auto [known, added] = reaches_.emplace(element.array, reach);
        if (added) return;
        for (std::size_t at = 0; at < reach.size(); ++at)
            if (known->second[at] != reach[at]) known->second[at] = kAll;
    }

    static Reach reach_of(const Expression& index, const std::map<AxisId, Reach>& axes) {
        Reach reach = kOne;
        for (const AxisId axis : axes_used(index)) {
            const auto found = axes.find(axis);
            const Reach one = found == axes.end() ? kAll : found->second;
            if (one == kOne || one == reach) continue;
            if (reach != kOne) return kAll;
            reach = one;
        }
        return reach;
    }

    const Diagram& diagram_;
    std::map<ArrayId, ArrayReach> reaches_;
};

}  // namespace

std::vector<Demand> demands_of(const Diagram& diagram, ArrayId array) {
    return Tracer(diagram, array).run();
}

DemandLedger::DemandLedger(const Diagram& diagram, ArrayId array)
    : demands_(demands_of(diagram, array)), projections_(demands_.size()) {
    for (const AxisId axis : diagram[array].axes) extents_.push_back(diagram[axis].extent);
}

double DemandLedger::of_one() const {
    double visits = 0;
    for (const Demand& demand : demands_) visits += demand.visits;
    return visits;
}

double DemandLedger::of_moving(std::size_t dimension) const {
    double visits = 0;
    for (const Demand& demand : demands_)
        if (std::count(demand.dimensions.begin(), demand.dimensions.end(), dimension) != 0)
            visits += demand.visits;
    return visits;
}

void DemandLedger::add(std::int64_t offset) {
    std::vector<std::int64_t> index(extents_.size());
    for (std::size_t at = extents_.size(); at-- > 0;) {
        index[at] = offset % extents_[at];
        offset /= extents_[at];
    }
    for (std::size_t at = 0; at < demands_.size(); ++at) {
        std::int64_t projection = 0;
        for (const std::size_t dimension : demands_[at].dimensions)
            projection = projection * extents_[dimension] + index[dimension];
        if (projections_[at].insert(projection).second) spent_ += demands_[at].visits;
    }
}

}  // namespace napkin
