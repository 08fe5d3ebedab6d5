#include "diagrams/drawing/factors_apart.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "diagrams/contains.h"
#include "diagrams/drawing/contraction.h"
#include "diagrams/drawing/formula_signs.h"
#include "diagrams/drawing/schematic.h"

namespace napkin::drawing {

namespace {

/// The factors of a product, numbers left out.
void collect_factors(const Diagram& diagram, Expression& value, std::vector<Expression*>& factors) {
    Apply* call = std::get_if<Apply>(&value.node);
    if (is_number(diagram, value)) return;
    if (call != nullptr && call->function == Function::Multiply) {
        for (Expression& argument : call->arguments) collect_factors(diagram, argument, factors);
    } else if (call != nullptr &&
               (call->function == Function::Negate ||
                (call->function == Function::Divide && is_number(diagram, call->arguments[1])))) {
        collect_factors(diagram, call->arguments[0], factors);
    } else {
        factors.push_back(&value);
    }
}

/// Whether a factor is made of arrays by more than reading one.
bool is_computed(const Diagram& diagram, const Expression& factor) {
    return std::holds_alternative<Apply>(factor.node) &&
           any_part(factor, [&](const Expression& part) {
               const Read* element = std::get_if<Read>(&part.node);
               return element != nullptr && diagram[element->array].role != ArrayRole::Parameter;
           });
}

/// The axes along which a factor varies, as an array that it reads has them; else woven ones first
/// and those that the sum folds last.
std::vector<AxisId> axes_along(const Diagram& diagram, const Expression& factor, const Fold& sum) {
    std::vector<AxisId> axes;
    std::vector<std::vector<AxisId>> read;
    walk(factor, [&](const Expression& part) {
        const AxisIndex* index = std::get_if<AxisIndex>(&part.node);
        if (index != nullptr && !contains(axes, index->axis)) axes.push_back(index->axis);
        if (!is_plain_read(part)) return;
        read.emplace_back();
        for (const Expression& plain : std::get<Read>(part.node).index)
            read.back().push_back(std::get<AxisIndex>(plain.node).axis);
    });
    for (const std::vector<AxisId>& order : read)
        if (std::is_permutation(order.begin(), order.end(), axes.begin(), axes.end())) return order;
    const auto rank = [&](AxisId axis) {
        return diagram[axis].woven ? 0 : contains(sum.over, axis) ? 2 : 1;
    };
    std::stable_sort(axes.begin(), axes.end(),
                     [&](AxisId a, AxisId b) { return rank(a) < rank(b); });
    return axes;
}

/// The map that computes a factor, and the array that stands for it.
struct Apart {
    Array array;
    Statement statement;
};

Apart set_apart(const Diagram& diagram, const Statement& sum, const Expression& factor,
                ArrayId target) {
    Apart apart;
    apart.array.name = diagram[sum.targets[0]].name + "." + std::to_string(target.value);
    apart.array.named = false;
    apart.array.axes = axes_along(diagram, factor, std::get<Fold>(sum.body));
    apart.array.layout.resize(apart.array.axes.size());
    std::iota(apart.array.layout.begin(), apart.array.layout.end(), 0);
    apart.array.span = factor.span;
    apart.statement = {{target}, Map{factor}, sum.box, factor.span};
    return apart;
}

/// What stands before a sum once its factors are arrays; nothing where it is no sum of products
/// even then.
std::vector<Statement> take_apart(Diagram& diagram, StatementId id) {
    const Statement before = diagram[id];
    const Fold* sum = std::get_if<Fold>(&before.body);
    const Box& box = diagram[before.box];
    const bool is_named = !box.name.empty() && box.statements.back() == id;
    if (sum == nullptr || sum->values.size() != 1 || is_named) return {};
    Fold plain = *sum;
    std::vector<Expression*> factors;
    collect_factors(diagram, plain.values[0], factors);
    if (factors.size() < 2) return {};
    const std::size_t known = diagram.arrays.size();
    std::vector<Statement> maps;
    for (Expression* factor : factors) {
        if (!is_computed(diagram, *factor)) continue;
        const auto same = std::find_if(maps.begin(), maps.end(), [&](const Statement& map) {
            return std::get<Map>(map.body).value == *factor;
        });
        ArrayId array{static_cast<std::uint32_t>(diagram.arrays.size())};
        if (same == maps.end()) {
            Apart apart = set_apart(diagram, before, *factor, array);
            diagram.arrays.push_back(std::move(apart.array));
            maps.push_back(std::move(apart.statement));
        } else {
            array = same->targets[0];
        }
        std::vector<Expression> index;
        for (AxisId axis : diagram[array].axes) index.push_back(axis_index(axis));
        *factor = read(array, std::move(index));
    }
    diagram.statements[id.index()].body = std::move(plain);
    if (!maps.empty() && as_contraction(diagram, {id})) return maps;
    diagram.statements[id.index()] = before;
    diagram.arrays.resize(known);
    return {};
}

/// Statements with those that are to stand before each.
void insert_before(std::vector<StatementId>& statements,
                   const std::map<StatementId, std::vector<StatementId>>& before) {
    std::vector<StatementId> all;
    for (StatementId id : statements) {
        if (const auto found = before.find(id); found != before.end())
            all.insert(all.end(), found->second.begin(), found->second.end());
        all.push_back(id);
    }
    statements = std::move(all);
}

}  // namespace

Shown with_factors_apart(const Diagram& diagram, const Relabelling& relabelling) {
    Shown shown{diagram, relabelling};
    std::map<StatementId, std::vector<StatementId>> before;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i)
        for (Statement& map : take_apart(shown.diagram, StatementId{i})) {
            before[StatementId{i}].push_back(
                StatementId{static_cast<std::uint32_t>(shown.diagram.statements.size())});
            shown.diagram.statements.push_back(std::move(map));
        }
    for (Box& box : shown.diagram.boxes) insert_before(box.statements, before);
    for (Region& region : shown.relabelling.regions) insert_before(region.statements, before);
    return shown;
}

}  // namespace napkin::drawing
