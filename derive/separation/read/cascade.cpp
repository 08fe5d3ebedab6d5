#include "derive/separation/read/cascade.h"

#include <algorithm>

#include "derive/separation/algebra/vanishing.h"
#include "diagrams/contains.h"
#include "diagrams/overloaded.h"

namespace napkin::separation {
namespace {

/// A list of the largest elements is kept in full by every merge; a longer one is no small state.
constexpr std::int64_t kLongestList = 32;
/// A longer formula is not substituted, unless what is stabilised is found in it: in a chain whose
/// statements use the one before twice it doubles with each of them.
constexpr double kLongestFormula = 2000;

/// Whether the sizes of both axes follow from that of one.
bool grows_along(const Diagram& diagram, AxisId rank, AxisId over) {
    const std::vector<Symbol> bases = symbols_of(diagram[rank].size);
    const std::vector<Symbol> others = symbols_of(diagram[over].size);
    return std::any_of(bases.begin(), bases.end(),
                       [&](Symbol base) { return contains(others, base); });
}

}  // namespace

Cascade::Cascade(const Diagram& diagram, const Region& region, const std::vector<AxisId>& axes,
                 InTheWay in_the_way)
    : diagram_(diagram),
      region_(region),
      axes_(axes),
      algebra_(axes),
      outside_(diagram),
      facts_(algebra_, [this](const Term& term) { return facts_of(term); }) {
    algebra_.know_vanishing([this](const Term& term) -> std::optional<std::set<TermId>> {
        const std::optional<TermId> body = body_of(term);
        if (!body || !algebra_.class_of(*body).exponential) return std::nullopt;
        return is_in_place(term) ? exponents_of_factors(algebra_, *body) : std::set<TermId>{};
    });
    for (const StatementId id : region.statements) {
        const std::size_t folds = folds_.size();
        add(id);
        if (obstacle_ && in_the_way == InTheWay::Ends) return;
        if (obstacle_) leave_out(id, folds);
    }
    mark_divisors();
    mark_divided();
}

bool Cascade::is_streamed(AxisId axis) const {
    return std::find(axes_.begin(), axes_.end(), axis) != axes_.end();
}

std::string Cascade::axis_names() const {
    std::string text;
    for (const AxisId axis : axes_) text += (text.empty() ? "" : ", ") + diagram_[axis].name;
    return text;
}

std::optional<TermId> Cascade::definition(ArrayId array) const {
    const auto found = definitions_.find(array);
    if (found == definitions_.end()) return std::nullopt;
    return found->second;
}

std::optional<TermId> Cascade::unrounded(ArrayId array) const {
    const auto found = unrounded_.find(array);
    return found == unrounded_.end() ? definition(array) : found->second;
}

std::optional<TermId> Cascade::maximum_of(TermId id) {
    const Term term = algebra_[id];
    if (term.kind != Kind::Read) return std::nullopt;
    const ArrayId array{term.ref};
    const std::optional<StatementId> source = producer(diagram_, array);
    const Fold* fold = source ? std::get_if<Fold>(&diagram_[*source].body) : nullptr;
    if (fold == nullptr || fold->monoid != kMax || diagram_[array].rounds) return std::nullopt;
    const std::vector<AxisId>& own = diagram_[array].axes;
    for (std::size_t i = 0; i < own.size(); ++i)
        if (term.parts[i] != algebra_.axis(own[i])) return std::nullopt;
    const std::optional<Obstacle> before = obstacle_;
    const TermId value = lower(fold->values.front());
    obstacle_ = before;
    return value;
}

Part Cascade::part_of(ArrayId array) const {
    const auto found = producer_.find(array);
    return found == producer_.end() ? Part::Before : statements_[found->second].part;
}

bool Cascade::is_saved(ArrayId array) const {
    return napkin::is_saved(diagram_, region_, array);
}

std::optional<ValueKind> Cascade::kind_of(const FoldOver& fold) const {
    if (!fold.statement || !fold.target) return std::nullopt;
    return kept_kind(diagram_, diagram_[*fold.statement], fold.component);
}

/// What a fold sums or is the largest, smallest or product of.
std::optional<TermId> Cascade::body_of(const Term& term) const {
    const auto body = [](MonoidId monoid, TermId each) {
        return monoid.value <= kMin.value ? std::optional(each) : std::nullopt;
    };
    if (term.kind == Kind::Fold && !folds_[term.ref].picks)
        return body(folds_[term.ref].monoid, folds_[term.ref].body);
    if (term.kind == Kind::State && of_state_) {
        const Summand state = of_state_(term.ref);
        return body(state.monoid, state.body);
    }
    if (term.kind == Kind::Read || term.kind == Kind::Late) {
        const auto known = summands_.find(ArrayId{term.ref});
        if (known != summands_.end()) return known->second;
    }
    return std::nullopt;
}

/// Of an array, a fold or a state.
Facts Cascade::facts_of(const Term& term) const {
    if (term.kind == Kind::State && of_state_) {
        const Summand state = of_state_(term.ref);
        Facts facts = facts_of_fold(state.monoid, facts_.of(state.body));
        facts.low = facts.nonnegative() ? 0 : -kInfinity;  // it may be kept relative to a gauge
        facts.high = facts.high <= 0 ? 0 : kInfinity;
        return facts;
    }
    if (term.kind == Kind::Fold && !folds_[term.ref].picks)
        return facts_of_fold(folds_[term.ref].monoid, facts_.of(folds_[term.ref].body));
    const bool is_array = term.kind == Kind::Read || term.kind == Kind::Late;
    return is_array ? outside_.of(ArrayId{term.ref}) : Facts{};
}

/// Whether a fold or state is read at its own axes.
bool Cascade::is_in_place(const Term& term) const {
    const std::vector<AxisId> own = term.kind == Kind::Fold    ? folds_[term.ref].axes
                                    : term.kind == Kind::State ? of_state_(term.ref).axes
                                                               : diagram_[ArrayId{term.ref}].axes;
    return std::equal(own.begin(), own.end(), term.parts.begin(), term.parts.end(),
                      [&](AxisId axis, TermId part) {
                          const Term& index = algebra_[part];
                          return index.kind == Kind::Axis && AxisId{index.ref} == axis;
                      });
}

bool Cascade::touches(const Statement& statement) const {
    const auto streamed = [&](AxisId axis) { return is_streamed(axis); };
    const std::vector<AxisId> axes = axes_of(diagram_, statement);
    if (std::any_of(axes.begin(), axes.end(), streamed)) return true;
    for (const Expression* expression : expressions_of(statement)) {
        const std::set<AxisId> used = axes_used(*expression);
        if (std::any_of(used.begin(), used.end(), streamed)) return true;
    }
    const std::vector<ArrayId> inputs = inputs_of(statement);
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](ArrayId array) { return part_of(array) != Part::Before; });
}

void Cascade::refuse(Why why, TermId term) {
    if (!obstacle_) obstacle_ = Obstacle{.why = why, .term = term};
}

bool Cascade::stands_for(ArrayId array, TermId term) const {
    const std::set<AxisId>& varies = algebra_.class_of(term).axes;
    const std::vector<AxisId>& own = diagram_[array].axes;
    return std::all_of(own.begin(), own.end(), [&](AxisId axis) { return varies.contains(axis); });
}

void Cascade::define(ArrayId array, TermId term) {
    definitions_[array] = term;
    if (stands_for(array, term)) by_term_.emplace(term, array);
}

void Cascade::add(StatementId id) {
    const Statement& statement = diagram_[id];
    RegionStatement entry{.statement = id};
    verbatim_ = true;
    if (touches(statement)) {
        entry.part =
            std::visit(overloaded{
                           [&](const Map& map) { return add_map(statement, map); },
                           [&](const Fold& fold) { return add_fold(id, statement, fold); },
                           [&](const Select& select) { return add_select(id, statement, select); },
                           [&](const Opaque& opaque) { return add_opaque(statement, opaque); },
                       },
                       statement.body);
    }
    entry.verbatim = verbatim_;
    for (const ArrayId target : statement.targets) producer_[target] = statements_.size();
    statements_.push_back(entry);
}

/// As if the statement had not been added: `folds` were known before.
void Cascade::leave_out(StatementId id, std::size_t folds) {
    obstacle_.reset();
    statements_.pop_back();
    folds_.resize(folds);
    for (const ArrayId target : diagram_[id].targets) {
        producer_.erase(target);
        definitions_.erase(target);
        unrounded_.erase(target);
        summands_.erase(target);
        std::erase_if(by_term_, [&](const auto& each) { return each.second == target; });
    }
}

Part Cascade::materialise(const Statement& statement, const Class& of) {
    const Kind kind = of.folded ? Kind::Late : Kind::Read;
    for (const ArrayId target : statement.targets)
        define(target, algebra_.reference(kind, target.value, diagram_[target].axes));
    return of.folded ? Part::Tail : Part::Chunk;
}

Part Cascade::add_map(const Statement& statement, const Map& map) {
    const ArrayId target = statement.targets.front();
    const TermId value = lower(map.value);
    const Class of = algebra_.class_of(value);
    if (diagram_[target].rounds) {
        unrounded_.emplace(target, value);
        if (!of.mixed()) return materialise(statement, of);
        // The definition stays visible to messages; its rounding separates nothing.
        define(target, algebra_.make(Term{.kind = Kind::Convert,
                                          .ref = static_cast<std::uint32_t>(diagram_[target].type),
                                          .parts = {value}}));
        return Part::Mixed;
    }
    const bool looked_into = of.mixed() || of.exponential || of.infinite;
    if (!looked_into && of.length > kLongestFormula) return materialise(statement, of);
    define(target, value);
    if (of.mixed()) return Part::Mixed;
    return of.folded ? Part::Tail : Part::Chunk;
}

bool Cascade::folds_all(const std::vector<AxisId>& over, const Statement& statement, TermId value) {
    const auto here =
        std::count_if(over.begin(), over.end(), [&](AxisId axis) { return is_streamed(axis); });
    if (here == 0) return false;
    const std::vector<AxisId>& kept = diagram_[statement.targets.front()].axes;
    const Fold* fold = std::get_if<Fold>(&statement.body);
    const bool prefixes = fold != nullptr && fold->every_prefix;
    const bool keeps = !prefixes && std::any_of(kept.begin(), kept.end(),
                                                [&](AxisId axis) { return is_streamed(axis); });
    const bool all = here == static_cast<std::ptrdiff_t>(axes_.size());
    if (!all || keeps || (axes_.size() > 1 && (prefixes || fold == nullptr)))
        refuse(Why::Apart, value);
    return true;
}

Part Cascade::add_fold(StatementId id, const Statement& statement, const Fold& fold) {
    std::vector<TermId> values;
    Class of;
    for (const Expression& value : fold.values) {
        values.push_back(lower(value));
        const Class& one = algebra_.class_of(values.back());
        of.streamed |= one.streamed;
        of.folded |= one.folded;
    }
    for (const Expression& seed : fold.seed) {
        const Class& one = algebra_.class_of(lower(seed));
        of.streamed |= one.streamed;
        of.folded |= one.folded;
    }
    if (!folds_all(fold.over, statement, values.front())) {
        const bool plain = fold.monoid.value <= kMin.value && values.size() == 1;
        if (plain && !of.mixed()) summands_.emplace(statement.targets.front(), values.front());
        if (!of.mixed()) return materialise(statement, of);
        if (values.size() != 1 || !fold.seed.empty() || fold.every_prefix) {
            refuse(Why::Inner, values.front());
            return Part::Mixed;
        }
        Term inner{.kind = Kind::Inner, .ref = fold.monoid.value, .parts = values};
        inner.bound = fold.over;
        define(statement.targets.front(), algebra_.make(std::move(inner)));
        return Part::Mixed;
    }
    if (fold.every_prefix) {
        if (of.folded) refuse(Why::Scan, values.front());
        for (const TermId value : values)
            if (running_divisor(value, kProduct) != nullptr ||
                running_divisor(value, kSum) != nullptr)
                refuse(Why::Quotient, value);
        for (const ArrayId target : statement.targets)
            define(target, algebra_.reference(Kind::Read, target.value, diagram_[target].axes));
        return Part::Prefix;
    }
    for (const TermId value : values)
        if (running_divisor(value, kProduct) != nullptr) refuse(Why::Quotient, value);
    if (fold.monoid == kSum && fold.over.size() == 1)
        if (const std::optional<TermId> found = at_selected(values.front(), fold.over.front())) {
            define_late(statement.targets.front(), *found);
            return Part::Tail;
        }
    for (std::uint32_t i = 0; i < values.size(); ++i) {
        const ArrayId target = statement.targets[i];
        const std::uint32_t one = fold_for({.statement = id,
                                            .component = i,
                                            .target = target,
                                            .monoid = fold.monoid,
                                            .over = fold.over,
                                            .axes = diagram_[target].axes,
                                            .body = values[i]});
        define_fold(target, one);
    }
    return Part::Fold;
}

/// An array that is a fold.
void Cascade::define_fold(ArrayId target, std::uint32_t fold) {
    define_late(target, algebra_.reference(Kind::Fold, fold, diagram_[target].axes));
}

/// An array that folds are needed for; one that is rounded is known after the last chunk.
void Cascade::define_late(ArrayId target, TermId value) {
    if (!diagram_[target].rounds) return define(target, value);
    unrounded_.emplace(target, value);
    define(target, algebra_.reference(Kind::Late, target.value, diagram_[target].axes));
}

/// The fold with this value, an earlier one where it is equal.
std::uint32_t Cascade::fold_for(FoldOver wanted) {
    const bool shared = wanted.monoid.value <= kMin.value && !wanted.picks;
    for (std::uint32_t i = 0; shared && i < folds_.size(); ++i) {
        const FoldOver& fold = folds_[i];
        if (fold.monoid == wanted.monoid && fold.over == wanted.over && fold.axes == wanted.axes &&
            fold.body == wanted.body && !fold.picks)
            return i;
    }
    folds_.push_back(std::move(wanted));
    return static_cast<std::uint32_t>(folds_.size() - 1);
}

Part Cascade::add_select(StatementId id, const Statement& statement, const Select& select) {
    const TermId value = lower(select.value);
    const Class& of = algebra_.class_of(value);
    if (!folds_all({select.over}, statement, value)) {
        if (!of.mixed()) return materialise(statement, of);
        refuse(Why::Select, value);
        return Part::Mixed;
    }
    if (select.rank && grows_along(diagram_, *select.rank, select.over)) refuse(Why::Ranks, value);
    if (select.rank && diagram_[*select.rank].extent > kLongestList) refuse(Why::List, value);
    for (std::uint32_t i = 0; i < statement.targets.size(); ++i) {
        const ArrayId target = statement.targets[i];
        folds_.push_back({.statement = id,
                          .component = i,
                          .target = target,
                          .monoid = kMax,
                          .over = {select.over},
                          .axes = diagram_[target].axes,
                          .body = value,
                          .picks = true});
        define_fold(target, static_cast<std::uint32_t>(folds_.size() - 1));
    }
    return Part::Pick;
}

Part Cascade::add_opaque(const Statement& statement, const Opaque& opaque) {
    Class of;
    std::optional<TermId> last;
    for (const Expression& element : opaque.reads) {
        last = lower(element);
        of.streamed |= algebra_.class_of(*last).streamed;
        of.folded |= algebra_.class_of(*last).folded;
    }
    if (of.mixed() && last) refuse(Why::Function, *last);
    return materialise(statement, of);
}

}  // namespace napkin::separation
