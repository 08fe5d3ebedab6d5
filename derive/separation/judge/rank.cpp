#include "derive/separation/judge/rank.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace napkin::separation {
namespace {

// Arithmetic of its own: the proof, which judges what separation makes, has none in common with it.
__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using): a using cannot be
constexpr std::uint64_t kQ = 2305843009213688669ULL;
constexpr std::uint64_t kP = 2 * kQ + 1;

std::uint64_t times(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
    return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % modulus);
}
std::uint64_t plus(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
    return static_cast<std::uint64_t>((static_cast<Wide>(a) + b) % modulus);
}
std::uint64_t minus(std::uint64_t a, std::uint64_t modulus) {
    return a == 0 ? 0 : modulus - a;
}
std::uint64_t raise(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulus) {
    std::uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1) != 0) result = times(result, base, modulus);
        base = times(base, base, modulus);
    }
    return result;
}
std::uint64_t inverse(std::uint64_t a, std::uint64_t modulus) {
    return raise(a, modulus - 2, modulus);
}
/// A fixed random function of 64-bit values.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = a + 0x9e3779b97f4a7c15ULL * (b + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/// One value in both fields, and an ordinary number that decides comparisons.
struct Sample {
    std::uint64_t in_p = 0;
    std::uint64_t in_q = 0;
    double real = 0;
};

Sample of_number(double value) {
    Sample sample{.real = value};
    if (!std::isfinite(value)) return {mix(7, value < 0), mix(8, value < 0), value};
    // A fraction with a power of two below: exact for every double of ordinary size.
    double whole = value;
    int halvings = 0;
    while (whole != std::floor(whole) && halvings < 60) {
        whole *= 2;
        ++halvings;
    }
    const std::uint64_t size = static_cast<std::uint64_t>(std::min(std::abs(whole), 4e18));
    // A half is (modulus + 1) / 2.
    sample.in_p = times(size % kP, raise(kP / 2 + 1, static_cast<std::uint64_t>(halvings), kP), kP);
    sample.in_q = times(size % kQ, raise(kQ / 2 + 1, static_cast<std::uint64_t>(halvings), kQ), kQ);
    if (value < 0) sample = {minus(sample.in_p, kP), minus(sample.in_q, kQ), value};
    return sample;
}

class Sampler {
public:
    explicit Sampler(const Algebra& algebra) : algebra_(algebra) {}

    /// Terms are shared: each is sampled once a point.
    Sample at(TermId id, int x, int r) {
        const std::tuple key{id, x, r};
        if (const auto found = known_.find(key); found != known_.end()) return found->second;
        return known_[key] = computed(id, x, r);
    }

private:
    const Algebra& algebra_;
    std::map<std::tuple<TermId, int, int>, Sample> known_;

    Sample computed(TermId id, int x, int r) {
        const Class& of = algebra_.class_of(id);
        const Term& term = algebra_[id];
        if (term.kind == Kind::Number) return of_number(term.number);
        // A value of one class is free; what depends on neither is followed down to its literals.
        const bool one_class = of.streamed != of.folded;
        if (one_class) return leaf(id, of.streamed ? x : 100 + r);
        if (!of.mixed() && term.kind != Kind::Apply) return leaf(id, 200);
        std::vector<Sample> parts;
        for (const TermId part : term.parts) parts.push_back(at(part, x, r));
        if (term.kind == Kind::Convert) return rounded(parts[0].real);
        if (term.kind != Kind::Apply) return unknown(id.value, parts);
        return call(term, parts);
    }

    Sample leaf(TermId id, int point) const {
        const std::uint64_t draw = mix(mix(id.value, 3), static_cast<std::uint64_t>(point));
        return of_number(static_cast<double>(static_cast<std::int64_t>(draw % 2001) - 1000) / 512);
    }

    static Sample unknown(std::uint64_t key, const std::vector<Sample>& parts) {
        std::uint64_t hash = mix(key, 17);
        for (const Sample& part : parts) hash = mix(mix(hash, part.in_p), part.in_q);
        return {hash % kP, mix(hash, 1) % kQ, static_cast<double>(hash % 1000) / 1000};
    }

    /// To seven binary digits, as a short floating type does.
    static Sample rounded(double value) {
        int exponent = 0;
        const double fraction = std::frexp(value, &exponent);
        return of_number(std::ldexp(std::nearbyint(fraction * 128), exponent - 7));
    }
    static Sample truth(bool value) { return of_number(value ? 1 : 0); }

    static Sample power(const Sample& base, double exponent, std::uint64_t key) {
        const bool whole = exponent == std::floor(exponent) && std::abs(exponent) < 64;
        if (!whole) return unknown(key + 1000, {base, of_number(exponent)});
        const std::uint64_t size = static_cast<std::uint64_t>(std::abs(exponent));
        Sample result{raise(base.in_p, size, kP), raise(base.in_q, size, kQ),
                      std::pow(base.real, exponent)};
        if (exponent < 0) {
            result.in_p = inverse(result.in_p, kP);
            result.in_q = inverse(result.in_q, kQ);
        }
        return result;
    }

    static Sample negated(const Sample& a) {
        return {minus(a.in_p, kP), minus(a.in_q, kQ), -a.real};
    }

    static Sample call(const Term& term, const std::vector<Sample>& parts) {
        const Sample& a = parts[0];
        const Sample b = parts.size() > 1 ? parts[1] : Sample{};
        switch (term.function) {
        case Function::Negate: return negated(a);
        case Function::Add:
            return {plus(a.in_p, b.in_p, kP), plus(a.in_q, b.in_q, kQ), a.real + b.real};
        case Function::Subtract:
            return {plus(a.in_p, minus(b.in_p, kP), kP), plus(a.in_q, minus(b.in_q, kQ), kQ),
                    a.real - b.real};
        case Function::Multiply:
            return {times(a.in_p, b.in_p, kP), times(a.in_q, b.in_q, kQ), a.real * b.real};
        case Function::Divide:
            return {times(a.in_p, inverse(b.in_p, kP), kP), times(a.in_q, inverse(b.in_q, kQ), kQ),
                    a.real / b.real};
        case Function::Power: return power(a, b.real, 1);
        case Function::Exp:
            // An exponential has no exponent part of its own: 4 has order q modulo p.
            return {raise(4, a.in_q, kP), mix(a.in_q, a.in_p) % kQ, std::exp(a.real)};
        case Function::Abs: return a.real < 0 ? negated(a) : a;
        case Function::Max: return a.real >= b.real ? a : b;
        case Function::Min: return a.real <= b.real ? a : b;
        case Function::Floor: return of_number(std::floor(a.real));
        case Function::Less: return truth(a.real < b.real);
        case Function::LessEqual: return truth(a.real <= b.real);
        case Function::Greater: return truth(a.real > b.real);
        case Function::GreaterEqual: return truth(a.real >= b.real);
        case Function::Equal: return truth(a.real == b.real);
        case Function::NotEqual: return truth(a.real != b.real);
        case Function::And: return truth(a.real != 0 && b.real != 0);
        case Function::Or: return truth(a.real != 0 || b.real != 0);
        case Function::Not: return truth(a.real == 0);
        case Function::Select: return a.real != 0 ? parts[1] : parts[2];
        default: return unknown(static_cast<std::uint64_t>(term.function), parts);
        }
    }
};

}  // namespace

int sampled_rank(const Algebra& algebra, TermId term, int points) {
    Sampler sampler(algebra);
    const std::size_t size = static_cast<std::size_t>(points);
    std::vector<std::vector<std::uint64_t>> matrix(size, std::vector<std::uint64_t>(size));
    for (int i = 0; i < points; ++i)
        for (int j = 0; j < points; ++j)
            matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
                sampler.at(term, i, j).in_p;
    std::size_t rank = 0;
    for (std::size_t column = 0; column < size && rank < size; ++column) {
        std::size_t pivot = rank;
        while (pivot < size && matrix[pivot][column] == 0) ++pivot;
        if (pivot == size) continue;
        std::swap(matrix[pivot], matrix[rank]);
        const std::uint64_t scale = inverse(matrix[rank][column], kP);
        for (std::size_t row = rank + 1; row < size; ++row) {
            const std::uint64_t factor = times(matrix[row][column], scale, kP);
            for (std::size_t k = column; k < size; ++k)
                matrix[row][k] =
                    plus(matrix[row][k], minus(times(factor, matrix[rank][k], kP), kP), kP);
        }
        ++rank;
    }
    return static_cast<int>(rank);
}

}  // namespace napkin::separation
