#include "derive/separation/write/builder.h"

#include <algorithm>

#include "derive/separation/write/formula_text.h"
#include "diagrams/value_kind.h"

namespace napkin::separation {

Builder::Builder(Cascade& cascade, Plan& plan, NormalForm& normal, NormalForm& tail,
                 const std::map<ArrayId, ElementType>& stored)
    : cascade_(cascade),
      plan_(plan),
      normal_(normal),
      tail_(tail),
      algebra_(cascade.algebra()),
      diagram_(cascade.diagram()),
      judged_{cascade, plan, normal, tail, stored},
      tail_judge_(judged_, [this](PolynomialId form) {
          return "`" + text_of(expression(form, Where::Tail)) + "`";
      }) {
    result_.axes = cascade.axes();
    for (const Array& each : diagram_.arrays) names_.insert(each.name);
    register_forms();
}

/// Arrays of the region that may be read in place of an equal value.
void Builder::register_forms() {
    for (const RegionStatement& each : cascade_.statements()) {
        const Statement& source = diagram_[each.statement];
        if (each.part == Part::Before || !std::holds_alternative<Map>(source.body)) continue;
        const ArrayId target = source.targets.front();
        const TermId term = *cascade_.definition(target);
        if (!cascade_.stands_for(target, term)) continue;
        if (each.part == Part::Chunk && algebra_.class_of(term).streamed) {
            if (const Form form = normal_.of(term)) chunk_forms_.emplace(*form, target);
        } else if (each.part == Part::Tail) {
            const Form form = tail_.of(term);
            if (form && algebra_[algebra_.term_of(*form)].kind == Kind::Sum)
                tail_forms_.emplace(*form, target);
        }
    }
}

const Array& Builder::array(ArrayId id) const {
    const std::size_t own = diagram_.arrays.size();
    return id.index() < own ? diagram_[id] : result_.arrays[id.index() - own];
}

ArrayId Builder::make_array(const std::string& name, std::vector<AxisId> axes, ElementType type) {
    std::string unique = name;
    const char* gap = name.back() >= '0' && name.back() <= '9' ? "_" : "";
    for (int i = 2; !names_.insert(unique).second; ++i) unique = name + gap + std::to_string(i);
    Array made;
    made.name = unique;
    made.named = false;
    made.axes = std::move(axes);
    made.type = type;
    for (std::uint32_t i = 0; i < made.axes.size(); ++i) made.layout.push_back(i);
    made.span = span_of(serving_);
    result_.arrays.push_back(std::move(made));
    return ArrayId{static_cast<std::uint32_t>(diagram_.arrays.size() + result_.arrays.size() - 1)};
}

ArrayId Builder::make_array(const std::string& name, std::vector<AxisId> axes) {
    return *untyped_.insert(make_array(name, std::move(axes), ElementType::I64)).first;
}

ArrayId Builder::make_served(const std::string& name, std::vector<AxisId> axes) {
    return is_real(serving_) ? make_array(name, std::move(axes), ElementType::F32)
                             : make_array(name, std::move(axes));
}

ArrayId Builder::make_like(ArrayId other, const std::string& name) {
    const std::vector<AxisId> axes = array(other).axes;
    return untyped_.contains(other) ? make_array(name, axes)
                                    : make_array(name, axes, array(other).type);
}

/// Whether the fold is one of real numbers as the user wrote it.
bool Builder::is_real(std::uint32_t fold) const {
    return fold < plan_.folds().size() && cascade_.kind_of(plan_.folds()[fold]) == ValueKind::Real;
}

/// Arrays get the types of their values, and what is computed from integers is so still.
void Builder::settle() {
    std::vector<const Statement*> all;
    for (const std::vector<Statement>* part : {&result_.initial, &result_.body, &result_.tail})
        for (const Statement& each : *part) all.push_back(&each);
    Diagram whole = scope();
    settle_types(whole, untyped_, all);
    for (const ArrayId each : untyped_)
        result_.arrays[each.index() - diagram_.arrays.size()].type = whole[each].type;
    for (const Statement* each : all)
        if (const std::optional<ArrayId> target = inexact_target(whole, *each))
            throw Inexact{*target};
}

/// The name of the array that a fold serves: its own, up to the dot of an unnamed one.
std::string Builder::base_name(std::uint32_t fold) const {
    const FoldOver& entry = plan_.folds()[fold];
    std::string name = "fold";
    if (entry.target)
        name = diagram_[*entry.target].name;
    else if (entry.statement)
        name = diagram_[diagram_[*entry.statement].targets.front()].name;
    return name.substr(0, name.find('.'));
}

BoxId Builder::box_of(std::uint32_t fold) const {
    if (fold >= plan_.folds().size()) return BoxId{};
    const FoldOver& entry = plan_.folds()[fold];
    return entry.statement ? diagram_[*entry.statement].box : BoxId{};
}

Span Builder::span_of(std::uint32_t fold) const {
    if (fold >= plan_.folds().size()) return Span{};
    const FoldOver& entry = plan_.folds()[fold];
    return entry.statement ? diagram_[*entry.statement].span : Span{};
}

Statement Builder::statement(ArrayId target, Expression value) const {
    return {.targets = {target},
            .body = Map{std::move(value)},
            .box = box_of(serving_),
            .span = span_of(serving_)};
}

Statement Builder::fold_statement(ArrayId target, const StateVariable& state, Expression value,
                                  Expression seed) const {
    Fold fold;
    fold.monoid = state.monoid;
    fold.over = state.over;
    fold.values.push_back(std::move(value));
    fold.seed.push_back(std::move(seed));
    return {.targets = {target},
            .body = std::move(fold),
            .box = box_of(serving_),
            .span = span_of(serving_)};
}

/// The diagram with the arrays made so far.
const Diagram& Builder::scope() {
    if (!scope_) scope_ = diagram_;
    std::vector<Array>& arrays = scope_->arrays;
    arrays.resize(diagram_.arrays.size());
    arrays.insert(arrays.end(), result_.arrays.begin(), result_.arrays.end());
    return *scope_;
}

/// The expression in the user's names and those of this accumulator.
std::string Builder::text_of(const Expression& written) {
    return formula_text(scope(), written);
}

/// An array of the body, the streamed axis last; also along what cancels in its normal form, and
/// not in the user's own words.
ArrayId Builder::helper(const std::string& suffix, const std::set<AxisId>& axes, Expression value,
                        std::optional<ElementType> type, const std::string& name) {
    const std::vector<AxisId>& order = plan_.folds()[serving_].axes;
    std::set<AxisId> along = axes_used(value);
    along.insert(axes.begin(), axes.end());
    std::vector<AxisId> sorted(along.begin(), along.end());
    const auto rank = [&](AxisId axis) {
        if (cascade_.is_streamed(axis)) return order.size() + 1;
        return static_cast<std::size_t>(std::find(order.begin(), order.end(), axis) -
                                        order.begin());
    };
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](AxisId a, AxisId b) { return rank(a) < rank(b); });
    const std::string full = (name.empty() ? base_name(serving_) : name) + suffix;
    const ArrayId made = type ? make_array(full, sorted, *type) : make_served(full, sorted);
    body_.push_back(statement(made, std::move(value)));
    return made;
}

/// Whether a sum of it is a number of elements.
bool Builder::is_count(PolynomialId form) const {
    const auto& terms = algebra_[form].terms;
    if (terms.size() != 1 || terms.front().second != 1) return false;
    const Monomial& mono = terms.front().first;
    return mono.powers.empty() && mono.exponent == kZero;
}

/// The type that keeps a result until it is complete: what is rounded is so after the last chunk.
ElementType Builder::exact_type(ArrayId result, const StateVariable& variable) const {
    const Array& array = diagram_[result];
    if (is_real(variable.serves)) return ElementType::F32;
    if (!is_floating(array.type) && (!array.rounds || array.type == ElementType::Bool))
        return array.type;
    if (variable.picks && variable.component == 1)  // an index, or kNoIndex
        return array.type == ElementType::I64 ? array.type : ElementType::I32;
    return ElementType::I64;
}

/// What travels is an element of an array; nullopt where it is computed.
std::optional<ElementType> Builder::type_of_payload(const StateVariable& variable) {
    const Term& term = algebra_[algebra_.term_of(variable.form)];
    if (term.kind != Kind::Read) return std::nullopt;
    const ElementType type = diagram_[ArrayId{term.ref}].type;
    return is_floating(type) ? ElementType::F32 : type;
}

ArrayId Builder::state_array(std::uint32_t state) {
    const auto found = state_arrays_.find(state);
    if (found != state_arrays_.end()) return found->second;
    const StateVariable& variable = plan_.states()[state];
    const FoldOver& fold = plan_.folds()[variable.serves];
    static constexpr const char* kSuffix[] = {"_sum", "_prod", "_max", "_min"};
    std::string suffix = "_state";
    if (variable.weighs && is_count(variable.form))
        suffix = "_count";
    else if (variable.carried)
        suffix = "_payload_best";
    else if (variable.picks)
        suffix = variable.component == 0 ? "_best" : "_at";
    else if (variable.monoid.value < 4)
        suffix = kSuffix[variable.monoid.value];
    std::optional<ElementType> type;
    if (variable.carried)
        type = type_of_payload(variable);
    else if (fold.target && (variable.verbatim || variable.picks))
        type = exact_type(*fold.target, variable);
    const std::uint32_t before = std::exchange(serving_, variable.serves);
    const std::string name = base_name(variable.serves) + suffix;
    const ArrayId made =
        type ? make_array(name, variable.axes, *type) : make_served(name, variable.axes);
    serving_ = before;
    state_arrays_.emplace(state, made);
    return made;
}

ArrayId Builder::mean_array(std::uint32_t mean) {
    const auto found = mean_arrays_.find(mean);
    if (found != mean_arrays_.end()) return found->second;
    const MeanGauge& variable = plan_.means()[mean];
    const Term& value = algebra_[variable.value];
    const auto known = cascade_.arrays_by_term().find(variable.value);
    std::string name = "value";
    if (known != cascade_.arrays_by_term().end())
        name = diagram_[known->second].name;
    else if (value.kind == Kind::Read)
        name = diagram_[ArrayId{value.ref}].name;
    const ArrayId made =
        make_array(name.substr(0, name.find('.')) + "_centre", variable.axes, ElementType::F32);
    mean_arrays_.emplace(mean, made);
    return made;
}

void Builder::provide(std::string condition) {
    std::vector<std::string>& all = result_.conditions;
    if (std::find(all.begin(), all.end(), condition) == all.end())
        all.push_back(std::move(condition));
}

Expression Builder::read_array(ArrayId id) const {
    return read_axes(id, array(id).axes);
}

void Builder::need_chunk(ArrayId id) {
    for (std::size_t i = 0; i < cascade_.statements().size(); ++i) {
        const RegionStatement& each = cascade_.statements()[i];
        const Statement& source = diagram_[each.statement];
        if (std::find(source.targets.begin(), source.targets.end(), id) == source.targets.end())
            continue;
        if (each.part != Part::Chunk && each.part != Part::Prefix) return;
        if (!chunk_statements_.insert(i).second || !each.verbatim) return;
        for (const ArrayId input : inputs_of(source)) need_chunk(input);
    }
}

/// A mapped statement; one that reads another chunk's element is written anew, over what that is
/// made of and what stands before it.
Statement Builder::in_chunk(std::size_t index) {
    const RegionStatement& each = cascade_.statements()[index];
    Statement copy = diagram_[each.statement];
    if (each.verbatim) return copy;
    for (std::size_t later = index; later < cascade_.statements().size(); ++later)
        for (const ArrayId target : diagram_[cascade_.statements()[later].statement].targets)
            excluded_.insert(target);
    renew(copy,
          [&](const Expression& value) { return expression(cascade_.lower(value), Where::Chunk); });
    excluded_.clear();
    return copy;
}

/// Mapped statements in the region's order; writing one may ask for others.
std::vector<Statement> Builder::chunk_statements() {
    std::map<std::size_t, Statement> written;
    while (written.size() < chunk_statements_.size())
        for (const std::size_t index : std::set<std::size_t>(chunk_statements_)) {
            if (written.contains(index)) continue;
            Statement& copy = written[index] = in_chunk(index);
            if (cascade_.statements()[index].part != Part::Prefix) continue;
            build_carry(index, std::get<Fold>(copy.body).values);
            Fold& fold = std::get<Fold>(copy.body);
            fold.seed.clear();
            for (std::size_t i = 0; i < copy.targets.size(); ++i)
                fold.seed.push_back(read_array(carries_.at(index * 16 + i)));
        }
    std::vector<Statement> all;
    for (auto& [index, statement] : written) all.push_back(std::move(statement));
    return all;
}

Accumulator Builder::finish() {
    mark_gauges();
    for (const StateVariable& state : plan_.states()) find_means(state.form);
    const std::map<std::uint32_t, ArrayId> means = mean_arrays_;
    for (const auto& [mean, array] : means) {
        if (!plan_.means()[mean].weight)
            build_held_mean(mean);
        else
            (void)plan_.weight_state(mean);
    }
    for (std::uint32_t i = 0; i < plan_.states().size(); ++i)
        if (plan_.states()[i].is_gauge) build_early(i);
    for (const auto& [mean, array] : means)
        if (plan_.means()[mean].weight) build_running_mean(mean);
    // A state that moves reads those of lower powers as they were before.
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < plan_.states().size(); ++i)
        if (!next_arrays_.contains(i)) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return plan_.states()[a].lower.size() > plan_.states()[b].lower.size();
    });
    for (const std::uint32_t state : order) build_state(state);
    drop_unused_tail();
    judge_differences(judged_, judgements_);
    judge_scales(judged_, judgements_);
    judge_running_sums(judged_, judgements_);
    judge_rounded_divisors(judged_, judgements_);
    tail_judge_.judge(judgements_);
    drop_unused_tail();  // what is judged is written, too
    result_.obligations = judgements_.all();
    std::vector<Statement> mapped = chunk_statements();
    result_.body = std::move(mapped);
    for (Statement& each : body_) result_.body.push_back(std::move(each));
    for (Statement& each : updates_) result_.body.push_back(std::move(each));
    settle();
    return std::move(result_);
}

}  // namespace napkin::separation
