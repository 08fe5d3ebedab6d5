// Terms and polynomials back into expressions, reading arrays of the region where they hold the
// same value.
#include <algorithm>
#include <cmath>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/write/builder.h"
#include "diagrams/check/bounds.h"
#include "diagrams/infinity.h"
#include "diagrams/integer_range.h"

namespace napkin::separation {
namespace {

constexpr int kLongSum = 40;  ///< nodes

}  // namespace

std::optional<Expression> Builder::named(TermId id, Where where) {
    const auto found = cascade_.arrays_by_term().find(id);
    if (found == cascade_.arrays_by_term().end()) return std::nullopt;
    const ArrayId target = found->second;
    if (excluded_.contains(target)) return std::nullopt;
    const Part part = cascade_.part_of(target);
    const Class& of = algebra_.class_of(id);
    if (where == Where::Tail) {
        const Kind kind = algebra_[id].kind;
        const bool here = part == Part::Tail && kind != Kind::Fold;
        if (!here) return std::nullopt;
        need_tail(target);
        return read_array(target);
    }
    if ((part != Part::Chunk && part != Part::Prefix) || !of.streamed) return std::nullopt;
    need_chunk(target);
    return read_array(target);
}

Expression Builder::expression(TermId id, Where where) {
    if (std::optional<Expression> known = named(id, where)) return *known;
    const Term term = algebra_[id];
    switch (term.kind) {
    case Kind::Number: return number(term.number, term.ref == 1);
    case Kind::Axis: return axis_index(AxisId{term.ref});
    case Kind::Size: return size_of(AxisId{term.ref});
    case Kind::Inner: return inner(id, where);
    case Kind::Sum:
        return where == Where::Tail ? sum_of_tail(id) : expression(PolynomialId{term.ref}, where);
    case Kind::Mask: return guarded(integer(0), term.parts, -kInfinity, where);
    case Kind::Read:
    case Kind::Fold:
    case Kind::State:
    case Kind::Late:
    case Kind::Mean: return reference(term, id, where);
    case Kind::Relative: {
        const bool running = algebra_[term.parts[1]].kind == Kind::Fold;
        Expression gauge = expression(term.parts[1], running ? Where::After : where);
        if (running) gauge = apply(Function::Guard, {std::move(gauge)});
        return apply(Function::Subtract, {expression(term.parts[0], where), std::move(gauge)});
    }
    case Kind::Apply:
    case Kind::Convert: break;
    }
    if (term.kind == Kind::Apply && term.function == Function::Select) return choice(term, where);
    std::vector<Expression> parts;
    for (const TermId part : term.parts) parts.push_back(expression(part, where));
    if (term.kind == Kind::Apply) return apply(term.function, std::move(parts));
    return Expression{Convert{static_cast<ElementType>(term.ref), std::move(parts)}, {}};
}

/// Each branch is written where its condition is known.
Expression Builder::choice(const Term& term, Where where) {
    std::vector<Expression> parts{expression(term.parts[0], where)};
    for (const bool taken : {true, false}) {
        known_.push_back(taken ? parts[0] : apply(Function::Not, {parts[0]}));
        parts.push_back(expression(term.parts[taken ? 1 : 2], where));
        known_.pop_back();
    }
    return apply(Function::Select, std::move(parts));
}

/// An element of an array, a fold or a state.
Expression Builder::reference(const Term& term, TermId id, Where where) {
    std::vector<Expression> index;
    for (const TermId part : term.parts) index.push_back(expression(part, where));
    if (term.kind == Kind::State) return read(state_array(term.ref), std::move(index));
    if (term.kind == Kind::Mean) {
        Expression value = read(mean_array(term.ref), std::move(index));
        const MeanGauge& variable = plan_.means()[term.ref];
        if (variable.guards.empty() || variable.weight) return value;
        return apply(Function::Guard, {std::move(value)});  // there may have been none yet
    }
    if (term.kind == Kind::Fold) {
        if (where == Where::Tail) {
            const PolynomialId value = resolved(id);
            return expression(value, where);
        }
        invariant(where != Where::Chunk, "a final value is read inside the loop");
        const std::uint32_t state = plan_.gauge_state(term.ref);
        return read(where == Where::Before ? state_array(state) : next_arrays_.at(state),
                    std::move(index));
    }
    const ArrayId source{term.ref};
    if (cascade_.part_of(source) != Part::Before) {
        if (where == Where::Tail)
            need_tail(source);
        else
            need_chunk(source);
    }
    return read(source, std::move(index));
}

/// A long sum is an array of its own: it may occur many times, and so may what it is made of.
Expression Builder::sum_of_tail(TermId id) {
    if (const std::optional<ArrayId> made = hoisted(id, Where::Tail)) return read_array(*made);
    Expression value = expression(PolynomialId{algebra_[id].ref}, Where::Tail);
    int nodes = 0;
    walk(value, [&](const Expression&) { ++nodes; });
    if (nodes < kLongSum) return value;
    return read_array(hoist(id, "_term", Map{std::move(value)}, Where::Tail));
}

/// A fold over other axes inside a value, as an array of its own. What is known of an axis outside
/// is not known of the axis that the fold runs over.
Expression Builder::inner(TermId id, Where where) {
    const Term term = algebra_[id];
    const std::vector<Expression> outside = known_;
    std::erase_if(known_, [&](const Expression& condition) {
        const std::set<AxisId> used = axes_used(condition);
        return std::any_of(term.bound.begin(), term.bound.end(),
                           [&](AxisId axis) { return used.contains(axis); });
    });
    std::optional<ArrayId> made = hoisted(id, where);
    if (!made) {
        Fold fold;
        fold.monoid = MonoidId{term.ref};
        fold.over = term.bound;
        fold.values.push_back(expression(term.parts.front(), where));
        made = hoist(id, "_inner", std::move(fold), where);
    }
    known_ = outside;
    return read_array(*made);
}

/// What is known where a value is written of the axes that its accesses need to lie inside.
std::optional<Expression> Builder::known_of(const std::set<AxisId>& needed) const {
    std::optional<Expression> all;
    for (auto each = known_.begin(); each != known_.end(); ++each) {
        const std::set<AxisId> used = axes_used(*each);
        const bool speaks = std::any_of(used.begin(), used.end(),
                                        [&](AxisId axis) { return needed.contains(axis); });
        if (!speaks || std::find(known_.begin(), each, *each) != each) continue;
        all = all ? apply(Function::And, {std::move(*all), *each}) : *each;
    }
    return all;
}

/// The array of the value, where one was made under the same conditions; of what states are part
/// of, in the same place.
std::optional<ArrayId> Builder::hoisted(TermId id, Where where) const {
    const bool anywhere = !algebra_.class_of(id).folded;
    const auto [first, last] = hoisted_.equal_range(id);
    for (auto each = first; each != last; ++each) {
        const Hoisted& made = each->second;
        if ((anywhere || made.where == where) && known_of(made.needed) == made.known)
            return made.array;
    }
    return std::nullopt;
}

/// Makes a value an array of its own, which has elements where the value is not used too: an access
/// that only a condition around the value keeps inside takes the condition along.
ArrayId Builder::hoist(TermId id, const char* suffix, std::variant<Map, Fold> body, Where where) {
    Fold* fold = std::get_if<Fold>(&body);
    Expression& value = fold != nullptr ? fold->values.front() : std::get<Map>(body).value;
    std::set<AxisId> axes = algebra_.class_of(id).axes;
    Hoisted made{.where = where};
    if (!checking::accesses_proved(scope(), value, {})) {
        made.needed = axes;
        made.known = known_of(axes);
    }
    if (made.known) {
        axes.merge(axes_used(*made.known));
        value = apply(Function::Select, {*made.known, std::move(value), integer(0)});
    }
    made.array = make_array(base_name(serving_) + suffix, {axes.begin(), axes.end()});
    Statement written{
        .targets = {made.array}, .body = {}, .box = box_of(serving_), .span = span_of(serving_)};
    std::visit([&](auto& each) { written.body = std::move(each); }, body);
    (where == Where::Tail ? result_.tail : body_).push_back(std::move(written));
    return hoisted_.emplace(id, std::move(made))->second.array;
}

std::optional<Expression> Builder::all_of(std::vector<TermId> guards, Where where) {
    std::optional<Expression> all;
    for (const TermId guard : in_order_of_reads(algebra_, std::move(guards))) {
        Expression condition = expression(guard, where);
        all = all ? apply(Function::And, {std::move(*all), std::move(condition)})
                  : std::move(condition);
    }
    return all;
}

Expression Builder::guarded(Expression value, const std::optional<Expression>& guard,
                            double otherwise) {
    if (!guard) return value;
    return apply(Function::Select, {*guard, std::move(value), number(otherwise)});
}

Expression Builder::guarded(Expression value, std::vector<TermId> guards, double otherwise,
                            Where where) {
    return guarded(std::move(value), all_of(std::move(guards), where), otherwise);
}

Expression Builder::expression(PolynomialId polynomial, Where where) {
    const auto& forms = where == Where::Tail ? tail_forms_ : chunk_forms_;
    const auto known = forms.find(polynomial);
    if (known != forms.end() && !excluded_.contains(known->second)) {
        if (where == Where::Tail)
            need_tail(known->second);
        else
            need_chunk(known->second);
        return read_array(known->second);
    }
    if (where == Where::Tail) polynomial = gathered(polynomial);
    Polynomial sum = algebra_[polynomial];
    std::stable_sort(sum.terms.begin(), sum.terms.end(), [](const auto& a, const auto& b) {
        return (a.second > 0) > (b.second > 0);  // a positive term first reads better
    });
    const auto is_gauge = [&](const auto& term) { return is_bare_gauge(term.first); };
    const auto gauges = std::count_if(sum.terms.begin(), sum.terms.end(), is_gauge);
    if (where == Where::Tail && gauges > 1)  // the large ones first: little is left of them
        std::stable_partition(sum.terms.begin(), sum.terms.end(), is_gauge);
    // Where a mask hides, what it stands beside is not read: -inf, or inf where it is subtracted.
    std::vector<TermId> visible;
    std::vector<TermId> subtracted;
    for (const auto& [mono, coefficient] : sum.terms)
        if (algebra_.is_mask(mono))
            (coefficient > 0 ? visible : subtracted)
                .push_back(algebra_[mono.powers[0].first].parts[0]);
    const std::optional<Expression> shown = all_of(std::move(visible), where);
    const std::optional<Expression> kept = all_of(std::move(subtracted), where);
    const std::vector<Expression> outside = known_;
    for (const std::optional<Expression>& guard : {shown, kept})
        if (guard) known_.push_back(*guard);
    std::optional<Expression> result;
    for (const auto& [mono, coefficient] : sum.terms) {
        if (algebra_.is_mask(mono)) continue;
        const bool minus = result && coefficient < 0;
        Expression term = product(mono, minus ? -coefficient : coefficient, where);
        if (!result)
            result = std::move(term);
        else
            result = apply(minus ? Function::Subtract : Function::Add,
                           {std::move(*result), std::move(term)});
    }
    known_ = outside;
    if (!result) result = integer(0);
    return guarded(guarded(std::move(*result), kept, kInfinity), shown, -kInfinity);
}

/// A maximum or a mean alone, which may be large though differences are small.
bool Builder::is_bare_gauge(const Monomial& product) const {
    if (product.powers.size() != 1 || product.powers.front().second != 1 ||
        product.exponent != kZero)
        return false;
    const Term& term = algebra_[product.powers.front().first];
    if (term.kind == Kind::Mean) return true;
    if (term.kind != Kind::State) return false;
    const StateVariable& state = plan_.states()[term.ref];
    return state.monoid == kMax && !state.picks;
}

Expression Builder::product(const Monomial& monomial, double coefficient, Where where) {
    const std::optional<Expression> guard = all_of(guards_of(monomial), where);
    if (guard) known_.push_back(*guard);
    Monomial rest = monomial;
    std::vector<Factor> factors = where == Where::Tail ? means_in(rest) : std::vector<Factor>{};
    for (Factor& factor : factors_of(std::move(rest), where)) factors.push_back(std::move(factor));
    if (guard) known_.pop_back();
    return guarded(quotient(factors, coefficient), guard, 0);
}

/// Whether an index that no data decides is within an axis wherever it is computed.
bool Builder::always_inside(TermId index, const Axis& own) {
    // Indices are written to look at them, which makes no arrays of what is made of axes and sizes.
    const auto is_data = [&](TermId id) {
        switch (algebra_[id].kind) {
        case Kind::Number:
        case Kind::Axis:
        case Kind::Size:
        case Kind::Apply:
        case Kind::Convert:
        case Kind::Sum: return false;
        default: return true;
        }
    };
    if (own.dynamic || mentions(algebra_, index, is_data)) return false;
    const LeafRange leaf = [&](const Expression& part) -> std::optional<Interval> {
        const AxisIndex* along = std::get_if<AxisIndex>(&part.node);
        const SizeOf* size = std::get_if<SizeOf>(&part.node);
        if (along == nullptr && size == nullptr) return std::nullopt;
        const Axis& axis = diagram_[along != nullptr ? along->axis : size->axis];
        if (axis.dynamic) return std::nullopt;
        return along != nullptr ? Interval{0, axis.extent - 1} : Interval{axis.extent, axis.extent};
    };
    const std::optional<Interval> range = value_range(expression(index, Where::Chunk), leaf);
    return range && range->within({0, own.extent - 1});
}

/// The axes of what a term is an element of.
std::vector<AxisId> Builder::axes_of_element(const Term& term) const {
    switch (term.kind) {
    case Kind::Read:
    case Kind::Late: return diagram_[ArrayId{term.ref}].axes;
    case Kind::Fold: return plan_.folds()[term.ref].axes;
    case Kind::State: return plan_.states()[term.ref].axes;
    case Kind::Mean: return plan_.means()[term.ref].axes;
    default: return {};
    }
}

/// Whether an element is read at a computed index or along an axis of another size, so that it may
/// lie outside of the array.
bool Builder::reads_elsewhere(const Monomial& monomial) {
    const auto elsewhere = [&](TermId id) {
        const Term term = algebra_[id];
        const std::vector<AxisId> axes = axes_of_element(term);
        for (std::size_t i = 0; i < axes.size(); ++i) {
            const Term& at = algebra_[term.parts[i]];
            const Axis& own = diagram_[axes[i]];
            if (at.kind == Kind::Axis && diagram_[AxisId{at.ref}].size == own.size) continue;
            if (!always_inside(term.parts[i], own)) return true;
        }
        return false;
    };
    return std::any_of(monomial.powers.begin(), monomial.powers.end(), [&](const auto& factor) {
        return mentions(algebra_, factor.first, elsewhere);
    });
}

/// Conditions under which the product is formed. Those that became masks of its exponent make it 0,
/// but still keep its other factors from being read where there are none.
std::vector<TermId> Builder::guards_of(const Monomial& monomial) {
    std::vector<TermId> guards = monomial.guards;
    if (!reads_elsewhere(monomial) || monomial.exponent == kZero) return guards;
    for (const auto& [mono, coefficient] : algebra_[monomial.exponent].terms)
        if (algebra_.is_mask(mono))
            guards.push_back(algebra_[mono.powers.front().first].parts.front());
    return guards;
}

/// Factors whose product is an array of the region that can be read instead.
void Builder::read_known_products(Monomial& monomial, Where where, std::vector<Factor>& factors) {
    const auto& forms = where == Where::Tail ? tail_forms_ : chunk_forms_;
    for (const auto& [form, target] : forms) {
        const Polynomial known = algebra_[form];
        if (known.terms.size() != 1 || known.terms[0].second != 1) continue;
        const Monomial& wanted = known.terms[0].first;
        const bool same_exponential = where == Where::Chunk && wanted.exponent != kZero &&
                                      wanted.exponent == monomial.exponent;
        const bool simple =
            (wanted.exponent == kZero ? !wanted.powers.empty() : same_exponential) &&
            wanted.guards.empty() && wanted.deferred.empty();
        if (!simple || excluded_.contains(target)) continue;
        const auto present = [&](const auto& power) {
            return std::find(monomial.powers.begin(), monomial.powers.end(), power) !=
                   monomial.powers.end();
        };
        // Dividing once at the end is exact where nothing is visible; a factor 1/l is not.
        const bool cheap =
            where == Where::Tail &&
            std::none_of(wanted.powers.begin(), wanted.powers.end(), [](const auto& power) {
                return power.second != std::floor(power.second);
            });
        if (cheap || !std::all_of(wanted.powers.begin(), wanted.powers.end(), present)) continue;
        std::erase_if(monomial.powers, [&](const auto& power) {
            return std::find(wanted.powers.begin(), wanted.powers.end(), power) !=
                   wanted.powers.end();
        });
        if (same_exponential) monomial.exponent = kZero;
        if (where == Where::Tail)
            need_tail(target);
        else
            need_chunk(target);
        factors.push_back({read_array(target), algebra_.class_of(form)});
    }
}

std::vector<Builder::Factor> Builder::factors_of(Monomial monomial, Where where) {
    std::vector<Factor> factors;
    read_known_products(monomial, where, factors);
    if (monomial.exponent != kZero)
        factors.insert(factors.begin(),
                       {apply(Function::Exp, {expression(monomial.exponent, where)}),
                        algebra_.class_of(monomial.exponent)});
    for (const auto& [term, exponent] : monomial.powers)
        factors.push_back(power(term, exponent, where));
    return factors;
}

Builder::Factor Builder::power(TermId base, double exponent, Where where) {
    Expression value = expression(base, where);
    const double size = std::abs(exponent);
    if (size == 2 && std::holds_alternative<Read>(value.node))
        value = apply(Function::Multiply, {value, value});
    else if (size == 0.5)
        value = apply(Function::Sqrt, {std::move(value)});
    else if (size != 1)
        value = apply(Function::Power, {std::move(value), number(size)});
    return {std::move(value), algebra_.class_of(base), exponent < 0};
}

Expression Builder::quotient(const std::vector<Factor>& factors, double coefficient) {
    std::optional<Expression> above;
    std::optional<Expression> below;
    for (const Factor& factor : factors) {
        std::optional<Expression>& side = factor.below ? below : above;
        side = side ? apply(Function::Multiply, {std::move(*side), factor.value}) : factor.value;
    }
    const double size = std::abs(coefficient);
    if (!above) {
        above = number(size);
    } else if (size != 1) {
        above = apply(Function::Multiply, {std::move(*above), number(size)});
    }
    Expression value =
        below ? apply(Function::Divide, {std::move(*above), std::move(*below)}) : std::move(*above);
    return coefficient < 0 ? apply(Function::Negate, {std::move(value)}) : value;
}

}  // namespace napkin::separation
