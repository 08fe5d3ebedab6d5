// absorb-normaliser: dividing an exponential is subtracting a logarithm from its exponent.
//
//   exp(s - m) / l     ==>     exp(s - L),   L = m + log l
//
// Side condition: the divisor is a sum of exponentials, so that it is positive wherever anything is
// visible; where nothing is, L is -inf and both sides are 0. One array is kept in place of two, and
// whoever has it forms the quotient from s alone: what backward passes recompute from. It is no
// gain in accuracy, since the exponent then rounds with the size of L.
// Citation: arXiv 2205.14135, appendix B (the saved log-sum-exp).
#include <algorithm>

#include "derive/rewriting/products.h"
#include "derive/rewriting/unify.h"
#include "derive/rules/draft.h"
#include "diagrams/facts.h"

namespace napkin::rules {

namespace {

/// exp(exponent) * rest / below.
struct Quotient {
    Expression exponent;
    Expression below;
    Product rest;
};

const Apply* as_exponential(const Expression& expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    return call != nullptr && call->function == Function::Exp ? call : nullptr;
}

/// The product with maps opened until one factor is an exponential.
Product with_exponential(const Diagram& diagram, Product product) {
    for (int depth = 0; depth < 16; ++depth) {
        const auto exponential = [](const Factor& factor) {
            return factor.power == 1 && as_exponential(factor.base) != nullptr;
        };
        if (std::any_of(product.factors.begin(), product.factors.end(), exponential))
            return product;
        Product opened{product.coefficient, {}};
        bool changed = false;
        for (const Factor& factor : product.factors) {
            const Read* element = std::get_if<Read>(&factor.base.node);
            std::optional<Expression> inside;
            if (element != nullptr && factor.power == 1 && !changed)
                inside = opened_map(diagram, *element);
            if (!inside) {
                multiply(opened, factor.base, factor.power);
                continue;
            }
            changed = true;
            opened = opened * product_of(*inside);
        }
        if (!changed) return product;
        product = std::move(opened);
    }
    return product;
}

std::optional<Quotient> quotient_in(const Diagram& diagram, const Expression& value) {
    const Product product = with_exponential(diagram, product_of(value));
    std::optional<Quotient> found = Quotient{};
    found->rest.coefficient = product.coefficient;
    bool above = false;
    bool below = false;
    for (const Factor& factor : product.factors) {
        const Apply* exponential = as_exponential(factor.base);
        if (!above && factor.power == 1 && exponential != nullptr) {
            found->exponent = exponential->arguments.front();
            above = true;
        } else if (!below && factor.power == -1 && !arrays_read(factor.base).empty()) {
            found->below = factor.base;
            below = true;
        } else {
            multiply(found->rest, factor.base, factor.power);
        }
    }
    if (!above || !below) return std::nullopt;
    return found;
}

/// Takes s and m out of s - m where m lacks an axis that s has.
std::optional<Expression> subtracted(Expression& exponent) {
    const Apply* difference = std::get_if<Apply>(&exponent.node);
    if (difference == nullptr || difference->function != Function::Subtract) return std::nullopt;
    const std::set<AxisId> left = axes_used(difference->arguments[0]);
    const std::set<AxisId> right = axes_used(difference->arguments[1]);
    if (!std::includes(left.begin(), left.end(), right.begin(), right.end()) || left == right)
        return std::nullopt;
    Expression minuend = difference->arguments[0];
    Expression subtrahend = difference->arguments[1];
    exponent = std::move(minuend);
    return subtrahend;
}

std::vector<AxisId> axes_of_value(const Array& target, const Expression& value) {
    const std::set<AxisId> used = axes_used(value);
    std::vector<AxisId> axes;
    for (AxisId axis : target.axes)
        if (used.count(axis) != 0) axes.push_back(axis);
    return axes;
}

}  // namespace

Outcome absorb_normaliser(const State& state, const Command& command) {
    if (command.names.size() != 1 || command.as.size() != 1)
        return out_of_place("it takes an array and a name",
                            "write `absorb-normaliser ARRAY as NAME`");
    const std::string& name = command.names.front();
    const std::string& wanted = command.as.front();
    const std::optional<ArrayId> array = find_array(state.diagram, name);
    if (!array) return out_of_place("there is no array `" + name + "`", "");
    if (find_array(state.diagram, wanted) || find_axis(state.diagram, wanted))
        return out_of_place("`" + wanted + "` is in use already", "choose another name");
    const std::optional<StatementId> source = producer(state.diagram, *array);
    const Map* map = source ? std::get_if<Map>(&state.diagram[*source].body) : nullptr;
    std::optional<Quotient> quotient;
    if (map != nullptr) quotient = quotient_in(state.diagram, map->value);
    if (!quotient)
        return NotApplicable{"`" + name + "` is no quotient of an exponential",
                             "it takes what a softmax is: `exp(s - m) / l`"};
    const std::string divisor = print(state.diagram, quotient->below);
    if (!DiagramFacts(state.diagram).of(quotient->below).positive())
        return NotApplicable{
            "`" + divisor + "` is no sum of exponentials, so its logarithm may not exist",
            "a normaliser is `sum(x) exp(...)`"};

    Draft draft(state);
    const std::optional<Expression> maximum = subtracted(quotient->exponent);
    Expression value = napkin::apply(Function::Log, {quotient->below});
    if (maximum) value = napkin::apply(Function::Add, {*maximum, std::move(value)});
    const Array& target = state.diagram[*array];
    const Span span = state.diagram[*source].span;
    const std::vector<AxisId> axes = axes_of_value(target, value);
    const ArrayId saved = draft.add_array(wanted, axes, span);
    const BoxId box = state.diagram[*source].box;
    const std::size_t region = draft.home(*source);
    draft.store(saved, ElementType::F32);
    // What leads to the logarithm stays in the box; the quotient is a box of its own now.
    draft.add({{saved}, Map{std::move(value)}, box, span}, region, *source);
    draft.diagram.boxes[box.index()].name.clear();
    draft.diagram.boxes[box.index()].glyph.clear();
    draft.diagram.boxes[box.index()].glyph_axes.clear();
    Statement& changed = draft.diagram.statements[source->index()];
    changed.box = draft.add_box(box);
    multiply(quotient->rest,
             napkin::apply(Function::Exp,
                           {napkin::apply(Function::Subtract, {std::move(quotient->exponent),
                                                               read_axes(saved, axes)})}),
             1);
    changed.body = Map{expression_of(quotient->rest)};
    return draft.finish(command, {"`" + divisor + "` is a sum of exponentials"});
}

}  // namespace napkin::rules
