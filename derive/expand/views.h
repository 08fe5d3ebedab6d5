// Views: the ways in which a region reads one loaded array. K[x, d] and K[q, d] in one region are
// two tiles of K, C[x, d] and C[x, e] one where e is an alias of d and neither is divided; X[p] and
// X[p + 1] are one tile with a halo; E[label[n], d] is gathered element by element.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "diagrams/relabelling.h"

namespace napkin {

/// One way of reading a loaded array. The tile program knows it under `view`, an array of its own
/// (the loaded array itself when there is only one box-shaped way).
struct View {
    ArrayId view;
    ArrayId source;
    std::vector<std::vector<Expression>>
        index;  ///< per dimension, every index expression met; empty for a gather
    std::vector<Expression> gather;  ///< the data-dependent indices; empty for a box
    std::set<AxisId> axes;           ///< axes that any index uses
    bool operator==(const View&) const = default;
};

/// Rewrites statements so that every read of a loaded array names a view.
class ViewTable {
public:
    /// `arrays` grows by one for every view that needs an identity of its own.
    ViewTable(const Diagram& diagram, const Region& region, std::vector<Array>& arrays)
        : diagram_(diagram), region_(region), arrays_(arrays) {}

    /// Names the arrays of the region itself, which need no view.
    void set_defined(std::set<ArrayId> defined) { defined_ = std::move(defined); }

    [[nodiscard]] Statement rewrite_reads(Statement statement);
    [[nodiscard]] Expression rewrite_expression(Expression expression);
    [[nodiscard]] const std::vector<View>& views() const { return views_; }
    [[nodiscard]] const View* find(ArrayId view) const;

private:
    [[nodiscard]] Expression inside(Expression gather) const;
    [[nodiscard]] Expression view_read(const Read& element);
    [[nodiscard]] std::optional<AxisId> whole_axis(const Expression& index) const;
    [[nodiscard]] bool runs_alike(const Expression& a, const Expression& b) const;
    [[nodiscard]] const View* same_tile(const Read& element) const;
    [[nodiscard]] Expression gather_read(const Read& element);
    [[nodiscard]] ArrayId fresh_array(ArrayId source, std::vector<AxisId> axes);

    const Diagram& diagram_;
    const Region& region_;
    std::vector<Array>& arrays_;
    std::set<ArrayId> defined_;
    std::vector<View> views_;
    std::map<std::pair<ArrayId, std::vector<std::set<AxisId>>>, std::size_t> boxes_;
};

}  // namespace napkin
