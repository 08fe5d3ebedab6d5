// The body: gauges first, then the repairs and weights that follow from them, then every state.
//
//   g_new = max(g, max_x E)          rho = exp(G(g) - h(G(g_new)))        h(m) = 0 where m is -inf
//   e[x]  = exp(E - h(G(g_new)))     o   = o * rho + sum(x) e[x] * V[x]
//   g     = g_new
#include <algorithm>
#include <cmath>
#include <utility>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/write/builder.h"
#include "diagrams/infinity.h"

namespace napkin::separation {
Expression identity_of(const Diagram& diagram, MonoidId monoid, std::uint32_t component) {
    return diagram[monoid].identity.at(component);
}

void Builder::mark_gauges() {
    for (std::size_t i = 0; i < plan_.states().size(); ++i) {
        for (const std::uint32_t fold : folds_in(algebra_, plan_.states()[i].gauge))
            (void)plan_.gauge_state(fold);
        for (const auto& [gauge, power] : plan_.states()[i].shifts)
            if (algebra_[gauge].kind == Kind::Fold) (void)plan_.gauge_state(algebra_[gauge].ref);
    }
}

void Builder::initialise(ArrayId target, Expression value) {
    result_.initial.push_back(statement(target, std::move(value)));
}

/// The user's own operand of a fold, so that what is subtracted later is the same evaluated value.
Expression Builder::own_expression(std::uint32_t fold) {
    const FoldOver& entry = plan_.folds()[fold];
    if (entry.target && entry.statement && !algebra_.class_of(entry.body).folded) {
        for (const RegionStatement& each : cascade_.statements()) {
            if (each.statement != *entry.statement || !each.verbatim) continue;
            const Statement& source = diagram_[each.statement];
            for (const ArrayId input : inputs_of(source)) need_chunk(input);
            if (const Fold* own = std::get_if<Fold>(&source.body))
                return own->values[entry.component];
            if (const Select* own = std::get_if<Select>(&source.body)) return own->value;
        }
    }
    return expression(plan_.form(fold), Where::Chunk);
}

/// A state whose value before the chunk is still needed when its new one is known.
void Builder::build_early(std::uint32_t state) {
    if (next_arrays_.contains(state)) return;
    const StateVariable variable = plan_.states()[state];
    serving_ = variable.serves;
    const ArrayId current = state_array(state);
    const ArrayId next = make_like(current, array(current).name + "_new");
    next_arrays_[state] = next;
    initialise(current, identity_of(diagram_, variable.monoid, 0));
    Expression value = state_value(variable);
    Expression before = seed(state, variable);
    if (variable.is_gauge)
        result_.gauges.push_back(
            {.state = current, .next = next, .value = value, .over = variable.over});
    body_.push_back(fold_statement(next, variable, std::move(value), std::move(before)));
    updates_.push_back(statement(current, read_array(next)));
    keep_state(state);
}

Expression Builder::state_value(const StateVariable& state) {
    if (state.verbatim) return own_expression(*state.verbatim);
    const Polynomial form = algebra_[state.form];
    const bool product = form.terms.size() == 1 && form.terms[0].second == 1;
    if (!product) return expression(state.form, Where::Chunk);
    return contraction(state);
}

/// Quotients of a value at two places, which are formed before anything else is multiplied.
std::vector<Builder::Factor> Builder::take_quotients(Monomial& product) {
    std::vector<Factor> quotients;
    for (std::size_t i = 0; i < product.powers.size();) {
        const std::optional<std::size_t> other = counterpart_of(algebra_, product, i);
        if (!other) {
            ++i;
            continue;
        }
        const std::pair<TermId, double> pair[] = {product.powers[i], product.powers[*other]};
        std::vector<Factor> both;
        Class of;
        for (const auto& [value, exponent] : pair) {
            both.push_back(power(value, exponent, Where::Chunk));
            of.axes.insert(both.back().of.axes.begin(), both.back().of.axes.end());
            std::erase(product.powers, std::pair(value, exponent));
        }
        quotients.push_back({quotient(both, 1), std::move(of)});
        i = 0;
    }
    return quotients;
}

/// u as a product of at most two arrays: what shares the axes of the weight is multiplied into it
/// beforehand, so that contractions stay products of plain reads.
Expression Builder::contraction(const StateVariable& state) {
    const Monomial whole = algebra_[state.form].terms[0].first;
    Monomial bare = whole;
    std::vector<Factor> factors;
    if (state.stored) {
        const ArrayId part = stored_part(state);
        const std::vector<AxisId>& own = array(part).axes;
        factors.push_back({read_array(part), Class{.axes = {own.begin(), own.end()}}});
        bare = beside_stored(state, whole);
        bare.guards.clear();
    }
    if (bare.exponent != kZero && state.gauge != kZero) {
        Class of = algebra_.class_of(whole.exponent);
        of.axes.merge(std::set<AxisId>(algebra_.class_of(state.gauge).axes));
        of.infinite = false;
        factors.push_back({read_array(weight(whole.exponent, state.gauge)), of});
        bare.exponent = kZero;
    }
    const std::vector<TermId> guards = guards_of(whole);
    const std::optional<Expression> guard = all_of(guards, Where::Chunk);
    if (guard) known_.push_back(*guard);
    for (Factor& factor : take_quotients(bare)) factors.push_back(std::move(factor));
    for (Factor& factor : factors_of(bare, Where::Chunk)) factors.push_back(std::move(factor));
    if (guard) known_.pop_back();
    const bool infinite = std::any_of(factors.begin(), factors.end(),
                                      [](const Factor& factor) { return factor.of.infinite; });
    if (factors.empty()) return guarded(integer(1), guards, 0, Where::Chunk);
    // The side of the weight, or else of the factor with the most axes, takes in what fits its
    // axes.
    const Factor* widest = &factors.front();
    for (const Factor& factor : factors)
        if (state.gauge == kZero && factor.of.axes.size() > widest->of.axes.size())
            widest = &factor;
    const std::set<AxisId> first = widest->of.axes;
    std::vector<Factor> sides[2];
    std::set<AxisId> axes[2];
    for (Factor& factor : factors) {
        const bool same =
            std::includes(first.begin(), first.end(), factor.of.axes.begin(), factor.of.axes.end());
        axes[same ? 0 : 1].insert(factor.of.axes.begin(), factor.of.axes.end());
        sides[same ? 0 : 1].push_back(factor);
    }
    const auto& exponent = algebra_[whole.exponent].terms;
    const bool masked = std::any_of(exponent.begin(), exponent.end(), [&](const auto& term) {
        return algebra_.class_of(term.first).infinite;
    });
    // A weight of zero adds nothing, whatever its payload.
    const Expression weighs = factors.front().value;
    const auto where_visible = [&](Expression value, std::size_t count) {
        if (state.gauge == kZero || (!infinite && (!masked || count < 2))) return value;
        return apply(Function::Select, {apply(Function::Greater, {weighs, integer(0)}),
                                        std::move(value), integer(0)});
    };
    if (sides[1].empty())
        return where_visible(guarded(quotient(factors, 1), guards, 0, Where::Chunk),
                             factors.size());
    std::vector<Factor> both;
    bool covered = sides[0].size() == 1;
    for (int i = 0; i < 2; ++i) {
        const bool single = sides[i].size() == 1 && !sides[i][0].below &&
                            std::holds_alternative<Read>(sides[i][0].value.node);
        const bool wide =
            std::includes(axes[i].begin(), axes[i].end(), axes[1 - i].begin(), axes[1 - i].end());
        // An array with every axis would be no smaller than the product; one of what is guarded
        // would be read unguarded.
        if (single || wide || (!guards.empty() && reads_elsewhere(whole))) {
            both.insert(both.end(), sides[i].begin(), sides[i].end());
            continue;
        }
        Expression value = quotient(sides[i], 1);
        if (i == 0) value = where_visible(std::move(value), sides[i].size());
        covered = covered || i == 0;
        ArrayId made{};
        bool found = false;
        for (const Statement& each : body_) {
            const Map* map = std::get_if<Map>(&each.body);
            if (map == nullptr || map->value != value) continue;
            made = each.targets.front();
            found = true;
        }
        if (!found) made = helper(i == 0 ? "_factor" : "_operand", axes[i], std::move(value));
        both.push_back({read_array(made), Class{}});
    }
    Expression value = guarded(quotient(both, 1), guards, 0, Where::Chunk);
    return covered ? value : where_visible(std::move(value), both.size());
}

/// A state relative to what moves, from the states relative to where that was before.
Expression Builder::moved(std::uint32_t state) {
    const StateVariable variable = plan_.states()[state];
    Expression sum = read_array(state_array(state));
    for (const StateVariable::Lower& lower : variable.lower) {
        Expression part = read_array(state_array(lower.state));
        for (std::size_t i = 0; i < variable.shifts.size(); ++i)
            for (int k = 0; k < lower.steps[i]; ++k)
                part = apply(Function::Multiply,
                             {std::move(part), read_array(moves(variable.shifts[i].first))});
        if (lower.ways != 1)
            part = apply(Function::Multiply, {number(lower.ways), std::move(part)});
        sum = apply(Function::Add, {std::move(sum), std::move(part)});
    }
    return sum;
}

/// By how much a maximum or a mean moves, 0 where there was none.
ArrayId Builder::moves(TermId gauge) {
    const auto found = moves_.find(gauge);
    if (found != moves_.end()) return found->second;
    const Term term = algebra_[gauge];
    invariant(term.kind == Kind::Fold, "a mean moves before the states that are relative to it");
    Expression before = apply(Function::Guard, {reference(term, gauge, Where::Before)});
    Expression after = apply(Function::Guard, {reference(term, gauge, Where::After)});
    const ArrayId made = helper("_move", algebra_.class_of(gauge).axes,
                                apply(Function::Subtract, {std::move(before), std::move(after)}));
    moves_.emplace(gauge, made);
    return made;
}

Expression Builder::seed(std::uint32_t state, const StateVariable& variable) {
    Expression old = moved(state);
    if (variable.gauge == kZero) return old;
    Expression scaled = apply(Function::Multiply, {old, read_array(repair(variable.gauge))});
    if (variable.monoid == kSum) return scaled;
    // A maximum over nothing is -inf, which a repair of zero must not change.
    Expression seen =
        apply(Function::Greater, {expression(variable.gauge, Where::Before), number(-kInfinity)});
    return apply(Function::Select, {std::move(seen), std::move(scaled), std::move(old)});
}

void Builder::build_state(std::uint32_t state) {
    const StateVariable variable = plan_.states()[state];
    if (variable.first) {
        if (*variable.first != state) return;
        if (variable.picks) return build_pick(state);
        return build_tuple(state);
    }
    serving_ = variable.serves;
    const ArrayId target = state_array(state);
    initialise(target, identity_of(diagram_, variable.monoid, 0));
    Expression value = state_value(variable);
    Expression before = seed(state, variable);
    body_.push_back(fold_statement(target, variable, std::move(value), std::move(before)));
    keep_state(state);
}

/// A fold of several components: as the user wrote it, begun from the state.
void Builder::build_tuple(std::uint32_t first) {
    const StateVariable variable = plan_.states()[first];
    serving_ = variable.serves;
    const Fold& own = std::get<Fold>(diagram_[*plan_.folds()[variable.serves].statement].body);
    Statement update;
    update.box = box_of(serving_);
    update.span = span_of(serving_);
    Fold fold;
    fold.monoid = own.monoid;
    fold.over = own.over;
    const std::uint32_t count = static_cast<std::uint32_t>(own.values.size());
    for (std::uint32_t i = 0; i < count; ++i) {
        const ArrayId target = state_array(first + i);
        initialise(target, identity_of(diagram_, own.monoid, i));
        update.targets.push_back(target);
        fold.values.push_back(own_expression(variable.serves + i));
        fold.seed.push_back(read_array(target));
    }
    update.body = std::move(fold);
    body_.push_back(std::move(update));
    for (std::uint32_t i = 0; i < count; ++i) keep_state(first + i);
}

/// A scan: the chunk's prefixes begin from the fold of all earlier chunks.
void Builder::build_carry(std::size_t index, const std::vector<Expression>& values) {
    const Statement& source = diagram_[cascade_.statements()[index].statement];
    const Fold& fold = std::get<Fold>(source.body);
    Fold carry;
    carry.monoid = fold.monoid;
    carry.over = fold.over;
    carry.values = values;
    Statement update;
    update.box = source.box;
    update.span = source.span;
    serving_ = static_cast<std::uint32_t>(plan_.folds().size());
    for (std::uint32_t i = 0; i < source.targets.size(); ++i) {
        const Array& scanned = diagram_[source.targets[i]];
        std::vector<AxisId> axes;
        for (const AxisId axis : scanned.axes)
            if (!cascade_.is_streamed(axis)) axes.push_back(axis);
        const std::string name = scanned.name.substr(0, scanned.name.find('.'));
        const ArrayId target = make_array(name + "_carry", axes);
        carries_[index * 16 + i] = target;
        Expression first = fold.seed.empty() ? identity_of(diagram_, fold.monoid, i) : fold.seed[i];
        result_.initial.push_back({.targets = {target},
                                   .body = Map{std::move(first)},
                                   .box = source.box,
                                   .span = source.span});
        update.targets.push_back(target);
        carry.seed.push_back(read_array(target));
    }
    update.body = std::move(carry);
    for (std::size_t i = 0; i < update.targets.size(); ++i)
        result_.states.push_back({.state = update.targets[i],
                                  .keeps = AccumulatorState::Keeps::Prefix,
                                  .serves = source.targets[i],
                                  .monoid = fold.monoid});
    updates_.push_back(std::move(update));
}

/// The array of what a state moves with.
ArrayId Builder::gauge_array(TermId gauge) {
    const Term& term = algebra_[gauge];
    return term.kind == Kind::Mean ? mean_array(term.ref)
                                   : state_array(plan_.gauge_state(term.ref));
}

/// Notes what a state that was written keeps, and how it follows its gauges.
void Builder::keep_state(std::uint32_t state) {
    const StateVariable& variable = plan_.states()[state];
    const FoldOver& fold = plan_.folds()[variable.serves];
    AccumulatorState kept{
        .state = state_array(state), .serves = fold.target, .monoid = variable.monoid};
    const bool extreme = variable.monoid == kMax || variable.monoid == kMin;
    if (!fold.target && !variable.is_gauge && (variable.carried || !extreme))
        kept.keeps = AccumulatorState::Keeps::Element;
    if (variable.gauge != kZero) kept.action.scale = repair(variable.gauge);
    for (const auto& [gauge, power] : variable.shifts)
        kept.action.shifts.push_back({gauge_array(gauge), power});
    for (const StateVariable::Lower& lower : variable.lower)
        kept.action.lower.push_back({state_array(lower.state), lower.ways, lower.steps});
    judge_divisor(judged_, state, quoted(kept.state), judgements_);
    judge_exponents(judged_, state, judgements_);
    result_.states.push_back(std::move(kept));
}

}  // namespace napkin::separation
