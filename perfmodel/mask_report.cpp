#include "perfmodel/mask_report.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "diagrams/checked.h"
#include "diagrams/contains.h"
#include "diagrams/index/mask.h"
#include "diagrams/masks.h"
#include "diagrams/rounding.h"
#include "diagrams/symbol_names.h"
#include "perfmodel/cost_messages.h"
#include "perfmodel/mask_terms.h"
#include "perfmodel/tile_count.h"
#include "perfmodel/token_order.h"

namespace napkin {

namespace {

constexpr std::int64_t kMostHeads = 4096;

bool reads_arrays(const Expression& condition) {
    return !arrays_read(condition).empty();
}

bool stands_in(const Expression& condition, const Expression& expression) {
    return any_part(expression, [&](const Expression& part) { return part == condition; });
}

/// Where a condition stands: the array of the first statement that has it in its text, or of the
/// one that folds under it; and the axes of the pairs that it hides there, those of what is read
/// under it at an index of each of its own axes.
struct MaskedPart {
    std::string statement;
    std::set<AxisId> axes;
};
MaskedPart masked_by(const Diagram& diagram, const Expression& condition, const Statement& fold) {
    const std::set<AxisId> own = axes_used(condition);
    std::set<AxisId> axes = own;
    const auto add_read = [&](const Expression& part) {
        const Read* element = std::get_if<Read>(&part.node);
        if (element == nullptr) return;
        const std::set<AxisId> read = axes_used(part);
        if (std::includes(read.begin(), read.end(), own.begin(), own.end()))
            axes.insert(read.begin(), read.end());
    };
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement)) {
            if (!stands_in(condition, *expression)) continue;
            walk(*expression, [&](const Expression& part) {
                const Apply* call = std::get_if<Apply>(&part.node);
                if (call == nullptr || call->function != Function::Select ||
                    !stands_in(condition, call->arguments[0]))
                    return;
                for (std::size_t branch : {1, 2}) walk(call->arguments[branch], add_read);
            });
            return {diagram[statement.targets.front()].name, std::move(axes)};
        }
    return {diagram[fold.targets.front()].name, std::move(axes)};
}

/// The smallest tile of an axis at the block's level.
std::int64_t tile_of(const Diagram& diagram, const Region& region, AxisId axis) {
    std::int64_t size = diagram[axis].extent;
    for (const Group& group : region.groups)
        if (group.axis == axis && group.level == Level::Block) size = std::min(size, group.size);
    for (const Stream& stream : region.streams)
        if (stream.axis == axis && stream.level == Level::Block) size = std::min(size, stream.size);
    return size;
}

std::int64_t heads_of(const Diagram& diagram, const std::vector<AxisId>& axes) {
    CheckedInt heads = 1;
    for (const AxisId axis : axes) heads = heads * diagram[axis].extent;
    return heads.value.value_or(kMostHeads + 1);
}

/// Of the visited tiles, from the model's own count.
std::string visited_formula(const Diagram& diagram, const MaskReport& report) {
    std::vector<Partition> path;
    for (const index::Tiling& tiling : report.tilings) {
        const bool key = contains(report.keys, tiling.axis);
        path.push_back({tiling.axis, tiling.size, Level::Block, key, {}});
    }
    path.back().visible = report.conditions;
    SymbolValues sizes = extents_of(diagram.axes);
    for (const Partition& partition : path) sizes[partition.symbol()] = partition.size;
    const std::optional<Formula> formula = tiles_formula(diagram.axes, path);
    if (!formula || formula->op == FormulaOp::Constant) return "";
    const std::optional<Rational> value = evaluate(*formula, sizes);
    if (!value || *value != rational(report.counts.front().visited)) return "";
    return print(*formula, SymbolNames(diagram.axes));
}

/// `by_data`: whether conditions that read arrays tell heads apart too.
MaskReport report_of(const State& state, std::size_t region, const Statement& fold,
                     const std::vector<Expression>& conditions, bool by_data) {
    const Diagram& diagram = state.diagram;
    MaskReport report;
    report.region = region;
    report.statement = masked_by(diagram, conditions.front(), fold).statement;
    report.terms = terms_of(diagram, conditions);
    std::set<AxisId> used;
    for (const Expression& condition : conditions) {
        (reads_arrays(condition) ? report.data : report.conditions).push_back(condition);
        used.merge(masked_by(diagram, condition, fold).axes);
    }
    const std::vector<AxisId> folded = folded_axes(fold);
    std::set<AxisId> decided;
    for (const Expression& condition : report.conditions) decided.merge(axes_used(condition));
    for (const Expression& condition : report.data)
        if (by_data) decided.merge(axes_used(condition));
    if (std::any_of(folded.begin(), folded.end(), [&](AxisId axis) { return used.contains(axis); }))
        used.insert(folded.begin(), folded.end());
    for (const AxisId axis : used) {
        if (contains(folded, axis))
            report.keys.push_back(axis);
        else if (!diagram[axis].woven)
            report.queries.push_back(axis);
        else if (decided.contains(axis))
            report.heads.push_back(axis);
    }
    const std::vector<AxisId> declared = report.queries;
    report.queries = axes_of_tokens(diagram, declared, report.keys).axes;
    report.keys = axes_of_tokens(diagram, report.keys, declared).axes;
    for (const std::vector<AxisId>* axes : {&report.queries, &report.keys})
        for (const AxisId axis : *axes) {
            const std::int64_t size = tile_of(diagram, state.relabelling.regions[region], axis);
            report.tilings.push_back({axis, size});
            report.tiles =
                saturating_multiply(report.tiles, ceil_quotient(diagram[axis].extent, size));
        }
    return report;
}

/// The counts of every head, pair by pair.
void count_pairs(const Diagram& diagram, const Tensors& inputs, MaskReport& report) {
    Result<MaskPairs> pairs = MaskPairs::evaluate(diagram, report, inputs);
    if (!pairs) {
        report.uncounted = pairs.error();
        return;
    }
    report.pairs = std::make_shared<const MaskPairs>(std::move(pairs).value());
    for (std::size_t head = 0; head < report.pairs->heads(); ++head)
        report.counts.push_back(report.pairs->count(diagram, report, head));
}

/// Apart where some axes have whole tiles and others their last, which is smaller: within such a
/// part all tiles have as many pairs.
std::optional<TileCounts> count_tiles(const Diagram& diagram, const MaskReport& report,
                                      index::BoxCounter& counter,
                                      const std::map<AxisId, std::int64_t>& head) {
    struct Part {
        Ranges axes;
        std::int64_t pairs = 1;  ///< of a tile
    };
    std::vector<Part> parts(1);
    for (const index::Tiling& tiling : report.tilings) {
        const std::int64_t extent = diagram[tiling.axis].extent;
        const std::int64_t whole = extent - extent % tiling.size;
        std::vector<Part> finer;
        for (const Part& part : parts)
            for (const auto& [first, last, size] : {std::tuple{std::int64_t{0}, whole, tiling.size},
                                                    std::tuple{whole, extent, extent - whole}}) {
                if (first == last) continue;
                finer.push_back(part);
                finer.back().pairs = saturating_multiply(part.pairs, size);
                if (whole != extent) finer.back().axes[tiling.axis] = {first, last - 1};
            }
        parts = std::move(finer);
    }
    TileCounts sum;
    for (const Part& part : parts) {
        const std::optional<index::BoxCounts> counts = counter.count(head, part.axes);
        if (!counts) return std::nullopt;
        sum += {counts->met, counts->covered, counts->points,
                saturating_multiply(counts->met, part.pairs)};
    }
    return sum;
}

/// The counts of every head by the closed form; none where there is no such form.
void count_heads(const Diagram& diagram, MaskReport& report) {
    const index::Mask mask(diagram.axes, report.conditions);
    index::BoxCounter counter(diagram.axes, mask, report.tilings);
    report.decided = mask.is_exact();
    const std::int64_t heads = heads_of(diagram, report.heads);
    for (std::int64_t head = 0; head < heads; ++head) {
        const std::optional<TileCounts> counts = count_tiles(
            diagram, report, counter, head_of(diagram, report, static_cast<std::size_t>(head)));
        if (!counts) return report.counts.clear();
        report.counts.push_back(*counts);
    }
    if (report.counts.size() == 1 && !report.conditions.empty())
        report.formula = visited_formula(diagram, report);
}

/// The masks of one kernel's folds, each once.
std::vector<MaskReport> reports_of(const State& state, std::size_t region, bool by_data) {
    const Diagram& diagram = state.diagram;
    std::vector<std::vector<Expression>> known;
    std::vector<MaskReport> reports;
    for (const StatementId id : state.relabelling.regions[region].statements) {
        const Fold* fold = std::get_if<Fold>(&diagram[id].body);
        if (fold == nullptr || fold->values.size() != 1) continue;
        std::vector<Expression> conditions;
        for (const Expression& mask : masks_of(diagram, fold->values.front(), fold->monoid))
            for (Expression& part : conjuncts_of(mask))
                if (!contains(conditions, part)) conditions.push_back(std::move(part));
        if (conditions.empty() || contains(known, conditions)) continue;
        MaskReport report = report_of(state, region, diagram[id], conditions, by_data);
        if (report.keys.empty()) continue;
        known.push_back(std::move(conditions));
        reports.push_back(std::move(report));
    }
    return reports;
}

}  // namespace

TileCounts& TileCounts::operator+=(const TileCounts& other) {
    visited = saturating_add(visited, other.visited);
    full = saturating_add(full, other.full);
    pairs = saturating_add(pairs, other.pairs);
    within = saturating_add(within, other.within);
    return *this;
}

TileCounts MaskReport::total() const {
    TileCounts sum;
    for (const TileCounts& each : counts) sum += each;
    return sum;
}

double MaskReport::bound() const {
    return static_cast<double>(tiles) * static_cast<double>(counts.size()) /
           static_cast<double>(total().visited);
}

double MaskReport::waste() const {
    const TileCounts all = total();
    return static_cast<double>(all.within) / static_cast<double>(all.pairs);
}

std::map<AxisId, std::int64_t> head_of(const Diagram& diagram, const MaskReport& report,
                                       std::size_t head) {
    std::map<AxisId, std::int64_t> at;
    std::int64_t rest = static_cast<std::int64_t>(head);
    for (auto axis = report.heads.rbegin(); axis != report.heads.rend(); ++axis) {
        const std::int64_t extent = diagram[*axis].extent;
        at[*axis] = rest % extent;
        rest /= extent;
    }
    return at;
}

Result<std::vector<MaskReport>> mask_reports(const State& given, const Tensors& inputs) {
    State state = given;
    for (Axis& axis : state.diagram.axes) axis.dynamic = false;  // counted at the sizes they have
    std::vector<MaskReport> result;
    for (std::size_t region = 0; region < state.relabelling.regions.size(); ++region)
        for (MaskReport& report : reports_of(state, region, !inputs.empty())) {
            if (const std::int64_t heads = heads_of(state.diagram, report.heads);
                heads > kMostHeads)
                return messages::too_many_heads(report.statement, kMostHeads);
            report.by_data = !inputs.empty() && !report.data.empty();
            if (report.by_data)
                report.decided = false;
            else
                count_heads(state.diagram, report);
            if (report.counts.empty()) count_pairs(state.diagram, inputs, report);
            if (report.by_data && report.uncounted) return *report.uncounted;
            result.push_back(std::move(report));
        }
    return result;
}

}  // namespace napkin
