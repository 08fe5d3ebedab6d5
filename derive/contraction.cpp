#include "derive/contraction.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "diagrams/contains.h"

namespace napkin {

namespace {

using AxisSet = std::set<AxisId>;

bool contains_all(const AxisSet& whole, const AxisSet& part) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

AxisSet common(const AxisSet& a, const AxisSet& b) {
    AxisSet both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
    return both;
}

/// Whether an element can be read whatever the conditions around it.
bool reads_plainly(const Expression& expression) {
    return !any_part(expression, [](const Expression& part) {
        const Read* element = std::get_if<Read>(&part.node);
        return element != nullptr &&
               !std::all_of(element->index.begin(), element->index.end(), [](const auto& index) {
                   return std::holds_alternative<AxisIndex>(index.node);
               });
    });
}

std::vector<Expression> factors_of(const Expression& expression, const AxesAlong& along);

/// `if c then u * v else 0` is `(if c then u else 0) * v` where u runs along all that c does.
std::optional<std::vector<Expression>> masked_factors(const Apply& choice, const AxesAlong& along) {
    std::vector<Expression> factors = factors_of(choice.arguments[1], along);
    const AxisSet needed = along(choice.arguments[0]);
    for (Expression& factor : factors) {
        const bool fits = contains_all(along(factor), needed) &&
                          std::all_of(factors.begin(), factors.end(), [&](const Expression& other) {
                              return &other == &factor || reads_plainly(other);
                          });
        if (!fits) continue;
        factor = apply(Function::Select, {choice.arguments[0], std::move(factor), number(0)});
        return factors;
    }
    return std::nullopt;
}

std::vector<Expression> factors_of(const Expression& expression, const AxesAlong& along) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return {expression};
    const std::vector<Expression>& arguments = call->arguments;
    if (call->function == Function::Multiply || call->function == Function::Negate) {
        std::vector<Expression> factors = factors_of(arguments[0], along);
        if (call->function == Function::Negate)
            factors.push_back(number(-1));
        else
            for (Expression& factor : factors_of(arguments[1], along))
                factors.push_back(std::move(factor));
        return factors;
    }
    // Infinity divided by infinity is NaN, and infinity times 1 / infinity 0: what divides is known
    // to be finite.
    if (call->function == Function::Divide && arrays_read(arguments[1]).empty()) {
        std::vector<Expression> factors = factors_of(arguments[0], along);
        factors.push_back(apply(Function::Divide, {number(1), arguments[1]}));
        return factors;
    }
    if (call->function == Function::Select && is_literal(arguments[2], 0))
        if (auto factors = masked_factors(*call, along)) return *std::move(factors);
    return {expression};
}

/// The sets without some axes, those that have an axis in common as one.
std::vector<AxisSet> linked(const std::vector<AxisSet>& sets, const AxisSet& without) {
    std::vector<AxisSet> result;
    for (AxisSet set : sets) {
        std::erase_if(set, [&](AxisId axis) { return without.contains(axis); });
        if (set.empty()) continue;
        std::erase_if(result, [&](AxisSet& other) {
            const bool meets = !common(set, other).empty();
            if (meets) set.merge(other);
            return meets;
        });
        result.push_back(std::move(set));
    }
    return result;
}

struct Sides {
    AxisSet batch;
    std::vector<AxisSet> both;
};

/// How the target's axes of the factors fall apart into two sides, what both have taken out.
std::optional<Sides> sides_of(const std::vector<AxisSet>& uses) {
    if (std::vector<AxisSet> both = linked(uses, {}); both.size() == 2) return Sides{{}, both};
    for (std::size_t i = 0; i < uses.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const AxisSet batch = common(uses[i], uses[j]);
            if (std::vector<AxisSet> both = linked(uses, batch); both.size() == 2)
                return Sides{batch, both};
        }
    return std::nullopt;
}

/// Which axes of the target each side has.
void share_axes(const std::vector<AxisId>& target, const Sides& sides, Contraction& found) {
    const auto last = std::find_if(target.rbegin(), target.rend(), [&](AxisId axis) {
        return sides.both[0].contains(axis) || sides.both[1].contains(axis);
    });
    const std::size_t right = sides.both[1].contains(*last) ? 1 : 0;
    for (const AxisId axis : target)
        (sides.batch.contains(axis)             ? found.batch
         : sides.both[right].contains(axis)     ? found.columns
         : sides.both[1 - right].contains(axis) ? found.rows
                                                : found.others)
            .push_back(axis);
}

}  // namespace

std::optional<Contraction> contraction_of(const Statement& statement,
                                          const std::vector<AxisId>& target,
                                          const AxisFilter& counts, const AxesAlong& along) {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    if (fold == nullptr || fold->monoid != kSum || fold->every_prefix || fold->values.size() != 1)
        return std::nullopt;
    Contraction found;
    std::vector<AxisId> kept;
    std::copy_if(target.begin(), target.end(), std::back_inserter(kept), counts);
    std::copy_if(fold->over.begin(), fold->over.end(), std::back_inserter(found.depth), counts);
    if (kept.size() < 2 || found.depth.empty()) return std::nullopt;

    std::vector<Expression> inside;
    std::vector<AxisSet> uses;
    for (Expression& factor : factors_of(fold->values.front(), along)) {
        const AxisSet axes = along(factor);
        const auto runs = [&](AxisId axis) { return axes.contains(axis); };
        if (std::none_of(found.depth.begin(), found.depth.end(), runs)) {
            found.outside.push_back(std::move(factor));
            continue;
        }
        AxisSet& own = uses.emplace_back();
        std::copy_if(kept.begin(), kept.end(), std::inserter(own, own.end()), runs);
        inside.push_back(std::move(factor));
    }
    const std::optional<Sides> sides = sides_of(uses);
    if (!sides) return std::nullopt;
    share_axes(kept, *sides, found);
    for (std::size_t i = 0; i < inside.size(); ++i) {
        const auto runs = [&](AxisId axis) { return uses[i].contains(axis); };
        const bool left = std::any_of(found.rows.begin(), found.rows.end(), runs);
        const bool right = std::any_of(found.columns.begin(), found.columns.end(), runs);
        (left ? found.left : right ? found.right : found.either).push_back(std::move(inside[i]));
    }
    return found;
}

AxisFilter tiled_axes(const std::vector<Axis>& axes, const Region& region) {
    return [&](AxisId axis) {
        return !axes[axis.index()].woven || !contains(region.groups, Group{axis, 1, Level::Block});
    };
}

void swap_sides(Contraction& contraction) {
    std::swap(contraction.rows, contraction.columns);
    std::swap(contraction.left, contraction.right);
}

void place_either(Contraction& contraction) {
    for (Expression& factor : contraction.either)
        (contraction.left.size() > 1 ? contraction.left : contraction.right)
            .push_back(std::move(factor));
    contraction.either.clear();
}

bool LoadedOperand::is_taken() const {
    return !is_input || converts_exactly(type, ElementType::TF32) || is_in_parts(type);
}

namespace {

/// What computes each array of a region.
void collect_makers(const std::vector<TileStatement>& body,
                    std::multimap<ArrayId, const Statement*>& makers) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            collect_makers(parallel->body, makers);
        else if (const Loop* loop = std::get_if<Loop>(&statement.node))
            collect_makers(loop->body, makers);
        else if (const Compute* compute = std::get_if<Compute>(&statement.node))
            for (const ArrayId target : compute->statement.targets)
                makers.emplace(target, &compute->statement);
    }
}

/// The arrays that expressions are made of in the end, by what the region computes.
std::set<ArrayId> made_of(const RegionProgram& region, const std::vector<Expression>& expressions) {
    std::multimap<ArrayId, const Statement*> makers;
    collect_makers(region.body, makers);
    std::set<ArrayId> found;
    std::vector<ArrayId> open;
    const auto add = [&](const Expression& expression) {
        for (const ArrayId array : arrays_read(expression))
            if (found.insert(array).second) open.push_back(array);
    };
    for (const Expression& expression : expressions) add(expression);
    while (!open.empty()) {
        const auto [first, last] = makers.equal_range(open.back());
        open.pop_back();
        for (auto maker = first; maker != last; ++maker)
            for (const Expression* expression : expressions_of(*maker->second)) add(*expression);
    }
    return found;
}

/// The type of the array of most axes among the loaded ones that an operand is made of; of several,
/// one that a tensor core multiplies: it is no more precise than that.
std::optional<ElementType> widest_of(const RegionProgram& region, const std::set<ArrayId>& arrays,
                                     const std::vector<VariableId>& loaded) {
    std::optional<ElementType> type;
    std::size_t most = 0;
    for (const VariableId id : loaded) {
        const Variable& variable = region.variables[id.index()];
        const Array& array = region.arrays[variable.array.index()];
        const bool is_small = converts_exactly(variable.type, ElementType::BF16);
        const bool counts = is_small || is_multiplied(variable.type) ||
                            (is_in_parts(variable.type) && array.role == ArrayRole::Input);
        if (!counts || !arrays.contains(variable.array) || array.axes.size() < most) continue;
        if (array.axes.size() == most && type && is_multiplied(*type)) continue;
        most = array.axes.size();
        type = is_small ? ElementType::BF16 : variable.type;
    }
    return type;
}

}  // namespace

std::optional<ElementType> type_beside(
    const RegionProgram& region, const std::array<const std::vector<Expression>*, 2>& operands,
    const std::vector<VariableId>& reads, const std::vector<VariableId>& loaded) {
    std::set<ElementType> types;
    for (const std::vector<Expression>* operand : operands)
        if (const auto type = widest_of(region, made_of(region, *operand), loaded))
            types.insert(*type);
    for (const ElementType type : types)
        if (is_in_parts(type)) return type;
    if (!types.empty()) return types.size() > 1 ? ElementType::TF32 : *types.begin();
    std::vector<VariableId> others = reads;
    others.insert(others.end(), loaded.begin(), loaded.end());
    for (const VariableId id : others)
        if (const ElementType type = region.variables[id.index()].type; is_multiplied(type))
            return type;
    return std::nullopt;
}

ElementType multiplied_type(const std::array<std::optional<LoadedOperand>, 2>& loaded,
                            std::optional<ElementType> beside) {
    std::set<ElementType> types;
    bool small = true;  // bf16 holds every operand
    for (const std::optional<LoadedOperand>& operand : loaded) {
        small = small && operand && converts_exactly(operand->type, ElementType::BF16);
        if (!operand) continue;
        if (operand->is_input && is_in_parts(operand->type)) return operand->type;
        if (is_multiplied(operand->type)) types.insert(operand->type);
    }
    // tf32 holds bf16 and f16.
    if (!types.empty()) return types.size() > 1 ? ElementType::TF32 : *types.begin();
    return small ? ElementType::BF16 : beside.value_or(ElementType::TF32);
}

}  // namespace napkin
