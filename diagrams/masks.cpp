// Masks of folds, found by following where a value becomes the identity of its fold: -inf under a
// maximum, and, through exp, products and quotients, zero under a sum.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "diagrams/contains.h"
#include "diagrams/facts.h"
#include "diagrams/masks.h"

namespace napkin {

namespace {

enum class Vanishing { Zero, MinusInfinity, PlusInfinity };

bool is_vanished(const Expression& expression, Vanishing kind) {
    if (kind == Vanishing::Zero) return is_literal(expression, 0.0);
    const double infinity = std::numeric_limits<double>::infinity();
    if (kind == Vanishing::PlusInfinity) return is_literal(expression, infinity);
    if (is_literal(expression, -infinity)) return true;
    const Apply* call = std::get_if<Apply>(&expression.node);
    return call != nullptr && call->function == Function::Negate &&
           is_literal(call->arguments[0], infinity);
}

class MaskFinder {
public:
    explicit MaskFinder(const Diagram& diagram) : diagram_(diagram) {}

    /// Conditions outside of which the expression has the vanishing value.
    void find(const Expression& expression, Vanishing kind, std::vector<Expression>& masks) const {
        if (const Read* element = std::get_if<Read>(&expression.node))
            return find_through(*element, kind, masks);
        if (const Convert* convert = std::get_if<Convert>(&expression.node)) {
            if (keeps(convert->type, kind)) find(convert->argument.front(), kind, masks);
            return;
        }
        const Apply* call = std::get_if<Apply>(&expression.node);
        if (call == nullptr) return;
        const auto& args = call->arguments;
        if (call->function == Function::Select) {
            if (is_vanished(args[2], kind)) {
                add(masks, args[0]);
                find(args[1], kind, masks);
            } else if (is_vanished(args[1], kind)) {
                add(masks, napkin::apply(Function::Not, {args[0]}));
                find(args[2], kind, masks);
            } else {
                find_in_branches(args, kind, masks);
            }
            return;
        }
        if (kind == Vanishing::Zero) return find_zero(*call, masks);
        find_infinite(*call, kind, masks);
    }

private:
    /// Whether the vanishing value is itself in the type: some have no infinities, but their
    /// largest number.
    static bool keeps(ElementType type, Vanishing kind) {
        return kind == Vanishing::Zero ||
               std::isinf(round_to(type, std::numeric_limits<double>::infinity()));
    }
    static void add(std::vector<Expression>& masks, Expression mask) {
        if (!contains(masks, mask)) masks.push_back(std::move(mask));
    }
    /// Of `if c then a else b`, each of which may vanish: what both have, and (c and a's masks) or
    /// (not c and b's).
    void find_in_branches(const std::vector<Expression>& args, Vanishing kind,
                          std::vector<Expression>& masks) const {
        std::vector<Expression> taken;
        std::vector<Expression> otherwise;
        find(args[1], kind, taken);
        find(args[2], kind, otherwise);
        add_shared(taken, otherwise, masks);
        if (taken.empty() && otherwise.empty()) return;
        taken.insert(taken.begin(), args[0]);
        otherwise.insert(otherwise.begin(), napkin::apply(Function::Not, {args[0]}));
        add_either(taken, otherwise, masks);
    }
    /// Adds what both have, and leaves what one has.
    static void add_shared(std::vector<Expression>& first, std::vector<Expression>& second,
                           std::vector<Expression>& masks) {
        const std::vector<Expression> all = first;
        std::erase_if(first, [&](const Expression& mask) { return contains(second, mask); });
        std::erase_if(second, [&](const Expression& mask) { return contains(all, mask); });
        for (const Expression& mask : all)
            if (!contains(first, mask)) add(masks, mask);
    }
    /// All of the one or all of the other; nothing where that is long, as of branches in branches.
    static void add_either(const std::vector<Expression>& first,
                           const std::vector<Expression>& second, std::vector<Expression>& masks) {
        constexpr int kMostParts = 512;
        Expression either = napkin::apply(Function::Or, {all_of(first), all_of(second)});
        int parts = 0;
        walk(either, [&](const Expression&) { ++parts; });
        if (parts <= kMostParts) add(masks, std::move(either));
    }
    static Expression all_of(const std::vector<Expression>& conditions) {
        Expression all = conditions.front();
        for (std::size_t i = 1; i < conditions.size(); ++i)
            all = napkin::apply(Function::And, {std::move(all), conditions[i]});
        return all;
    }
    /// Of a least or a greatest of two, which vanishes where one of them does, or where both do.
    void find_extreme(const std::vector<Expression>& args, Vanishing kind, bool one_is_enough,
                      std::vector<Expression>& masks) const {
        if (one_is_enough) {
            find(args[0], kind, masks);
            return find(args[1], kind, masks);
        }
        std::vector<Expression> first;
        std::vector<Expression> second;
        find(args[0], kind, first);
        find(args[1], kind, second);
        add_shared(first, second, masks);
        if (!first.empty() && !second.empty()) add_either(first, second, masks);
    }
    void find_zero(const Apply& call, std::vector<Expression>& masks) const {
        const auto& args = call.arguments;
        switch (call.function) {
        case Function::Multiply:
            find(args[0], Vanishing::Zero, masks);
            find(args[1], Vanishing::Zero, masks);
            return;
        case Function::Divide:
        case Function::Negate:
        case Function::Abs: return find(args[0], Vanishing::Zero, masks);
        case Function::Exp: return find(args[0], Vanishing::MinusInfinity, masks);
        default: return;
        }
    }
    void find_infinite(const Apply& call, Vanishing kind, std::vector<Expression>& masks) const {
        const auto& args = call.arguments;
        const Vanishing opposite =
            kind == Vanishing::MinusInfinity ? Vanishing::PlusInfinity : Vanishing::MinusInfinity;
        switch (call.function) {
        case Function::Add:
            if (is_absorbed(args[1], kind)) find(args[0], kind, masks);
            if (is_absorbed(args[0], kind)) find(args[1], kind, masks);
            return;
        case Function::Subtract:
            if (is_absorbed(args[1], kind)) find(args[0], kind, masks);
            return;
        case Function::Negate: return find(args[0], opposite, masks);
        case Function::Min:
        case Function::Max:
            return find_extreme(
                args, kind, (call.function == Function::Min) == (kind == Vanishing::MinusInfinity),
                masks);
        case Function::Multiply:
            if (is_positive(args[1])) return find(args[0], kind, masks);
            if (is_positive(args[0])) return find(args[1], kind, masks);
            return;
        case Function::Divide:
            if (is_positive(args[1])) return find(args[0], kind, masks);
            return;
        default: return;
        }
    }
    /// Looks into the map that defines an array, with the reader's indices in place of its axes.
    void find_through(const Read& element, Vanishing kind, std::vector<Expression>& masks) const {
        const std::optional<StatementId> source = producer(diagram_, element.array);
        if (!source) return;
        const Map* map = std::get_if<Map>(&diagram_[*source].body);
        const Array& array = diagram_[element.array];
        if (map == nullptr || (array.rounds && !keeps(array.type, kind))) return;
        const auto [known, fresh] = known_.try_emplace({element.array, kind});
        if (fresh) {
            std::vector<Expression> found;
            find(map->value, kind, found);
            known->second = std::move(found);
        }
        const std::vector<AxisId>& axes = diagram_[element.array].axes;
        for (const Expression& mask : known->second)
            add(masks, rewrite(mask, [&](Expression node) {
                    const AxisIndex* index = std::get_if<AxisIndex>(&node.node);
                    if (index == nullptr) return node;
                    const auto at = std::find(axes.begin(), axes.end(), index->axis);
                    return at == axes.end()
                               ? node
                               : element.index[static_cast<std::size_t>(at - axes.begin())];
                }));
    }

    /// Whether adding it to the infinity, or subtracting it, leaves the infinity: -inf absorbs
    /// everything, inf what is finite, which elements of no floating array need be.
    [[nodiscard]] bool is_absorbed(const Expression& term, Vanishing kind) const {
        return kind == Vanishing::MinusInfinity ||
               (!facts_.of(term).may_be_infinite() && !any_part(term, [&](const Expression& part) {
                   const Read* element = std::get_if<Read>(&part.node);
                   return element != nullptr && is_floating(diagram_[element->array].type);
               }));
    }
    [[nodiscard]] bool is_positive(const Expression& factor) const {
        const Facts facts = facts_.of(factor);
        return facts.positive() && !facts.vanishes && !facts.may_be_infinite();
    }

    const Diagram& diagram_;
    DiagramFacts facts_{diagram_};
    /// Of the maps that were looked into, which several elements may be made of.
    mutable std::map<std::pair<ArrayId, Vanishing>, std::vector<Expression>> known_;
};

}  // namespace

std::vector<Expression> masks_of(const Diagram& diagram, const Expression& value, MonoidId monoid) {
    std::vector<Expression> masks;
    const MaskFinder finder(diagram);
    if (monoid == kSum) finder.find(value, Vanishing::Zero, masks);
    if (monoid == kMax) finder.find(value, Vanishing::MinusInfinity, masks);
    if (monoid == kMin) finder.find(value, Vanishing::PlusInfinity, masks);
    return masks;
}

}  // namespace napkin
