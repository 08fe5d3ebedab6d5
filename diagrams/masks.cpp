// Masks of folds, found by following where a value becomes the identity of its fold: -inf under a
// maximum, and, through exp, products and quotients, zero under a sum.
#include <algorithm>
#include <limits>

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

/// A factor that is positive whatever the data: a positive literal, a size, or a function of them.
bool is_positive_constant(const Expression& expression) {
    if (const Number* literal = std::get_if<Number>(&expression.node)) return literal->value > 0;
    if (std::holds_alternative<SizeOf>(expression.node)) return true;
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return false;
    switch (call->function) {
    case Function::Multiply:
    case Function::Divide:
    case Function::Sqrt:
    case Function::Rsqrt:
        return std::all_of(call->arguments.begin(), call->arguments.end(), is_positive_constant);
    default: return false;
    }
}

class MaskFinder {
public:
    explicit MaskFinder(const Diagram& diagram) : diagram_(diagram) {}

    /// Conditions outside of which the expression has the vanishing value.
    void find(const Expression& expression, Vanishing kind, std::vector<Expression>& masks) const {
        if (const Read* element = std::get_if<Read>(&expression.node))
            return find_through(*element, kind, masks);
        if (const Convert* convert = std::get_if<Convert>(&expression.node))
            return find(convert->argument.front(), kind, masks);
        const Apply* call = std::get_if<Apply>(&expression.node);
        if (call == nullptr) return;
        const auto& args = call->arguments;
        if (call->function == Function::Select) {
            if (is_vanished(args[2], kind)) {
                masks.push_back(args[0]);
                find(args[1], kind, masks);
            } else if (is_vanished(args[1], kind)) {
                masks.push_back(napkin::apply(Function::Not, {args[0]}));
                find(args[2], kind, masks);
            }
            return;
        }
        if (kind == Vanishing::Zero) return find_zero(*call, masks);
        find_infinite(*call, kind, masks);
    }

private:
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
            find(args[0], kind, masks);
            find(args[1], kind, masks);
            return;
        case Function::Subtract: return find(args[0], kind, masks);
        case Function::Negate: return find(args[0], opposite, masks);
        case Function::Multiply:
            if (is_positive_constant(args[1])) return find(args[0], kind, masks);
            if (is_positive_constant(args[0])) return find(args[1], kind, masks);
            return;
        case Function::Divide:
            if (is_positive_constant(args[1])) return find(args[0], kind, masks);
            return;
        default: return;
        }
    }
    /// Looks into the map that defines an array, with the reader's indices in place of its axes.
    void find_through(const Read& element, Vanishing kind, std::vector<Expression>& masks) const {
        const std::optional<StatementId> source = producer(diagram_, element.array);
        if (!source) return;
        const Map* map = std::get_if<Map>(&diagram_[*source].body);
        if (map == nullptr) return;
        std::vector<Expression> inner;
        find(map->value, kind, inner);
        const std::vector<AxisId>& axes = diagram_[element.array].axes;
        for (const Expression& mask : inner)
            masks.push_back(rewrite(mask, [&](Expression node) {
                const AxisIndex* index = std::get_if<AxisIndex>(&node.node);
                if (index == nullptr) return node;
                const auto at = std::find(axes.begin(), axes.end(), index->axis);
                return at == axes.end()
                           ? node
                           : element.index[static_cast<std::size_t>(at - axes.begin())];
            }));
    }

    const Diagram& diagram_;
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
