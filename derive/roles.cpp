#include "derive/roles.h"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <boost/property_map/property_map.hpp>
#include <map>

#include "diagrams/contains.h"

namespace napkin {

namespace {

/// A statement's use of an axis, or a dimension of an array; the nodes that data flow joins.
struct Slot {
    bool is_array = false;
    std::uint32_t owner = 0;
    std::uint32_t which = 0;  ///< axis id or dimension
    auto operator<=>(const Slot&) const = default;
};

class JoinedSlots {
public:
    /// One of those that are joined with it, for all of them the same.
    Slot root(Slot slot) {
        add(slot);
        return sets_.find_set(slot);
    }
    void join(Slot a, Slot b) {
        add(a);
        add(b);
        sets_.union_set(a, b);
    }

private:
    void add(Slot slot) {
        if (!parents_.contains(slot)) sets_.make_set(slot);
    }

    using Ranks = std::map<Slot, std::size_t>;
    using Parents = std::map<Slot, Slot>;
    Ranks ranks_;
    Parents parents_;
    boost::disjoint_sets<boost::associative_property_map<Ranks>,
                         boost::associative_property_map<Parents>>
        sets_{boost::associative_property_map(ranks_), boost::associative_property_map(parents_)};
};

void link_reads(const Diagram& diagram, StatementId id, JoinedSlots& uses) {
    for (const Expression* expression : expressions_of(diagram[id]))
        walk(*expression, [&](const Expression& node) {
            const Read* element = std::get_if<Read>(&node.node);
            if (element == nullptr) return;
            for (std::uint32_t k = 0; k < element->index.size(); ++k)
                if (const AxisIndex* index = std::get_if<AxisIndex>(&element->index[k].node))
                    uses.join({false, id.value, index->axis.value},
                              {true, element->array.value, k});
        });
}

void link_targets(const Diagram& diagram, StatementId id, JoinedSlots& uses) {
    for (ArrayId target : diagram[id].targets)
        for (std::uint32_t k = 0; k < diagram[target].axes.size(); ++k)
            uses.join({false, id.value, diagram[target].axes[k].value}, {true, target.value, k});
}

bool contains_array(const std::vector<ArrayId>& arrays, ArrayId array) {
    return std::find(arrays.begin(), arrays.end(), array) != arrays.end();
}

/// Arrays that are read where an index says more than the axis itself: `K[p * 8 + x]`.
std::vector<ArrayId> read_within(const Statement& statement, AxisId axis) {
    std::vector<ArrayId> arrays;
    for (const Expression* expression : expressions_of(statement))
        walk(*expression, [&](const Expression& node) {
            const Read* element = std::get_if<Read>(&node.node);
            if (element == nullptr) return;
            for (const Expression& index : element->index)
                if (!std::holds_alternative<AxisIndex>(index.node) &&
                    axes_used(index).count(axis) != 0)
                    arrays.push_back(element->array);
        });
    return arrays;
}

}  // namespace

std::vector<Role> roles_of(const Diagram& diagram, const Region& region, AxisId axis) {
    JoinedSlots uses;
    for (StatementId id : region.statements) {
        link_targets(diagram, id, uses);
        link_reads(diagram, id, uses);
    }
    std::map<Slot, Role> roles;
    std::vector<Slot> order;
    for (StatementId id : region.statements) {
        if (!contains(axes_of(diagram, diagram[id]), axis)) continue;
        const Slot root = uses.root({false, id.value, axis.value});
        if (roles.count(root) == 0) order.push_back(root);
        Role& role = roles[root];
        role.axis = axis;
        (contains(folded_axes(diagram[id]), axis) ? role.folded : role.mapped).push_back(id);
    }
    const std::vector<ArrayId> loads = loads_of(diagram, region);
    for (ArrayId array : loads)
        for (std::uint32_t k = 0; k < diagram[array].axes.size(); ++k) {
            const auto found = roles.find(uses.root({true, array.value, k}));
            if (found != roles.end()) found->second.loaded.push_back(array);
        }
    for (StatementId id : region.statements) {
        const auto found = roles.find(uses.root({false, id.value, axis.value}));
        if (found == roles.end()) continue;
        for (ArrayId array : read_within(diagram[id], axis))
            if (contains_array(loads, array) && !contains_array(found->second.loaded, array))
                found->second.loaded.push_back(array);
    }
    std::vector<Role> result;
    for (const Slot root : order) result.push_back(roles[root]);
    return result;
}

std::vector<ReadElsewhere> reads_elsewhere(std::span<const Statement* const> statements,
                                           const std::set<ArrayId>& computed,
                                           const std::function<const Array&(ArrayId)>& array,
                                           const std::vector<AxisId>& axes) {
    std::vector<ReadElsewhere> found;
    for (std::size_t reader = 0; reader < statements.size(); ++reader)
        for (const Expression* expression : expressions_of(*statements[reader]))
            walk(*expression, [&](const Expression& node) {
                const Read* element = std::get_if<Read>(&node.node);
                if (element == nullptr || !computed.contains(element->array)) return;
                const std::vector<AxisId>& own = array(element->array).axes;
                for (std::size_t k = 0; k < own.size(); ++k)
                    if (contains(axes, own[k]) && element->index[k] != axis_index(own[k]))
                        found.push_back({element->array, own[k], element->index[k], reader});
            });
    return found;
}

std::vector<ReadElsewhere> reads_elsewhere(const Diagram& diagram, const Region& region,
                                           const std::vector<AxisId>& axes) {
    std::set<ArrayId> computed;
    std::vector<const Statement*> statements;
    for (const StatementId id : region.statements) {
        computed.insert(diagram[id].targets.begin(), diagram[id].targets.end());
        statements.push_back(&diagram[id]);
    }
    return reads_elsewhere(
        statements, computed, [&](ArrayId id) -> const Array& { return diagram[id]; }, axes);
}

std::vector<Role> roles_of(const Diagram& diagram, const Region& region) {
    std::vector<Role> all;
    for (std::uint32_t i = 0; i < diagram.axes.size(); ++i)
        for (Role& role : roles_of(diagram, region, AxisId{i})) all.push_back(std::move(role));
    return all;
}

}  // namespace napkin
