// Comparisons of data, maxima, selections and monoids of the user's: taken as gauges, in the free
// commutative monoid, or as ordinary numbers at the drawn point take them (field_domain.h).
#include <algorithm>
#include <cmath>

#include "derive/proof/field_domain.h"

namespace napkin::proof {
namespace {

bool holds(Function function, int order) {
    switch (function) {
    case Function::Less: return order < 0;
    case Function::LessEqual: return order <= 0;
    case Function::Greater: return order > 0;
    case Function::GreaterEqual: return order >= 0;
    case Function::Equal: return order == 0;
    case Function::NotEqual: return order != 0;
    default: throw InternalError("not a comparison");
    }
}

int order_of(double a, double b) {
    return a < b ? -1 : a > b ? 1 : 0;
}

bool is_extreme(MonoidId monoid) {
    return monoid == kMax || monoid == kMin;
}

}  // namespace

/// The sign of a - b: of constants the real one, of data a random one. The random order is a total
/// order, so that what holds in every total order comes out.
int FieldDomain::order(const FieldValue& a, const FieldValue& b) {
    if (a.constant && b.constant) return order_of(a.real, b.real);
    if (a.positive && b.is_whole(0)) return 1;
    if (b.positive && a.is_whole(0)) return -1;
    uses_.compares = true;
    if (settings_.choices == Choices::Cells) return order_of(a.real, b.real);
    const std::uint64_t left = key(a);
    const std::uint64_t right = key(b);
    if (left == right) return 0;
    return random_(OrderTag)(left).word() < random_(OrderTag)(right).word() ? -1 : 1;
}

FieldValue FieldDomain::compare(Function function, const FieldValue& a, const FieldValue& b) {
    // Whether something is zero is known of elements: those that are not are zero at no point to
    // speak of.
    if (function == Function::Equal || function == Function::NotEqual)
        for (const auto& [zero, other] : {std::pair{&a, &b}, std::pair{&b, &a}})
            if (zero->is_whole(0) && other->ring.exponential && !other->has_logarithm())
                return number(other->ring.p.is_zero() == (function == Function::Equal) ? 1 : 0);
    return number(holds(function, order(a, b)) ? 1 : 0);
}

/// Whether a choice between two values is taken; else it stays an unknown function of both.
bool FieldDomain::decides(const FieldValue& a, const FieldValue& b) const {
    return !settings_.strict || settings_.choices == Choices::Cells || (a.constant && b.constant);
}

FieldValue FieldDomain::larger(const FieldValue& a, const FieldValue& b, bool smaller) {
    if (decides(a, b)) {
        const int sign = order(a, b);
        return (smaller ? sign <= 0 : sign >= 0) ? a : b;
    }
    uses_.choices = true;
    const std::uint64_t left = key(a);
    const std::uint64_t right = key(b);
    if (left == right) return a;
    note_key(OrderTag, a.ring.degree);
    note_key(OrderTag, b.ring.degree);
    return unknown(random_(OrderTag)(smaller)(std::min(left, right))(std::max(left, right)));
}

/// max(a, -a), an even function of a.
FieldValue FieldDomain::absolute(const FieldValue& a) {
    return larger(a, multiple(a, -1), false);
}

/// Floors and remainders are locally constant: known where the point is, else unknown functions.
FieldValue FieldDomain::to_integer(Function function, std::span<const FieldValue> arguments) {
    const bool known = std::all_of(arguments.begin(), arguments.end(),
                                   [](const FieldValue& each) { return each.constant; });
    uses_.compares = uses_.compares || !known;
    if (known || settings_.choices == Choices::Cells) {
        if (is_bit_operation(function)) {
            const double values[] = {arguments[0].real, arguments[1].real};
            return number(apply_function(function, values));
        }
        const double quotient =
            std::floor(arguments[0].real / (arguments.size() > 1 ? arguments[1].real : 1));
        if (function != Function::Modulo) return number(quotient);
        return add(arguments[0], multiple(multiply(arguments[1], number(quotient)), -1));
    }
    RandomFunction image = random_(FunctionTag)(static_cast<std::uint64_t>(function));
    for (const FieldValue& argument : arguments) {
        note_key(FunctionTag, argument.ring.degree);
        image = image(key(argument));
    }
    return unknown(image);
}

std::int64_t FieldDomain::index(const FieldValue& value) {
    if (!value.whole) throw Undecided("an index depends on values that are unknown here");
    return static_cast<std::int64_t>(value.real);
}

/// True where the fold is taken care of; the rest combines by its rule.
bool FieldDomain::absorb_known(MonoidId monoid, std::span<const FieldValue> identity,
                               std::vector<FieldValue>& state,
                               std::span<const FieldValue> element) {
    if (monoid == kSum) {
        const std::array<FieldValue, 2> both{state[0], element[0]};
        state[0] = apply(Function::Add, both);
        return true;
    }
    if (monoid == kProduct) return false;
    uses_.choices = true;
    if (settings_.choices == Choices::FreeMonoids) {
        absorb_images(monoid, identity, state, element);
        return true;
    }
    if (!is_extreme(monoid)) return false;
    absorb_extreme(monoid, state[0], element[0]);
    return true;
}

void FieldDomain::absorb_extreme(MonoidId monoid, FieldValue& state, const FieldValue& element) {
    const auto nothing =
        monoid == kMax ? FieldValue::Kind::MinusInfinity : FieldValue::Kind::PlusInfinity;
    if (element.kind == nothing || state.kind == FieldValue::Kind::Poison) return;
    const bool takes = state.kind == nothing || !element.finite() ||
                       (monoid == kMax ? element.real > state.real : element.real < state.real);
    // A gauge is drawn when the fold is finished; until then only which elements it has matters.
    if (takes && (state.finite() || state.kind == nothing)) state = element;
}

/// In the free commutative monoid a state is the sum of random images of its elements; identities
/// add nothing, and a state that is the identity so far is the empty sum. Where order matters, the
/// sum is that of a polynomial at a random point.
void FieldDomain::absorb_images(MonoidId monoid, std::span<const FieldValue> identity,
                                std::vector<FieldValue>& state,
                                std::span<const FieldValue> element) {
    const auto is_identity = [&](std::span<const FieldValue> values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const FieldValue& value = values[i];
            if (value.kind != identity[i].kind) return false;
            if (value.finite() && !(value.constant && value.real == identity[i].real)) return false;
        }
        return true;
    };
    for (const FieldValue& each : element)
        if (each.kind == FieldValue::Kind::Poison) {
            for (FieldValue& component : state) component = {};
            return;
        }
    if (is_identity(element)) return;
    const bool empty = is_identity(state);
    RandomFunction tuple = random_(ImageTag)(monoid.value);
    for (const FieldValue& each : element) {
        note_key(ImageTag, each.ring.degree);
        tuple = tuple(key(each));
    }
    for (std::size_t i = 0; i < state.size(); ++i) {
        FieldValue image = unknown(tuple(i));
        image.real = empty || element[i].real > state[i].real ? element[i].real : state[i].real;
        image.rootless = element[i].rootless || (!empty && state[i].rootless);
        if (empty) {
            state[i] = image;
            continue;
        }
        if (!state[i].finite()) continue;
        const bool ordered =
            monoid.index() < needs_.ordered.size() && needs_.ordered[monoid.index()];
        const FieldValue scale = ordered ? unknown(random_(ImageTag)(monoid.value)) : number(1);
        FieldValue sum = add(multiply(state[i], scale), image);
        sum.real = image.real;
        state[i] = sum;
    }
}

void FieldDomain::finish(MonoidId monoid, std::vector<FieldValue>& state) {
    if (settings_.choices != Choices::Gauges || !is_extreme(monoid) || !state[0].finite()) return;
    const double real = state[0].real;
    state[0] = gauge(real);
}

/// A maximum that could be any: 0 + the logarithm of a random square, so that exp(x - gauge) is
/// exp(x) over the square.
FieldValue FieldDomain::gauge(double real) {
    FieldValue value;
    value.kind = FieldValue::Kind::Finite;
    value.factor = power_of_four(random_(GaugeTag)(++gauges_).in_q());
    value.logarithmic = true;
    value.ring.degree = {1, 0};
    value.real = real;
    return value;
}

std::vector<std::pair<FieldValue, FieldValue>> FieldDomain::select(Candidates<FieldValue> elements,
                                                                   std::int64_t ranks) {
    uses_.choices = true;
    const std::size_t count = elements.size();
    std::stable_sort(elements.begin(), elements.end(),
                     [](const auto& a, const auto& b) { return a.first.real > b.first.real; });
    // All that is known of a selection without an order is which elements it chose from.
    RandomFunction all = random_(SelectionTag)(count);
    if (settings_.choices != Choices::Cells) {
        std::uint64_t sum = 0;
        for (const auto& [value, at] : elements) {
            note_key(ImageTag, value.ring.degree);
            sum += random_(ImageTag)(key(value))(static_cast<std::uint64_t>(at)).word();
        }
        all = all(sum);
    }
    std::vector<std::pair<FieldValue, FieldValue>> best;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
        if (rank >= count) {
            best.emplace_back(number(-std::numeric_limits<double>::infinity()), number(kNoIndex));
            continue;
        }
        const auto& [value, at] = elements[rank];
        best.emplace_back(value, number(static_cast<double>(at)));
        if (settings_.choices == Choices::Cells) continue;
        best.back() = {unknown(all(2 * rank)), unknown(all(2 * rank + 1))};
        best.back().first.real = value.real;
        best.back().second.real = static_cast<double>(at);
    }
    return best;
}

bool FieldDomain::equal(const FieldValue& a, const FieldValue& b) {
    if (!a.finite() || !b.finite()) return a.kind == b.kind && a.kind != FieldValue::Kind::Poison;
    if (!a.has_logarithm() && !b.has_logarithm()) return a.ring.p == b.ring.p;
    if (exponential(a).ring.p == exponential(b).ring.p) return true;
    const bool flattened = uses_.flattened;
    const bool same = flat(a).ring.p == flat(b).ring.p;
    uses_.flattened = flattened;
    return same;
}

}  // namespace napkin::proof
