#include "derive/separation/judge/saved_bounds.h"

#include <algorithm>
#include <functional>
#include <map>

#include "derive/separation/normal_form/normal_form.h"
#include "diagrams/overloaded.h"

namespace napkin::separation {
namespace {

using Renaming = std::map<AxisId, AxisId>;

bool equal(const Diagram& diagram, const Expression& a, const Expression& b, Renaming& axes);

bool equal(const Diagram& diagram, const std::vector<Expression>& a,
           const std::vector<Expression>& b, Renaming& axes) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!equal(diagram, a[i], b[i], axes)) return false;
    return true;
}

bool same_axis(const Diagram& diagram, AxisId a, AxisId b, Renaming& axes) {
    const auto [at, fresh] = axes.try_emplace(a, b);
    return at->second == b && (!fresh || diagram[a].size == diagram[b].size);
}

bool equal(const Diagram& diagram, const Expression& a, const Expression& b, Renaming& axes) {
    if (a.node.index() != b.node.index()) return false;
    return std::visit(
        overloaded{
            [&](const AxisIndex& index) {
                return same_axis(diagram, index.axis, std::get<AxisIndex>(b.node).axis, axes);
            },
            [&](const SizeOf& size) {
                return diagram[size.axis].size == diagram[std::get<SizeOf>(b.node).axis].size;
            },
            [&](const Read& element) {
                const Read& other = std::get<Read>(b.node);
                return same_values(diagram, element.array, other.array) &&
                       equal(diagram, element.index, other.index, axes);
            },
            [&](const Apply& call) {
                const Apply& other = std::get<Apply>(b.node);
                return call.function == other.function &&
                       equal(diagram, call.arguments, other.arguments, axes);
            },
            [&](const Convert& convert) {
                const Convert& other = std::get<Convert>(b.node);
                return convert.type == other.type &&
                       equal(diagram, convert.argument, other.argument, axes);
            },
            [&](const auto&) { return a == b; },
        },
        a.node);
}

/// The statements that an array is computed by, in order.
Region ancestors(const Diagram& diagram, ArrayId array) {
    std::set<StatementId> needed;
    std::vector<ArrayId> open{array};
    while (!open.empty()) {
        const std::optional<StatementId> source = producer(diagram, open.back());
        open.pop_back();
        if (!source || !needed.insert(*source).second) continue;
        for (const ArrayId input : inputs_of(diagram[*source])) open.push_back(input);
    }
    Region region;
    region.statements.assign(needed.begin(), needed.end());
    return region;
}

/// Terms of one algebra in another, arrays that hold the same values by one of them.
class Translation {
public:
    Translation(const Diagram& diagram, const Algebra& from, Algebra& to,
                std::map<AxisId, TermId> index)
        : diagram_(diagram), from_(from), to_(to), index_(std::move(index)) {}

    TermId operator()(TermId id) {
        Term term = from_[id];
        if (term.kind == Kind::Axis) {
            const auto at = index_.find(AxisId{term.ref});
            if (at != index_.end()) return at->second;
        }
        if (term.kind == Kind::Sum) return to_.term_of((*this)(PolynomialId{term.ref}));
        if (term.kind == Kind::Read) term.ref = canonical(ArrayId{term.ref}).value;
        for (TermId& part : term.parts) part = (*this)(part);
        return to_.make(std::move(term));
    }

    PolynomialId operator()(PolynomialId polynomial) {
        PolynomialId sum = kZero;
        for (const auto& [mono, coefficient] : Polynomial(from_[polynomial]).terms) {
            Monomial copy{.exponent = (*this)(mono.exponent), .deferred = mono.deferred};
            for (const auto& [factor, power] : mono.powers)
                copy = to_.multiply(copy, Monomial{.powers = {{(*this)(factor), power}}});
            for (const TermId guard : mono.guards) copy.guards.push_back((*this)(guard));
            sum = to_.add(sum, to_.monomial(std::move(copy), coefficient));
        }
        return sum;
    }

private:
    const Diagram& diagram_;
    const Algebra& from_;
    Algebra& to_;
    std::map<AxisId, TermId> index_;

    [[nodiscard]] ArrayId canonical(ArrayId array) const {
        for (std::uint32_t i = 0; i < array.value; ++i)
            if (same_values(diagram_, ArrayId{i}, array)) return ArrayId{i};
        return array;
    }
};

/// Polynomials over the ancestors' inputs that the array is never below, given to `visit` with
/// their algebra.
using Visit = std::function<void(Algebra&, PolynomialId)>;
void lower_bounds(const Diagram& diagram, ArrayId array, const Visit& visit) {
    const Region region = ancestors(diagram, array);
    std::set<std::vector<AxisId>> tried;
    for (const StatementId id : region.statements) {
        const Fold* fold = std::get_if<Fold>(&diagram[id].body);
        if (fold == nullptr || fold->every_prefix || !tried.insert(fold->over).second) continue;
        Cascade cascade(diagram, region, fold->over);
        const std::optional<TermId> value = cascade.unrounded(array);
        if (cascade.obstacle() || !value) continue;
        Algebra& algebra = cascade.algebra();
        NormalForm normal(algebra, cascade.facts());
        const Form form = normal.of(*value);
        if (!form) continue;
        for (const auto& [mono, coefficient] : Polynomial(algebra[*form]).terms) {
            if (coefficient != 1 || mono.powers.size() != 1 || mono.powers.front().second != 1)
                continue;
            const TermId atom = mono.powers.front().first;
            const Term term = algebra[atom];
            const bool log = term.kind == Kind::Apply && term.function == Function::Log;
            const Term inside = log ? algebra[term.parts.front()] : term;
            if (inside.kind != Kind::Fold) continue;
            const FoldOver& over = cascade.folds()[inside.ref];
            const Form body = normal.of(over.body);
            if (!body || over.monoid != (log ? kSum : kMax) || over.picks) continue;
            PolynomialId bound = *body;
            if (log) {  // the logarithm of a sum is at least that of each of its terms
                const Polynomial sum = algebra[*body];
                const bool exponential = sum.terms.size() == 1 && sum.terms[0].second == 1 &&
                                         sum.terms[0].first.powers.empty() &&
                                         sum.terms[0].first.deferred.empty();
                if (!exponential) continue;
                bound = sum.terms[0].first.exponent;
            }
            visit(algebra, algebra.add(algebra.subtract(*form, algebra.atom(atom)), bound));
        }
    }
}

}  // namespace

bool same_values(const Diagram& diagram, ArrayId a, ArrayId b) {
    if (a == b) return true;
    const std::optional<StatementId> first = producer(diagram, a);
    const std::optional<StatementId> second = producer(diagram, b);
    if (!first || !second || diagram[a].axes.size() != diagram[b].axes.size()) return false;
    const bool rounds = diagram[a].rounds || diagram[b].rounds;
    if (rounds && (diagram[a].rounds != diagram[b].rounds || diagram[a].type != diagram[b].type))
        return false;
    Renaming axes;
    for (std::size_t i = 0; i < diagram[a].axes.size(); ++i)
        if (!same_axis(diagram, diagram[a].axes[i], diagram[b].axes[i], axes)) return false;
    const Statement& one = diagram[*first];
    const Statement& other = diagram[*second];
    if (one.body.index() != other.body.index() || one.targets.size() != 1 ||
        other.targets.size() != 1)
        return false;
    if (const Map* map = std::get_if<Map>(&one.body))
        return equal(diagram, map->value, std::get<Map>(other.body).value, axes);
    const Fold* fold = std::get_if<Fold>(&one.body);
    if (fold == nullptr) return false;
    const Fold& twin = std::get<Fold>(other.body);
    if (fold->monoid != twin.monoid || fold->over.size() != twin.over.size() ||
        fold->every_prefix != twin.every_prefix)
        return false;
    for (std::size_t i = 0; i < fold->over.size(); ++i)
        if (!same_axis(diagram, fold->over[i], twin.over[i], axes)) return false;
    return equal(diagram, fold->values, twin.values, axes) &&
           equal(diagram, fold->seed, twin.seed, axes);
}

bool is_saved_sum_from_maximum(const Diagram& diagram, ArrayId array) {
    const std::optional<StatementId> source = producer(diagram, array);
    const Fold* fold = source ? std::get_if<Fold>(&diagram[*source].body) : nullptr;
    if (fold == nullptr || fold->monoid != kSum || fold->every_prefix) return false;
    const Region region = ancestors(diagram, array);
    Cascade cascade(diagram, region, fold->over);
    Algebra& algebra = cascade.algebra();
    NormalForm normal(algebra, cascade.facts());
    for (const FoldOver& sum : cascade.folds()) {
        if (sum.target != array) continue;
        const Form body = normal.of(sum.body);
        if (!body || algebra[*body].terms.size() != 1) return false;
        const auto [mono, coefficient] = algebra[*body].terms.front();
        if (coefficient < 1 || !mono.powers.empty() || !mono.deferred.empty()) return false;
        for (const auto& [term, times] : Polynomial(algebra[mono.exponent]).terms) {
            if (times != -1 || term.powers.size() != 1 || term.powers.front().second != 1) continue;
            const Term maximum = algebra[term.powers.front().first];
            if (maximum.kind != Kind::Fold) continue;
            const FoldOver& over = cascade.folds()[maximum.ref];
            if (over.monoid != kMax || over.picks || over.over != sum.over) continue;
            const Form largest = normal.of(over.body);
            const PolynomialId rest =
                algebra.subtract(mono.exponent, algebra.monomial(term, times));
            if (largest && *largest == rest) return true;
        }
    }
    return false;
}

std::optional<ArrayId> bounding_array(Cascade& cascade, PolynomialId exponent) {
    Algebra& algebra = cascade.algebra();
    const Diagram& diagram = cascade.diagram();
    for (const auto& [mono, coefficient] : Polynomial(algebra[exponent]).terms) {
        const bool bare = coefficient < 0 && mono.powers.size() == 1 &&
                          mono.powers.front().second == 1 && mono.exponent == kZero;
        if (!bare) continue;
        const Term saved = algebra[mono.powers.front().first];
        const bool computed = saved.kind == Kind::Read && producer(diagram, ArrayId{saved.ref});
        if (!computed) continue;
        const PolynomialId rest = algebra.subtract(exponent, algebra.monomial(mono, coefficient));
        const PolynomialId here = Translation(diagram, algebra, algebra, {})(rest);
        bool found = false;
        lower_bounds(diagram, ArrayId{saved.ref}, [&](Algebra& there, PolynomialId bound) {
            if (there.class_of(bound).folded) return;
            std::map<AxisId, TermId> index;
            const std::vector<AxisId>& axes = diagram[ArrayId{saved.ref}].axes;
            for (std::size_t i = 0; i < axes.size(); ++i) index[axes[i]] = saved.parts[i];
            const PolynomialId least = Translation(diagram, there, algebra, index)(bound);
            const std::optional<double> upper =
                cascade.facts().upper(algebra.add(here, algebra.scale(least, coefficient)));
            found |= upper && *upper <= 0;
        });
        if (found) return ArrayId{saved.ref};
    }
    return std::nullopt;
}

}  // namespace napkin::separation
