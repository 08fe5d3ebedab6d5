#include "schedule/guarded_maxima.h"

#include <map>
#include <utility>

#include "diagrams/rewrite_statement.h"
#include "schedule/statements.h"

namespace napkin::schedule {
namespace {

/// What arrays are the maxima of, as it stands in the statement that folds it.
using Maxima = std::map<ArrayId, Expression>;

Maxima maxima_of(const RegionProgram& region) {
    Maxima maxima;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        const Compute* compute = std::get_if<Compute>(&statement.node);
        if (compute == nullptr || compute->targets.size() != 1) return;
        const Fold* fold = std::get_if<Fold>(&compute->statement.body);
        if (fold == nullptr || fold->monoid != kMax || fold->every_prefix || !fold->seed.empty())
            return;
        maxima.emplace(compute->statement.targets.front(), fold->values.front());
    });
    return maxima;
}

/// Whether an array is read at its own axes.
bool is_plain(const RegionProgram& region, const Read& read) {
    const std::vector<AxisId>& axes = region.arrays[read.array.index()].axes;
    if (read.index.size() != axes.size()) return false;
    for (std::size_t d = 0; d < axes.size(); ++d) {
        const AxisIndex* index = std::get_if<AxisIndex>(&read.index[d].node);
        if (index == nullptr || index->axis != axes[d]) return false;
    }
    return true;
}

Expression guarded(const RegionProgram& region, const Maxima& maxima, Expression node) {
    Apply* call = std::get_if<Apply>(&node.node);
    if (call == nullptr || call->function != Function::Subtract) return node;
    const Read* maximum = std::get_if<Read>(&call->arguments[1].node);
    if (maximum == nullptr || !is_plain(region, *maximum)) return node;
    const auto found = maxima.find(maximum->array);
    if (found != maxima.end() && found->second == call->arguments[0])
        call->arguments[1] = apply(Function::Guard, {std::move(call->arguments[1])});
    return node;
}

void guard(const RegionProgram& region, const Maxima& maxima, std::vector<TileStatement>& body) {
    for (TileStatement& statement : body) {
        if (Parallel* parallel = std::get_if<Parallel>(&statement.node))
            guard(region, maxima, parallel->body);
        else if (Loop* loop = std::get_if<Loop>(&statement.node))
            guard(region, maxima, loop->body);
        else if (Compute* compute = std::get_if<Compute>(&statement.node))
            compute->statement = rewrite_statement(
                std::move(compute->statement),
                [&](Expression node) { return guarded(region, maxima, std::move(node)); });
    }
}

}  // namespace

RegionProgram with_guarded_maxima(RegionProgram region) {
    const Maxima maxima = maxima_of(region);
    if (maxima.empty()) return region;
    std::vector<TileStatement> body = region.body;
    guard(region, maxima, body);
    region.body = std::move(body);
    return region;
}

}  // namespace napkin::schedule
