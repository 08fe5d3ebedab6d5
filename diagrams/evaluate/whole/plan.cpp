#include "diagrams/evaluate/whole/plan.h"

#include <algorithm>
#include <set>

namespace napkin::evaluation {
namespace {

/// A block has as many rows for the sake of products of matrices while it is not larger than so
/// many blocks should be.
constexpr std::int64_t kRows = 64;
constexpr double kStretch = 4;
/// Blocks for every thread, while they have this many values.
constexpr double kBlocksOfThread = 4;
constexpr double kLeastBlockValues = 0x1p14;
constexpr int kMostLevels = 200;

/// Which dimension of the roots an array's dimension follows; none: it is needed whole.
using Ties = std::vector<std::optional<std::size_t>>;

double nodes_of(const Expression& expression) {
    double nodes = 0;
    walk(expression, [&](const Expression&) { ++nodes; });
    return nodes;
}

/// Finds the parts of a stage, from its roots backwards.
class Tracer {
public:
    Tracer(const Diagram& diagram, const std::set<ArrayId>& known)
        : diagram_(diagram), known_(known) {}

    Stage trace(const std::vector<ArrayId>& roots) {
        Stage stage;
        stage.roots = roots;
        for (const AxisId axis : diagram_[roots.front()].axes)
            stage.extents.push_back(diagram_[axis].extent);
        uncut_.assign(stage.extents.size(), false);
        for (const ArrayId root : roots) {
            Ties& ties = wanted_[root];
            for (std::size_t at = 0; at < stage.extents.size(); ++at) ties.emplace_back(at);
        }
        roots_ = {roots.begin(), roots.end()};
        for (std::size_t at = diagram_.statements.size(); at-- > 0;)
            visit(stage, StatementId{static_cast<std::uint32_t>(at)});
        std::reverse(stage.parts.begin(), stage.parts.end());
        return stage;
    }
    /// After `trace`: what must be known first, in order.
    [[nodiscard]] const std::set<ArrayId>& needed() const { return needed_; }
    /// Dimensions of which a block has all.
    [[nodiscard]] const std::vector<bool>& uncut() const { return uncut_; }

private:
    void visit(Stage& stage, StatementId id) {
        const Statement& statement = diagram_[id];
        std::map<AxisId, std::optional<std::size_t>> axes;
        bool is_wanted = false;
        bool is_root = false;
        bool differ = false;  // the ties of one axis
        for (const ArrayId target : statement.targets) {
            const auto wanted = wanted_.find(target);
            if (wanted == wanted_.end()) continue;
            is_wanted = true;
            is_root = is_root || roots_.count(target) != 0;
            for (std::size_t at = 0; at < wanted->second.size(); ++at) {
                const auto [known, added] =
                    axes.emplace(diagram_[target].axes[at], wanted->second[at]);
                if (known->second == wanted->second[at]) continue;
                known->second.reset();
                differ = true;
            }
        }
        if (!is_wanted) return;
        Part part{id, {}, std::nullopt};
        for (const auto& [axis, tie] : axes)
            if (tie) part.tied.emplace(axis, *tie);
        if (is_root ? differ || part.tied.size() < stage.extents.size() : part.tied.empty()) {
            for (const ArrayId target : statement.targets)
                if (wanted_.count(target) != 0) needed_.insert(target);
            return;
        }
        keep_whole(statement, part);
        want_reads(statement, part);
        stage.parts.push_back(std::move(part));
    }

    /// Along these a block has all indices: prefixes need the ones before, ranks come together.
    void keep_whole(const Statement& statement, const Part& part) {
        std::vector<AxisId> axes;
        if (const Fold* fold = std::get_if<Fold>(&statement.body); fold && fold->every_prefix)
            axes = fold->over;
        if (const Select* select = std::get_if<Select>(&statement.body); select && select->rank)
            axes = {*select->rank};
        for (const AxisId axis : axes)
            if (const auto tie = part.tied.find(axis); tie != part.tied.end())
                uncut_[tie->second] = true;
    }

    void want_reads(const Statement& statement, const Part& part) {
        for (const Expression* expression : expressions_of(statement))
            walk(*expression, [&](const Expression& inside) {
                const Read* element = std::get_if<Read>(&inside.node);
                if (element == nullptr || known_.count(element->array) != 0) return;
                Ties ties;
                for (const Expression& index : element->index) {
                    const AxisIndex* axis = std::get_if<AxisIndex>(&index.node);
                    const auto tie = axis ? part.tied.find(axis->axis) : part.tied.end();
                    ties.push_back(tie == part.tied.end() ? std::nullopt
                                                          : std::optional(tie->second));
                }
                const auto [known, added] = wanted_.emplace(element->array, ties);
                for (std::size_t at = 0; at < ties.size(); ++at)
                    if (known->second[at] != ties[at]) known->second[at].reset();
            });
    }

    const Diagram& diagram_;
    const std::set<ArrayId>& known_;
    std::map<ArrayId, Ties> wanted_;
    std::set<ArrayId> roots_;
    std::set<ArrayId> needed_;
    std::vector<bool> uncut_;
};

class Planner {
public:
    Planner(const Diagram& diagram, const WholeOptions& options)
        : diagram_(diagram), options_(options) {
        for (std::size_t at = 0; at < diagram.arrays.size(); ++at) {
            const ArrayId id{static_cast<std::uint32_t>(at)};
            if (!producer(diagram, id)) known_.insert(id);
        }
    }

    bool add(std::vector<ArrayId> roots, int level = 0) {
        if (level > kMostLevels) return false;
        std::erase_if(roots, [&](ArrayId root) { return known_.count(root) != 0; });
        if (roots.empty()) return true;
        Tracer tracer(diagram_, known_);
        Stage stage = tracer.trace(roots);
        for (const std::vector<ArrayId>& group : groups(tracer.needed(), roots))
            if (!add(group, level + 1)) return false;
        if (!tracer.needed().empty()) return add(roots, level + 1);
        return finish(std::move(stage), tracer.uncut());
    }

    Plan plan;

private:
    /// Arrays of the same axes together, since they may share what they are computed from; those
    /// that wait for others of the same group alone.
    [[nodiscard]] std::vector<std::vector<ArrayId>> groups(
        const std::set<ArrayId>& arrays, const std::vector<ArrayId>& roots) const {
        std::map<std::vector<AxisId>, std::vector<ArrayId>> by_axes;
        for (const ArrayId array : arrays) by_axes[diagram_[array].axes].push_back(array);
        std::vector<std::vector<ArrayId>> result;
        for (auto& [axes, group] : by_axes) {
            const bool waits = std::any_of(group.begin(), group.end(), [&](ArrayId array) {
                return std::find(roots.begin(), roots.end(), array) != roots.end();
            });
            if (waits)
                for (const ArrayId array : group) result.push_back({array});
            else
                result.push_back(std::move(group));
        }
        return result;
    }

    bool finish(Stage stage, const std::vector<bool>& uncut) {
        stage.block = stage.extents;
        for (Part& part : stage.parts) {
            const Statement& statement = diagram_[part.statement];
            const Fold* fold = std::get_if<Fold>(&statement.body);
            if (fold == nullptr || fold->monoid != kSum || fold->every_prefix) continue;
            SumOfProducts sum =
                products_of(diagram_, fold->values[0], diagram_[statement.targets[0]].axes,
                            fold->over, options_.gain);
            if (!sum.terms.empty()) part.sum = std::move(sum);
        }
        cut(stage, uncut);
        for (const ArrayId root : stage.roots) {
            kept_ += places(diagram_[root].axes);
            known_.insert(root);
        }
        plan.values = std::max(plan.values, kept_ + options_.threads * values_of(stage));
        if (plan.values > options_.most_values) return false;
        count_work(stage);
        plan.stages.push_back(std::move(stage));
        return true;
    }

    /// Outer dimensions first, so that what lacks the inner ones is computed seldom.
    void cut(Stage& stage, const std::vector<bool>& uncut) const {
        const double even = values_of(stage) / (options_.threads * kBlocksOfThread);
        const double wanted = std::min(options_.block_values, std::max(even, kLeastBlockValues));
        const double most = std::min(kStretch * options_.block_values, std::max(even, wanted));
        for (std::size_t at = 0; at < stage.block.size(); ++at) {
            if (uncut[at]) continue;
            std::int64_t& size = stage.block[at];
            while (size > 1 && values_of(stage) > wanted) size = (size + 1) / 2;
            // The last that is cut: too few rows for products.
            if (values_of(stage) > wanted) continue;
            while (size < kRows && size < stage.extents[at]) {
                const std::int64_t before = size;
                size = std::min(2 * size, stage.extents[at]);
                if (values_of(stage) <= most) continue;
                size = before;
                break;
            }
            return;
        }
    }

    [[nodiscard]] double places(const std::vector<AxisId>& axes) const {
        double count = 1;
        for (const AxisId axis : axes) count *= static_cast<double>(diagram_[axis].extent);
        return count;
    }
    [[nodiscard]] double places(const Stage& stage, const Part& part,
                                const std::vector<AxisId>& axes) const {
        double count = 1;
        for (const AxisId axis : axes)
            count *= static_cast<double>(count_of(diagram_, stage, part, axis));
        return count;
    }
    [[nodiscard]] double values_of(const Stage& stage) const {
        double values = 0;
        for (const Part& part : stage.parts)
            for (const ArrayId target : diagram_[part.statement].targets)
                values += places(stage, part, diagram_[target].axes);
        return values;
    }

    void count_work(const Stage& stage) {
        for (const Part& part : stage.parts) {
            std::size_t last = 0;  // dimensions up to here change what the part computes
            for (const auto& [axis, at] : part.tied) last = std::max(last, at + 1);
            double runs = 1;
            for (std::size_t at = 0; at < last; ++at)
                runs *= static_cast<double>((stage.extents[at] + stage.block[at] - 1) /
                                            stage.block[at]);
            const Statement& statement = diagram_[part.statement];
            const double space = runs * places(stage, part, axes_of(diagram_, statement));
            if (part.sum) {
                plan.multiplications += space * static_cast<double>(part.sum->terms.size());
                if (part.sum->rest) plan.steps += space * nodes_of(*part.sum->rest);
            } else {
                for (const Expression* expression : expressions_of(statement))
                    plan.steps += space * nodes_of(*expression);
            }
        }
    }

    const Diagram& diagram_;
    const WholeOptions& options_;
    std::set<ArrayId> known_;
    double kept_ = 0;  // values of all roots
};

}  // namespace

std::int64_t Stage::blocks() const {
    std::int64_t count = 1;
    for (std::size_t at = 0; at < extents.size(); ++at)
        count *= (extents[at] + block[at] - 1) / block[at];
    return count;
}

std::int64_t count_of(const Diagram& diagram, const Stage& stage, const Part& part, AxisId axis) {
    const auto tie = part.tied.find(axis);
    return tie == part.tied.end() ? diagram[axis].extent : stage.block[tie->second];
}

std::optional<Plan> plan_stages(const Diagram& diagram, const std::vector<ArrayId>& roots,
                                const WholeOptions& options) {
    Planner planner(diagram, options);
    std::map<std::vector<AxisId>, std::vector<ArrayId>> by_axes;
    for (const ArrayId root : roots) by_axes[diagram[root].axes].push_back(root);
    for (const auto& [axes, group] : by_axes)
        if (!planner.add(group)) return std::nullopt;
    return std::move(planner.plan);
}

}  // namespace napkin::evaluation
