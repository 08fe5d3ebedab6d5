#include "derive/roles.h"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>

#include "diagrams/contains.h"
#include "diagrams/result.h"

namespace napkin {

namespace {

/// What data flow joins: statements' uses of axes, and dimensions of arrays, each with a number.
class JoinedSlots {
public:
    JoinedSlots(const Diagram& diagram, const Region& region) : axes_(diagram.axes.size()) {
        std::size_t slots = diagram.statements.size() * axes_;
        for (const Array& array : diagram.arrays) {
            dimensions_.push_back(slots);
            slots += array.axes.size();
        }
        sets_ = Sets(slots);
        for (const StatementId id : region.statements) link(diagram, id);
    }
    [[nodiscard]] std::size_t use(StatementId id, AxisId axis) const {
        return id.index() * axes_ + axis.index();
    }
    [[nodiscard]] std::size_t dimension(ArrayId array, std::size_t which) const {
        return dimensions_[array.index()] + which;
    }
    /// One of those that are joined with it, for all of them the same.
    std::size_t root(std::size_t slot) { return sets_.find_set(slot); }

private:
    using Sets = boost::disjoint_sets_with_storage<>;

    void link(const Diagram& diagram, StatementId id) {
        for (const ArrayId target : diagram[id].targets)
            for (std::size_t k = 0; k < diagram[target].axes.size(); ++k)
                sets_.union_set(use(id, diagram[target].axes[k]), dimension(target, k));
        for (const Expression* expression : expressions_of(diagram[id]))
            walk(*expression, [&](const Expression& node) {
                const Read* element = std::get_if<Read>(&node.node);
                if (element == nullptr) return;
                for (std::size_t k = 0; k < element->index.size(); ++k)
                    if (const AxisIndex* index = std::get_if<AxisIndex>(&element->index[k].node))
                        sets_.union_set(use(id, index->axis), dimension(element->array, k));
            });
    }

    std::size_t axes_;
    std::vector<std::size_t> dimensions_;  ///< number of the first, by array
    Sets sets_;
};

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
    JoinedSlots slots(diagram, region);
    std::vector<Role> roles;
    std::vector<std::size_t> roots;  // of the roles
    const auto role_at = [&](std::size_t slot) {
        const auto found = std::find(roots.begin(), roots.end(), slots.root(slot));
        return found == roots.end() ? nullptr : roles.data() + (found - roots.begin());
    };
    for (StatementId id : region.statements) {
        if (!contains(axes_of(diagram, diagram[id]), axis)) continue;
        Role* role = role_at(slots.use(id, axis));
        if (role == nullptr) {
            roots.push_back(slots.root(slots.use(id, axis)));
            role = &roles.emplace_back(Role{axis, {}, {}, {}});
        }
        (contains(folded_axes(diagram[id]), axis) ? role->folded : role->mapped).push_back(id);
    }
    const std::vector<ArrayId> loads = loads_of(diagram, region);
    for (ArrayId array : loads)
        for (std::size_t k = 0; k < diagram[array].axes.size(); ++k)
            if (Role* role = role_at(slots.dimension(array, k))) role->loaded.push_back(array);
    for (StatementId id : region.statements)
        if (Role* role = role_at(slots.use(id, axis)))
            for (ArrayId array : read_within(diagram[id], axis))
                if (contains(loads, array) && !contains(role->loaded, array))
                    role->loaded.push_back(array);
    return roles;
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
                invariant(element->index.size() == own.size(), "`", array(element->array).name,
                          "` is read with the wrong number of indices");
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
