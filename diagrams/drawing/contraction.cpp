#include "diagrams/drawing/contraction.h"

#include <algorithm>
#include <map>
#include <set>

#include "diagrams/drawing/schematic.h"

namespace napkin::drawing {

namespace {

/// A sum of one value over whole axes.
const Fold* as_sum(const Statement& statement) {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    const bool plain = fold != nullptr && fold->monoid == kSum && !fold->every_prefix &&
                       fold->seed.empty() && fold->values.size() == 1;
    return plain ? fold : nullptr;
}

/// Collects the factors of a product of plain reads and constants; sums that the statements compute
/// on the way, `(sum(k) A * B) * scale`, are factors with what they fold.
class Factors {
public:
    Factors(const Diagram& diagram, const std::vector<StatementId>& statements)
        : diagram_(diagram) {
        for (std::size_t i = 0; i + 1 < statements.size(); ++i) {
            const Statement& inner = diagram[statements[i]];
            if (as_sum(inner) != nullptr) inner_[inner.targets[0]] = &inner;
        }
    }

    /// False where something else is in it.
    [[nodiscard]] bool collect(const Expression& value) {
        const Apply* call = std::get_if<Apply>(&value.node);
        if (is_number(diagram_, value)) {
            found.scales.push_back({Function::Multiply, value});
            return true;
        }
        if (call != nullptr && call->function == Function::Multiply)
            return collect(call->arguments[0]) && collect(call->arguments[1]);
        if (call != nullptr && call->function == Function::Divide) {
            if (!is_number(diagram_, call->arguments[1]) || !collect(call->arguments[0]))
                return false;
            found.scales.push_back({Function::Divide, call->arguments[1]});
            return true;
        }
        if (call != nullptr && call->function == Function::Negate) {
            found.scales.push_back({Function::Multiply, number(-1)});
            return collect(call->arguments[0]);
        }
        const Read* element = std::get_if<Read>(&value.node);
        return element != nullptr && collect(*element);
    }

    Contraction found;
    std::size_t sums = 0;  ///< factors that are sums

private:
    [[nodiscard]] bool collect(const Read& element) {
        UnitInput input{element.array, {}};
        std::set<AxisId> seen;
        for (const Expression& index : element.index) {
            const AxisIndex* plain = std::get_if<AxisIndex>(&index.node);
            if (plain == nullptr || !seen.insert(plain->axis).second) return false;
            input.index.emplace_back(plain->axis);
        }
        const auto inner = inner_.find(element.array);
        if (inner == inner_.end()) {
            found.inputs.push_back(std::move(input));
            return true;
        }
        const std::vector<AxisId>& axes = diagram_[element.array].axes;
        const bool whole = std::equal(axes.begin(), axes.end(), input.index.begin());
        const Fold* fold = as_sum(*inner->second);
        found.folded.insert(found.folded.end(), fold->over.begin(), fold->over.end());
        ++sums;
        return whole && collect(fold->values[0]);
    }

    const Diagram& diagram_;
    std::map<ArrayId, const Statement*> inner_;
};

/// Whether each of the axes comes from some factor, so that every wire has a source and every sum
/// an end.
bool covers(const Contraction& found, const std::vector<AxisId>& axes) {
    return std::all_of(axes.begin(), axes.end(), [&](AxisId axis) {
        return std::any_of(found.inputs.begin(), found.inputs.end(), [&](const UnitInput& input) {
            return std::find(input.index.begin(), input.index.end(), std::optional(axis)) !=
                   input.index.end();
        });
    });
}

}  // namespace

std::optional<Contraction> as_contraction(const Diagram& diagram,
                                          const std::vector<StatementId>& statements) {
    const Statement& last = diagram[statements.back()];
    Factors factors(diagram, statements);
    const Fold* fold = as_sum(last);
    const Map* map = std::get_if<Map>(&last.body);
    if (fold == nullptr && map == nullptr) return std::nullopt;
    if (fold != nullptr) factors.found.folded = fold->over;
    if (!factors.collect(fold != nullptr ? fold->values[0] : map->value)) return std::nullopt;
    const Contraction& found = factors.found;
    // A number times an array is a box: no cup stands there that it could stand beside.
    if (map != nullptr && factors.sums == 0 && !found.scales.empty()) return std::nullopt;
    if (factors.sums + 1 != statements.size()) return std::nullopt;
    const std::vector<AxisId>& kept = diagram[last.targets[0]].axes;
    std::set<AxisId> bound(kept.begin(), kept.end());
    for (AxisId axis : found.folded)
        if (!bound.insert(axis).second) return std::nullopt;  // two sums are not one
    if (found.inputs.empty() || !covers(found, kept) || !covers(found, found.folded))
        return std::nullopt;
    return found;
}

}  // namespace napkin::drawing
