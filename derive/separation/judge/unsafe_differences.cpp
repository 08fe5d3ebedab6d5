#include "derive/separation/judge/unsafe_differences.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <set>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/judge/numeric_example.h"
#include "derive/separation/judge/refusal.h"
#include "derive/separation/normal_form/normal_form.h"
#include "derive/separation/read/cascade.h"
#include "derive/separation/stabilise/invariance.h"
#include "diagrams/contains.h"

namespace napkin::separation {
namespace {

constexpr double kAnyDifferenceLost = 1e6;  ///< of float32 values, that of their squares before
constexpr int kLastOfPrefix = 7;            // numeric examples have eight elements an axis

const Fold* sum_over(const Diagram& diagram, StatementId id, AxisId axis) {
    const Fold* fold = std::get_if<Fold>(&diagram[id].body);
    if (fold == nullptr || fold->monoid != kSum || fold->values.size() != 1) return nullptr;
    return contains(fold->over, axis) && is_floating(diagram[diagram[id].targets.front()].type)
               ? fold
               : nullptr;
}

/// Whether a sum over the axis is made in this region and read in another, or the other way round.
bool shares_sums(const Diagram& diagram, const Region& region, AxisId axis) {
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) {
        if (sum_over(diagram, StatementId{i}, axis) == nullptr) continue;
        const bool made_here = contains(region.statements, StatementId{i});
        for (const StatementId reader : consumers(diagram, diagram.statements[i].targets.front()))
            if (contains(region.statements, reader) != made_here) return true;
    }
    return false;
}

Region all_statements(const Diagram& diagram) {
    Region all;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i)
        all.statements.push_back(StatementId{i});
    return all;
}

bool is_rounded(const Array& array) {
    return array.rounds && array.role != ArrayRole::Input && is_floating(array.type);
}

/// Whether a statement of the region reads what another rounds, or rounds in its own expression.
bool rounds_within(const Diagram& diagram, const Region& region) {
    const auto is_rounding = [](const Expression& part) {
        const Convert* convert = std::get_if<Convert>(&part.node);
        return convert != nullptr && is_floating(convert->type);
    };
    const auto converts = [&](const Expression* each) { return any_part(*each, is_rounding); };
    for (const StatementId id : region.statements) {
        const std::vector<const Expression*> parts = expressions_of(diagram[id]);
        if (std::any_of(parts.begin(), parts.end(), converts)) return true;
        for (const ArrayId target : diagram[id].targets)
            for (const StatementId reader : region.statements)
                if (is_rounded(diagram[target]) && reads(diagram[reader], target)) return true;
    }
    return false;
}

/// The diagram without roundings: what cancels does so behind them too.
Diagram without_rounding(Diagram diagram) {
    for (Array& array : diagram.arrays)
        if (is_rounded(array)) array.rounds = false;
    const auto plain = [](Expression node) {
        const Convert* convert = std::get_if<Convert>(&node.node);
        if (convert == nullptr || !is_floating(convert->type)) return node;
        return Expression(convert->argument.front());
    };
    for (Statement& statement : diagram.statements) {
        if (Map* map = std::get_if<Map>(&statement.body))
            map->value = rewrite(std::move(map->value), plain);
        if (Fold* fold = std::get_if<Fold>(&statement.body))
            for (Expression& value : fold->values) value = rewrite(std::move(value), plain);
    }
    return diagram;
}

/// A difference found in a cascade of all regions.
struct Found {
    StatementId formed;            ///< the first statement that it is a part of
    std::set<StatementId> summed;  ///< statements that make its sums
    Invariance what;
};

std::vector<Found> differences(Cascade& cascade) {
    NormalForm normal(cascade.algebra(), cascade.facts());
    const std::deque<FoldOver> folds(cascade.folds().begin(), cascade.folds().end());
    std::vector<PolynomialId> forms;
    std::set<std::uint32_t> unknown;
    for (const FoldOver& fold : folds) {
        const Form form = normal.of(fold.body);
        normal.forget_obstacle();
        if (!form) unknown.insert(static_cast<std::uint32_t>(forms.size()));
        forms.push_back(form.value_or(kZero));
    }
    std::vector<Found> result;
    for (Invariance& each : find_invariances(cascade, folds, forms, unknown)) {
        Found found{.formed = {}, .summed = {}, .what = each};
        for (const std::uint32_t fold : each.folds)
            if (folds[fold].statement) found.summed.insert(*folds[fold].statement);
        bool known = false;
        for (const RegionStatement& one : cascade.statements())
            for (const ArrayId target : cascade.diagram()[one.statement].targets) {
                const std::optional<TermId> value = cascade.unrounded(target);
                if (known || !value || !mentions(cascade.algebra(), *value, each.difference))
                    continue;
                found.formed = one.statement;
                known = true;
            }
        if (known) result.push_back(std::move(found));
    }
    return result;
}

Obligation lost(Cascade& cascade, const Found& found, const std::map<AxisId, int>& place) {
    const std::string value = term_text(cascade, found.what.value);
    Obligation made;
    made.hazard = Hazard::Cancellation;
    made.met = false;
    made.text = "`" + term_text(cascade, found.what.difference) + "` does not change when `" +
                value + "` moves by a constant";
    if (const auto example = moved_example(cascade, found.what.difference, found.what.value, place))
        made.example = "float32 gives " + short_number(example->single) + " for " +
                       short_number(example->exact) + " where `" + value + "` is about " +
                       short_number(example->moved);
    return made;
}

std::string names_of(const Diagram& diagram, const std::set<StatementId>& statements) {
    std::string names;
    for (const StatementId id : statements) {
        const Array& target = diagram[diagram[id].targets.front()];
        if (target.named) names += (names.empty() ? "`" : ", `") + target.name + "`";
    }
    return names;
}

/// Sums of this region that another subtracts.
void add_saved(const Diagram& diagram, const Region& region, const std::vector<AxisId>& axes,
               std::vector<Obligation>& result) {
    const Region whole = all_statements(diagram);
    Cascade cascade(diagram, whole, axes, Cascade::InTheWay::LeftOut);
    for (const Found& found : differences(cascade)) {
        const auto is_here = [&](StatementId id) { return contains(region.statements, id); };
        const bool any = std::any_of(found.summed.begin(), found.summed.end(), is_here);
        const bool all =
            std::all_of(found.summed.begin(), found.summed.end(), is_here) && is_here(found.formed);
        if (!any || all) continue;
        std::set<StatementId> together = found.summed;
        together.insert(found.formed);
        Obligation made = lost(cascade, found, {});
        made.text += ", but the sums that it is made of do, and are saved as they are";
        made.safer = "fuse " + names_of(diagram, together) +
                     " first: in one region they are formed relative to a common value";
        result.push_back(std::move(made));
    }
}

/// Values that are rounded on the way from the sums to their difference.
std::set<StatementId> roundings(const Diagram& diagram, const Region& region, const Found& found) {
    std::set<StatementId> rounded;
    std::set<StatementId> after = found.summed;
    for (const StatementId id : region.statements) {
        if (id == found.formed) break;
        const std::vector<ArrayId> inputs = inputs_of(diagram[id]);
        const bool uses = std::any_of(inputs.begin(), inputs.end(), [&](ArrayId input) {
            const std::optional<StatementId> from = producer(diagram, input);
            return from && after.contains(*from);
        });
        if (uses) after.insert(id);
        if (after.contains(id) && is_rounded(diagram[diagram[id].targets.front()]))
            rounded.insert(id);
    }
    return rounded;
}

/// Differences that are found only where nothing is rounded: no common value is taken off before.
void add_rounded(const Diagram& diagram, const Diagram& plain, const Region& region,
                 const std::vector<AxisId>& axes, std::vector<Obligation>& result) {
    Cascade rounded(diagram, region, axes, Cascade::InTheWay::LeftOut);
    Cascade free(plain, region, axes, Cascade::InTheWay::LeftOut);
    const std::vector<Found> known = differences(rounded);
    for (const Found& found : differences(free)) {
        const auto same = [&](const Found& other) {
            return other.formed == found.formed && other.summed == found.summed;
        };
        if (std::any_of(known.begin(), known.end(), same)) continue;
        const std::set<StatementId> on_the_way = roundings(diagram, region, found);
        const std::string names = names_of(diagram, on_the_way);
        Obligation made = lost(free, found, {});
        const bool is_short =
            std::any_of(on_the_way.begin(), on_the_way.end(), [&](StatementId id) {
                const ElementType type = diagram[diagram[id].targets.front()].type;
                return bits_of(type) < bits_of(ElementType::F32);
            });
        const auto example = moved_example(free, found.what.difference, found.what.value);
        if (!is_short && !(example && example->moved < kAnyDifferenceLost)) continue;
        made.text += ", but what it is made of does, and is rounded before it is subtracted";
        made.safer = "leave the type of " + (names.empty() ? "what is subtracted" : names) +
                     " away: then it is formed relative to a common value";
        result.push_back(std::move(made));
    }
}

/// The diagram with running sums of the region along `axis` as sums over `other` up to it.
Diagram with_prefixes(Diagram diagram, const Region& region, AxisId axis, AxisId other) {
    for (const StatementId id : region.statements) {
        Fold* fold = std::get_if<Fold>(&diagram.statements[id.index()].body);
        if (sum_over(diagram, id, axis) == nullptr || !fold->every_prefix) continue;
        fold->every_prefix = false;
        fold->over = {other};
        fold->seed.clear();
        Expression value = rewrite(std::move(fold->values.front()), [&](Expression node) {
            if (AxisIndex* index = std::get_if<AxisIndex>(&node.node);
                index != nullptr && index->axis == axis)
                index->axis = other;
            return node;
        });
        fold->values = {napkin::apply(
            Function::Select,
            {napkin::apply(Function::LessEqual, {axis_index(other), axis_index(axis)}),
             std::move(value), number(0)})};
    }
    return diagram;
}

/// Running sums that are subtracted from each other.
void add_running(const Diagram& source, const Region& region, AxisId axis,
                 std::vector<Obligation>& result) {
    Diagram diagram = source;
    const AxisId other{static_cast<std::uint32_t>(diagram.axes.size())};
    diagram.axes.push_back(diagram[axis]);
    diagram = with_prefixes(std::move(diagram), region, axis, other);
    const Region whole = all_statements(diagram);
    Cascade cascade(diagram, whole, {other}, Cascade::InTheWay::LeftOut);
    for (const Found& found : differences(cascade)) {
        Obligation made = lost(cascade, found, {{axis, kLastOfPrefix}});
        made.text += ", but the running sums that it is made of do";
        made.safer =
            "run counts, means and sums of squares together: `monoid moments(n, m, v; k, a, w) = "
            "(n + k, (n * m + k * a) / (n + k), v + w + (m - a) ^ 2 * n * k / (n + k)) identity "
            "(0, 0, 0)`, then `N[t], M[t], V[t] = scan[t] moments (1, X[t], 0)`";
        result.push_back(std::move(made));
    }
}

}  // namespace

std::vector<Obligation> unsafe_differences(const Diagram& diagram, const Region& region,
                                           const std::vector<AxisId>& axes) {
    std::vector<Obligation> result;
    const bool shares = shares_sums(diagram, region, axes.front());
    const bool runs =
        std::any_of(region.statements.begin(), region.statements.end(), [&](StatementId id) {
            const Fold* fold = sum_over(diagram, id, axes.front());
            return fold != nullptr && fold->every_prefix;
        });
    const bool rounds = rounds_within(diagram, region);
    if (!shares && !runs && !rounds) return result;
    const Diagram plain = without_rounding(diagram);
    if (shares) add_saved(plain, region, axes, result);
    if (runs && axes.size() == 1) add_running(plain, region, axes.front(), result);
    if (rounds) add_rounded(diagram, plain, region, axes, result);
    return result;
}

}  // namespace napkin::separation
