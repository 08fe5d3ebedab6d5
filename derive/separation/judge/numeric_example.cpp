#include "derive/separation/judge/numeric_example.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "diagrams/evaluate.h"
#include "diagrams/overloaded.h"

namespace napkin::separation {
namespace {

constexpr int kStreamed = 8;
constexpr int kOthers = 2;

/// A fixed number between -1 and 1.
double drawn(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    return static_cast<double>(z % 2001) / 1000 - 1;
}

using Place = std::map<AxisId, int>;

/// Evaluates terms over a few elements, rounding every operation to float32 where asked to.
class Example {
public:
    Example(Cascade& cascade, TermId moved, double by, bool single)
        : cascade_(cascade), algebra_(cascade.algebra()), moved_(moved), by_(by), single_(single) {}

    double at(TermId id, const Place& place) {
        std::vector<int> key;
        for (const AxisId axis : algebra_.class_of(id).axes) key.push_back(index(axis, place));
        const auto known = values_.find({id, key});
        if (known != values_.end()) return known->second;
        const double value = rounded(compute(id, place, key));
        values_.emplace(std::pair(id, key), value);
        return value;
    }

    /// Every product of the polynomial summed over the fold's axes by itself.
    double multiplied_out(const FoldOver& fold, PolynomialId polynomial) {
        double total = 0;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[polynomial]).terms) {
            const Split parts = split(algebra_, mono, fold.over);
            double sum = 0;
            loop(fold.over, {},
                 [&](const Place& place) { sum = rounded(sum + of(parts.streamed, place)); });
            total = rounded(total + rounded(coefficient * rounded(sum * of(parts.rest, {}))));
        }
        return total;
    }

private:
    Cascade& cascade_;
    Algebra& algebra_;
    TermId moved_;
    double by_;
    bool single_;
    std::map<std::pair<TermId, std::vector<int>>, double> values_;

    [[nodiscard]] double rounded(double value) const {
        return single_ ? static_cast<double>(static_cast<float>(value)) : value;
    }
    [[nodiscard]] int count(AxisId axis) const {
        return cascade_.is_streamed(axis) ? kStreamed : kOthers;
    }
    [[nodiscard]] static int index(AxisId axis, const Place& place) {
        const auto found = place.find(axis);
        return found == place.end() ? 0 : found->second;
    }

    template <class Visit>
    void loop(const std::vector<AxisId>& axes, Place place, const Visit& visit,
              std::size_t at = 0) {
        if (at == axes.size()) return visit(place);
        for (int i = 0; i < count(axes[at]); ++i) {
            place[axes[at]] = i;
            loop(axes, place, visit, at + 1);
        }
    }

    double compute(TermId id, const Place& place, const std::vector<int>& key) {
        const Term term = algebra_[id];
        if (id == moved_) {
            std::uint64_t where = 7;
            for (const int each : key) where = where * 31 + static_cast<std::uint64_t>(each);
            return by_ + drawn(id.value, where);
        }
        switch (term.kind) {
        case Kind::Number: return term.number;
        case Kind::Axis: return index(AxisId{term.ref}, place);
        case Kind::Size: return count(AxisId{term.ref});
        case Kind::Read: return element(term, place);
        case Kind::Fold: return fold(term, place);
        case Kind::Inner: return folded(MonoidId{term.ref}, term.bound, term.parts.front(), place);
        case Kind::Sum: return of(PolynomialId{term.ref}, place);
        case Kind::Convert: return at(term.parts.front(), place);
        case Kind::Mask:
            return at(term.parts.front(), place) != 0 ? 0
                                                      : -std::numeric_limits<double>::infinity();
        case Kind::Apply: return call(term, place);
        case Kind::State:
        case Kind::Late:
        case Kind::Mean:
        case Kind::Relative: break;
        }
        return std::numeric_limits<double>::quiet_NaN();
    }

    double element(const Term& term, const Place& place) {
        std::uint64_t where = term.ref + 11;
        for (const TermId part : term.parts)
            where = where * 31 + static_cast<std::uint64_t>(std::llround(at(part, place)) + 3);
        const ElementType type = cascade_.diagram()[ArrayId{term.ref}].type;
        const double value = drawn(where, 5);
        return is_floating(type) ? value : std::floor(value) + 1;
    }

    double call(const Term& term, const Place& place) {
        if (term.function == Function::Select)
            return at(term.parts[at(term.parts[0], place) != 0 ? 1 : 2], place);
        std::vector<double> arguments;
        for (const TermId part : term.parts) arguments.push_back(at(part, place));
        return apply_function(term.function, arguments);
    }

    double fold(const Term& term, const Place& place) {
        const FoldOver entry = cascade_.folds()[term.ref];
        if (entry.picks || entry.carried_by) return std::numeric_limits<double>::quiet_NaN();
        Place inside;
        for (std::size_t i = 0; i < entry.axes.size() && i < term.parts.size(); ++i)
            inside[entry.axes[i]] = static_cast<int>(std::llround(at(term.parts[i], place)));
        return folded(entry.monoid, entry.over, entry.body, inside);
    }

    double folded(MonoidId monoid, const std::vector<AxisId>& over, TermId body,
                  const Place& place) {
        if (monoid.value > kMin.value) return std::numeric_limits<double>::quiet_NaN();
        const double infinity = std::numeric_limits<double>::infinity();
        double total = monoid == kSum ? 0 : monoid == kProduct ? 1 : infinity;
        if (monoid == kMax) total = -infinity;
        loop(over, place, [&](const Place& inside) {
            const double value = at(body, inside);
            if (monoid == kSum) total = rounded(total + value);
            if (monoid == kProduct) total = rounded(total * value);
            if (monoid == kMax) total = std::max(total, value);
            if (monoid == kMin) total = std::min(total, value);
        });
        return total;
    }

    double of(PolynomialId polynomial, const Place& place) {
        double total = 0;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[polynomial]).terms)
            total = rounded(total + rounded(coefficient * of(mono, place)));
        return total;
    }

    double of(const Monomial& mono, const Place& place) {
        for (const TermId guard : mono.guards)
            if (at(guard, place) == 0) return 0;
        double product = mono.exponent == kZero ? 1 : rounded(std::exp(of(mono.exponent, place)));
        for (const auto& [factor, power] : mono.powers)
            product = rounded(product * rounded(std::pow(at(factor, place), power)));
        return product;
    }
};

template <class Value>
std::optional<NumericExample> least_offset(const Value& value) {
    for (const double by : {1e2, 1e3, 1e4, 1e5, 1e6}) {
        const double exact = value(by, false);
        const double single = value(by, true);
        if (!std::isfinite(exact) || !std::isfinite(single)) return std::nullopt;
        const bool lost = !(std::abs(single - exact) <= 0.1 * std::abs(exact));
        if (lost) return NumericExample{.moved = by, .single = single, .exact = exact};
    }
    return std::nullopt;
}

}  // namespace

std::optional<NumericExample> moved_example(Cascade& cascade, TermId difference, TermId value,
                                            const std::map<AxisId, int>& place) {
    return least_offset([&](double by, bool single) {
        return Example(cascade, value, by, single).at(difference, place);
    });
}

std::optional<NumericExample> moved_example(Cascade& cascade, const FoldOver& fold,
                                            PolynomialId multiplied_out, TermId value) {
    return least_offset([&](double by, bool single) {
        return Example(cascade, value, by, single).multiplied_out(fold, multiplied_out);
    });
}

std::string short_number(double value) {
    const double tens = std::round(std::log10(std::abs(value)));
    if (value >= 1000 && value == std::pow(10, tens))
        return "10^" + std::to_string(static_cast<int>(tens));
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.3g", value);
    return buffer;
}

}  // namespace napkin::separation
