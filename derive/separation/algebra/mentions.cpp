#include "derive/separation/algebra/mentions.h"

#include <algorithm>
#include <map>

namespace napkin::separation {
namespace {

class Finder {
public:
    Finder(const Algebra& algebra, const std::function<bool(TermId)>& wanted, Within within)
        : algebra_(algebra), wanted_(wanted), within_(within) {}

    bool in(TermId where) {
        if (wanted_(where)) return true;
        if (!seen_.insert(where).second) return false;
        const Term& term = algebra_[where];
        if (term.kind == Kind::Relative && within_ == Within::AllButRelative) return false;
        if (term.kind == Kind::Sum && in(PolynomialId{term.ref})) return true;
        return std::any_of(term.parts.begin(), term.parts.end(),
                           [&](TermId part) { return in(part); });
    }
    bool in(PolynomialId where) {
        if (!seen_sums_.insert(where).second) return false;
        const auto& terms = algebra_[where].terms;
        return std::any_of(terms.begin(), terms.end(),
                           [&](const auto& term) { return in(term.first); });
    }
    bool in(const Monomial& where) {
        return (where.exponent != kZero && in(where.exponent)) ||
               std::any_of(where.powers.begin(), where.powers.end(),
                           [&](const auto& factor) { return in(factor.first); });
    }

private:
    const Algebra& algebra_;
    const std::function<bool(TermId)>& wanted_;
    Within within_;
    std::set<TermId> seen_;
    std::set<PolynomialId> seen_sums_;
};

/// How many arrays are read at indices from one another; `known` has those asked for before.
int depth_of_reads(const Algebra& algebra, TermId id, std::map<TermId, int>& known) {
    if (const auto found = known.find(id); found != known.end()) return found->second;
    const Term& term = algebra[id];
    int deepest = 0;
    const auto look = [&](TermId part) {
        deepest = std::max(deepest, depth_of_reads(algebra, part, known));
    };
    for (const TermId part : term.parts) look(part);
    if (term.kind == Kind::Sum)
        for (const auto& [mono, coefficient] : algebra[PolynomialId{term.ref}].terms)
            for (const auto& [factor, power] : mono.powers) look(factor);
    const bool reads =
        term.kind == Kind::Read || term.kind == Kind::Fold || term.kind == Kind::State;
    return known[id] = deepest + (reads ? 1 : 0);
}

template <class Where>
std::set<std::uint32_t> all_folds(const Algebra& algebra, Where where) {
    std::set<std::uint32_t> folds;
    (void)mentions(algebra, where, [&](TermId id) {
        if (algebra[id].kind == Kind::Fold) folds.insert(algebra[id].ref);
        return false;
    });
    return folds;
}

template <class Where>
bool find(const Algebra& algebra, const Where& where, TermId wanted, Within within) {
    const std::function<bool(TermId)> is_wanted = [&](TermId id) { return id == wanted; };
    return Finder(algebra, is_wanted, within).in(where);
}

}  // namespace

bool mentions(const Algebra& algebra, PolynomialId where, const std::function<bool(TermId)>& wanted,
              Within within) {
    return Finder(algebra, wanted, within).in(where);
}

bool mentions(const Algebra& algebra, TermId where, const std::function<bool(TermId)>& wanted,
              Within within) {
    return Finder(algebra, wanted, within).in(where);
}

bool mentions(const Algebra& algebra, TermId where, TermId wanted, Within within) {
    return find(algebra, where, wanted, within);
}

bool mentions(const Algebra& algebra, PolynomialId where, TermId wanted, Within within) {
    return find(algebra, where, wanted, within);
}

bool mentions(const Algebra& algebra, const Monomial& where, TermId wanted, Within within) {
    return find(algebra, where, wanted, within);
}

std::set<std::uint32_t> folds_in(const Algebra& algebra, TermId value) {
    return all_folds(algebra, value);
}

std::set<std::uint32_t> folds_in(const Algebra& algebra, PolynomialId value) {
    return all_folds(algebra, value);
}

std::vector<TermId> in_order_of_reads(const Algebra& algebra, std::vector<TermId> conditions) {
    std::map<TermId, int> known;
    std::stable_sort(conditions.begin(), conditions.end(), [&](TermId a, TermId b) {
        return depth_of_reads(algebra, a, known) < depth_of_reads(algebra, b, known);
    });
    return conditions;
}

}  // namespace napkin::separation
