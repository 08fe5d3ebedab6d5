// Reductions: which axes they bind, what they vary over, and their hoisting into statements.
#include <algorithm>
#include <limits>
#include <utility>

#include "diagrams/check/bounds.h"
#include "diagrams/check/functions.h"
#include "diagrams/check/messages.h"
#include "diagrams/check/resolve.h"
#include "diagrams/check/types.h"
#include "diagrams/contains.h"
#include "diagrams/overloaded.h"

namespace napkin::checking {

namespace {

/// The reduction's values, and what each gives where it adds nothing.
std::vector<std::pair<Expression*, Expression>> values_with_identity(const Diagram& diagram,
                                                                     Reduction& reduction) {
    std::vector<std::pair<Expression*, Expression>> list;
    std::visit(overloaded{
                   [&](Fold& fold) {
                       for (std::size_t i = 0; i < fold.values.size(); ++i)
                           list.emplace_back(&fold.values[i], diagram[fold.monoid].identity[i]);
                   },
                   [&](Select& select) {
                       list.emplace_back(&select.value,
                                         number(-std::numeric_limits<double>::infinity()));
                   },
               },
               reduction.body);
    return list;
}

std::vector<AxisId> over_of(const Reduction& reduction) {
    if (const Fold* fold = std::get_if<Fold>(&reduction.body)) return fold->over;
    return {std::get<Select>(reduction.body).over};
}

bool keeps_axis(const Reduction& reduction) {
    const Fold* fold = std::get_if<Fold>(&reduction.body);
    return fold != nullptr && fold->every_prefix;
}

/// An axis of the list whose index the expression uses.
std::optional<AxisId> first_shared(const Expression& expression, const std::vector<AxisId>& axes) {
    const std::set<AxisId> used = axes_used(expression);
    for (AxisId axis : axes)
        if (used.contains(axis)) return axis;
    return std::nullopt;
}

/// The scope of a reduction's operand, where its axes are its own.
Scope inside_reduction(const Scope& scope, const syntax::Reduction& source,
                       const std::vector<AxisId>& over, Span span) {
    Scope inside = scope;
    for (AxisId axis : over) {
        inside.open.push_back({axis, span});
    }
    // What was known of such an axis outside says nothing here.
    std::erase_if(inside.guards,
                  [&](const Expression& guard) { return first_shared(guard, over).has_value(); });
    for (const syntax::Name& axis : source.over)
        if (const auto bound = inside.axes.find(axis.text); bound != inside.axes.end())
            bound->second.index.reset();
    return inside;
}

Expression conjunction(const std::vector<Expression>& conditions) {
    Expression all = conditions.front();
    for (std::size_t i = 1; i < conditions.size(); ++i) {
        const Span span = all.span;
        all = make(Apply{Function::And, {std::move(all), conditions[i]}}, span);
    }
    return all;
}

}  // namespace

Resolver::Maybe Resolver::node(const syntax::Reduction& source, Span span, const Scope& scope) {
    std::optional<Reduction> made = reduction(source, span, scope);
    if (!made) return std::nullopt;
    const bool selects = std::holds_alternative<Select>(made->body);
    if (const Fold* fold = std::get_if<Fold>(&made->body); fold && fold->values.size() > 1) {
        context_.report(messages::whole_side_only(span, source.monoid.text));
        return std::nullopt;
    }
    const std::vector<ArrayId> arrays = hoist(std::move(*made), scope.guards);
    std::vector<Expression> index;
    for (AxisId axis : context_.array(arrays.back()).axes)
        index.push_back(make(AxisIndex{axis}, span));
    return make(Read{selects ? arrays[1] : arrays[0], std::move(index)}, span);
}

std::optional<std::vector<AxisId>> Resolver::reduced_axes(const std::string& owner,
                                                          const std::vector<syntax::Name>& names,
                                                          const Scope& scope) {
    std::vector<AxisId> over;
    bool good = true;
    for (const syntax::Name& name : names) {
        const std::optional<std::vector<AxisId>> axes = axes_named(name, scope);
        good = good && axes.has_value();
        for (AxisId axis : axes.value_or(std::vector<AxisId>())) {
            if (contains(over, axis)) {
                context_.report(messages::repeated_axis(placed(name.span, scope),
                                                        context_.axis(axis).name, owner));
                good = false;
            }
            over.push_back(axis);
        }
    }
    if (!good) return std::nullopt;
    return over;
}

bool Resolver::check_nesting(const std::vector<AxisId>& over, Span span, const Scope& scope) {
    for (const OpenReduction& outer : scope.open) {
        if (!contains(over, outer.axis)) continue;
        context_.report(
            messages::nested_reduction(span, context_.axis(outer.axis).name, outer.span));
        return false;
    }
    return true;
}

std::optional<Reduction> Resolver::reduction(const syntax::Reduction& source, Span span,
                                             const Scope& scope) {
    const std::string& name = source.monoid.text;
    const auto monoid = context_.monoids.find(name);
    const bool selects = is_selection(name) && !source.every_prefix;
    if (scope.combines) {
        context_.report(messages::not_elementwise(span, name));
        return std::nullopt;
    }
    if (monoid == context_.monoids.end() && !selects) {
        report_unknown(context_, source, placed(source.monoid.span, scope));
        return std::nullopt;
    }
    const std::optional<std::vector<AxisId>> over = reduced_axes(name, source.over, scope);
    if (!over) return std::nullopt;
    if ((selects || source.every_prefix) && over->size() != 1) {
        context_.report(
            messages::wrong_axis_count(span, selects ? name : "scan", over->size(), 1,
                                       selects ? name + "(x) X[x]" : "scan[x] sum X[x]"));
        return std::nullopt;
    }
    if (!check_nesting(*over, span, scope)) return std::nullopt;
    const Scope inside = inside_reduction(scope, source, *over, span);
    for (const auto& [bound, binding] : inside.axes) {
        const std::optional<AxisId> taken =
            binding.index ? first_shared(*binding.index, *over) : std::nullopt;
        if (!taken) continue;
        context_.report(messages::captured_axis(span, context_.axis(*taken).name, bound));
        return std::nullopt;
    }
    const std::size_t components = selects ? 1 : context_.diagram[monoid->second].identity.size();
    std::optional<std::vector<Expression>> values = operands(source, components, span, inside);
    if (!values) return std::nullopt;
    Reduction made;
    made.span = span;
    if (name == "argmin") values->front() = make(Apply{Function::Negate, {values->front()}}, span);
    if (selects)
        made.body = Select{over->front(), std::nullopt, std::move(values->front())};
    else
        made.body = Fold{monoid->second, *over, std::move(*values), {}, source.every_prefix};
    warn_of_the_same(made);
    if (source.exclusive) shift(made);
    find_free(made);
    return made;
}

/// An exclusive scan is a scan of the elements one place further: the first is the identity.
void Resolver::shift(Reduction& scan) const {
    const Expression place = axis_index(over_of(scan).front());
    const Expression before = apply(Function::Subtract, {place, number(1)});
    for (auto& [value, identity] : values_with_identity(context_.diagram, scan)) {
        const Span span = value->span;
        Expression earlier = rewrite(std::move(*value), [&](Expression node) {
            return node.node == place.node ? before : std::move(node);
        });
        *value = make(Apply{Function::Select,
                            {apply(Function::GreaterEqual, {place, number(1)}), std::move(earlier),
                             identity}},
                      span);
    }
}

std::optional<std::vector<Expression>> Resolver::operands(const syntax::Reduction& source,
                                                          std::size_t components, Span span,
                                                          const Scope& inside) {
    std::vector<Expression> values;
    for (const syntax::Expression& operand : source.operands)
        if (Maybe resolved = value(operand, inside)) values.push_back(std::move(*resolved));
    if (values.size() != source.operands.size()) return std::nullopt;
    if (values.size() == components) return values;
    context_.report(messages::operand_count(span, source.monoid.text, values.size(), components));
    return std::nullopt;
}

/// `topk[e](G[n, e])`, the whole right side of a statement.
std::optional<Reduction> Resolver::topk(const syntax::Call& call, Span span, const Scope& scope) {
    const std::optional<std::vector<AxisId>> over = reduced_axes("topk", call.axes, scope);
    if (over && over->size() != 1)
        context_.report(messages::wrong_axis_count(span, "topk", over->size(), 1, "topk[x](X[x])"));
    if (call.arguments.size() != 1)
        context_.report(
            messages::wrong_argument_count(span, "topk", call.arguments.size(), "1 argument"));
    if (!over || over->size() != 1 || call.arguments.size() != 1) return std::nullopt;
    Scope inside = delimited(scope);
    Maybe operand = value(call.arguments.front(), inside);
    if (!operand) return std::nullopt;
    Reduction made;
    made.span = span;
    made.ranked = true;
    made.body = Select{over->front(), std::nullopt, std::move(*operand)};
    warn_of_the_same(made);
    find_free(made);
    return made;
}

/// Free axes: those of the target in its order, then others by first use. Woven axes are left to
/// the weave pass.
void Resolver::find_free(Reduction& reduction) const {
    std::vector<AxisId> used;
    Reduction copy = reduction;
    for (const auto& [value, identity] : values_with_identity(context_.diagram, copy))
        walk(*value, [&](const Expression& part) {
            const AxisIndex* index = std::get_if<AxisIndex>(&part.node);
            if (index != nullptr && !contains(used, index->axis)) used.push_back(index->axis);
        });
    const std::vector<AxisId> over = over_of(reduction);
    const bool keeps = keeps_axis(reduction);
    if (keeps && !contains(used, over.front())) used.push_back(over.front());
    std::erase_if(used, [&](AxisId axis) {
        const bool bound = contains(over, axis);
        return bound ? !keeps : context_.diagram[axis].woven;
    });
    reduction.free.clear();
    for (AxisId axis : target_axes_)
        if (contains(used, axis)) reduction.free.push_back(axis);
    for (AxisId axis : used)
        if (!contains(target_axes_, axis)) reduction.free.push_back(axis);
}

/// Of what varies, but not along an axis that it is folded along; a constant counts.
void Resolver::warn_of_the_same(const Reduction& reduction) {
    std::set<AxisId> used;
    Reduction copy = reduction;
    for (const auto& [value, identity] : values_with_identity(context_.diagram, copy))
        used.merge(axes_used(*value));
    if (used.empty()) return;
    std::vector<std::string> varies;
    for (const AxisId axis : used) varies.push_back(context_.axis(axis).name);
    for (const AxisId axis : over_of(reduction))
        if (!used.contains(axis) && !context_.axis(axis).woven)
            context_.warn(
                messages::folds_the_same(reduction.span, context_.axis(axis).name, varies));
}

bool Resolver::needs(Reduction& reduction, const std::vector<Expression>& guards) const {
    bool needed = false;
    for (const auto& [value, identity] : values_with_identity(context_.diagram, reduction))
        needed = needed || !accesses_proved(context_.diagram, *value, {}) ||
                 guards_an_index(*value, guards);
    return needed;
}

/// Outside its branch a hoisted reduction is computed everywhere: where its accesses need the
/// branch's condition, it takes the condition along and is the identity elsewhere.
void Resolver::guard_accesses(Reduction& reduction, const std::vector<Expression>& guards) {
    const std::vector<AxisId> over = over_of(reduction);
    std::vector<Expression> usable;
    for (const Expression& guard : guards) {
        if (!first_shared(guard, over)) usable.push_back(guard);
    }
    if (usable.empty() || !needs(reduction, usable)) return;
    // Conditions on the axes that the value has anyway are enough, most often.
    std::vector<Expression> near = usable;
    std::erase_if(near, [&](const Expression& guard) {
        const std::set<AxisId> used = axes_used(guard);
        return !std::all_of(used.begin(), used.end(), [&](AxisId axis) {
            return contains(reduction.free, axis) || context_.axis(axis).woven;
        });
    });
    bool enough = !near.empty();
    for (const auto& [value, identity] : values_with_identity(context_.diagram, reduction))
        enough = enough && accesses_proved(context_.diagram, *value, near);
    if (enough) usable = std::move(near);
    for (auto& [value, identity] : values_with_identity(context_.diagram, reduction)) {
        const Span span = value->span;
        *value = make(Apply{Function::Select, {conjunction(usable), *value, identity}}, span);
    }
    find_free(reduction);
}

std::vector<ArrayId> Resolver::hoist(Reduction reduction, const std::vector<Expression>& guards) {
    guard_accesses(reduction, guards);
    for (const auto& [known, arrays] : hoisted_)
        if (known.body == reduction.body && known.ranked == reduction.ranked) return arrays;
    const Fold* fold = std::get_if<Fold>(&reduction.body);
    const std::size_t components = fold != nullptr ? fold->values.size() : 2;
    Statement statement;
    statement.box = box_;
    statement.span = reduction.span;
    for (std::size_t i = 0; i < components; ++i) {
        Array array;
        std::size_t number = 1;
        for (const auto& entry : hoisted_) number += entry.second.size();
        array.name = target_ + "." + std::to_string(number + i);
        array.named = false;
        array.axes = reduction.free;
        array.span = reduction.span;
        statement.targets.push_back(context_.add_array(std::move(array)));
    }
    hoisted_.emplace_back(reduction, statement.targets);
    std::vector<ArrayId> targets = statement.targets;
    if (Fold* made = std::get_if<Fold>(&reduction.body))
        statement.body = std::move(*made);
    else
        statement.body = std::move(std::get<Select>(reduction.body));
    assign_types(context_, statement);
    context_.diagram.statements.push_back(std::move(statement));
    return targets;
}

std::optional<Whole> Resolver::whole(const syntax::Expression& source, const Scope& scope) {
    const Span span = placed(source.span, scope);
    std::optional<Reduction> made;
    if (const auto* reduction_node = std::get_if<syntax::Reduction>(&source.node)) {
        made = reduction(*reduction_node, span, scope);
    } else if (const auto* call = std::get_if<syntax::Call>(&source.node)) {
        const auto operation = context_.operations.find(call->function.text);
        if (operation != context_.operations.end()) {
            const std::optional<Scope> inside = enter(*call, operation->second, span, scope);
            if (!inside) return std::nullopt;
            std::optional<Whole> result = whole(operation->second.definition->value, *inside);
            const Expression* made_of = result ? std::get_if<Expression>(&*result) : nullptr;
            if (made_of != nullptr && !scope.place) spell(*call, *inside, *made_of);
            return result;
        }
        if (call->function.text == "topk")
            made = topk(*call, span, scope);
        else if (Maybe resolved = value(source, scope))
            return Whole(std::move(*resolved));
    } else if (Maybe resolved = value(source, scope)) {
        return Whole(std::move(*resolved));
    }
    if (!made) return std::nullopt;
    return Whole(std::move(*made));
}

}  // namespace napkin::checking
