#include "diagrams/check/linear.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace napkin::checking {

namespace {

constexpr std::size_t kMostInequalities = 600;

std::int64_t ceil_quotient(std::int64_t a, std::int64_t b) {
    return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// Divides by the factors' common divisor; the constant rounds up, since the sum is whole.
void tighten(Linear& form) {
    std::int64_t divisor = 0;
    for (const auto& [variable, factor] : form.factors) divisor = std::gcd(divisor, factor);
    if (divisor <= 1) return;
    for (auto& [variable, factor] : form.factors) factor /= divisor;
    form.constant = ceil_quotient(form.constant, divisor);
}

/// Keeps the strongest of inequalities with equal factors; false when one is plainly impossible.
bool simplify(System& system) {
    std::map<std::map<int, std::int64_t>, std::int64_t> strongest;
    for (Linear& form : system) {
        tighten(form);
        if (form.factors.empty()) {
            if (form.constant > 0) return false;
            continue;
        }
        const auto [place, fresh] = strongest.emplace(form.factors, form.constant);
        if (!fresh) place->second = std::max(place->second, form.constant);
    }
    system.clear();
    for (const auto& [factors, constant] : strongest) system.push_back({factors, constant});
    return true;
}

std::int64_t factor_of(const Linear& form, int variable) {
    const auto found = form.factors.find(variable);
    return found == form.factors.end() ? 0 : found->second;
}

/// The sum of two inequalities in which the variable cancels.
std::optional<Linear> combine(const Linear& upper, const Linear& lower, int variable) {
    const std::int64_t a = factor_of(upper, variable);
    const std::int64_t b = -factor_of(lower, variable);
    const std::int64_t divisor = std::gcd(a, b);
    const std::optional<Linear> scaled = add_scaled({}, upper, b / divisor);
    return scaled ? add_scaled(*scaled, lower, a / divisor) : std::nullopt;
}

/// Removes a variable; false when the rest is impossible.
bool eliminate(System& system, int variable) {
    System rest;
    System upper;
    System lower;
    for (Linear& form : system) {
        const std::int64_t factor = factor_of(form, variable);
        (factor == 0 ? rest : factor > 0 ? upper : lower).push_back(std::move(form));
    }
    for (const Linear& above : upper)
        for (const Linear& below : lower) {
            if (rest.size() > kMostInequalities) break;
            // What overflows is left out: fewer inequalities prove less, never something false.
            if (std::optional<Linear> sum = combine(above, below, variable))
                rest.push_back(std::move(*sum));
        }
    system = std::move(rest);
    return simplify(system);
}

/// The variable whose elimination adds the fewest inequalities.
std::optional<int> cheapest(const System& system, std::optional<int> keep) {
    std::map<int, std::pair<std::int64_t, std::int64_t>> counts;
    for (const Linear& form : system)
        for (const auto& [variable, factor] : form.factors)
            ++(factor > 0 ? counts[variable].first : counts[variable].second);
    std::optional<int> best;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const auto& [variable, count] : counts) {
        const std::int64_t cost = count.first * count.second;
        if (variable == keep || cost >= least) continue;
        best = variable;
        least = cost;
    }
    return best;
}

bool project(System& system, std::optional<int> keep) {
    if (!simplify(system)) return false;
    while (const std::optional<int> variable = cheapest(system, keep))
        if (!eliminate(system, *variable)) return false;
    return true;
}

}  // namespace

Linear constant_form(std::int64_t value) {
    return {{}, value};
}
Linear variable_form(int variable) {
    return {{{variable, 1}}, 0};
}

std::optional<Linear> add_scaled(const Linear& a, const Linear& b, std::int64_t factor) {
    Linear sum = a;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(b.constant, factor, &product) ||
        __builtin_add_overflow(sum.constant, product, &sum.constant))
        return std::nullopt;
    for (const auto& [variable, value] : b.factors) {
        std::int64_t& slot = sum.factors[variable];
        if (__builtin_mul_overflow(value, factor, &product) ||
            __builtin_add_overflow(slot, product, &slot))
            return std::nullopt;
        if (slot == 0) sum.factors.erase(variable);
    }
    return sum;
}

bool infeasible(System system) {
    return !project(system, std::nullopt);
}

std::optional<Bounds> bounds_of(System system, int variable) {
    if (!project(system, variable)) return std::nullopt;
    Bounds bounds;
    for (const Linear& form : system) {
        const std::int64_t factor = factor_of(form, variable);
        if (factor > 0) {
            const std::int64_t high = floor_quotient(-form.constant, factor);
            bounds.high = std::min(bounds.high.value_or(high), high);
        } else if (factor < 0) {
            const std::int64_t low = ceil_quotient(form.constant, -factor);
            bounds.low = std::max(bounds.low.value_or(low), low);
        }
    }
    if (bounds.low && bounds.high && *bounds.low > *bounds.high) return std::nullopt;
    return bounds;
}

}  // namespace napkin::checking
