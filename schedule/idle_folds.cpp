#include "schedule/idle_folds.h"

#include <set>
#include <utility>

namespace napkin::schedule {
namespace {

void collect_looped(const std::vector<TileStatement>& body, std::set<AxisId>& axes) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
            axes.insert(parallel->axis);
            collect_looped(parallel->body, axes);
        } else if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
            axes.insert(loop->axis);
            collect_looped(loop->body, axes);
        }
    }
}

void simplify(Compute& compute, const std::set<AxisId>& looped) {
    Fold* fold = std::get_if<Fold>(&compute.statement.body);
    if (fold == nullptr || fold->every_prefix || fold->values.size() != 1) return;
    if (fold->monoid != kSum && fold->monoid != kMax && fold->monoid != kMin) return;
    const std::set<AxisId> used = axes_used(fold->values.front());
    std::vector<AxisId> kept;
    Expression value = fold->values.front();
    for (const AxisId axis : fold->over) {
        if (used.contains(axis) || looped.contains(axis))
            kept.push_back(axis);
        else if (fold->monoid == kSum)
            value = apply(Function::Multiply, {std::move(value), size_of(axis)});
    }
    if (kept.size() == fold->over.size()) return;
    if (kept.empty() && fold->seed.empty()) {
        compute.statement.body = Map{std::move(value)};
        return;
    }
    fold->over = std::move(kept);
    fold->values.front() = std::move(value);
}

void simplify(std::vector<TileStatement>& body, const std::set<AxisId>& looped) {
    for (TileStatement& statement : body) {
        if (Parallel* parallel = std::get_if<Parallel>(&statement.node))
            simplify(parallel->body, looped);
        else if (Loop* loop = std::get_if<Loop>(&statement.node))
            simplify(loop->body, looped);
        else if (Compute* compute = std::get_if<Compute>(&statement.node))
            simplify(*compute, looped);
    }
}

}  // namespace

RegionProgram without_idle_folds(RegionProgram region) {
    std::set<AxisId> looped;
    collect_looped(region.body, looped);
    simplify(region.body, looped);
    return region;
}

}  // namespace napkin::schedule
