// Integers modulo the two primes of rung 2: q = 2^61 - 5283 and p = 2 q + 1 = 2^62 - 10565.
//
// 4 has order q modulo p, so 4^b is an exponential of b in Z_q with values in Z_p:
// 4^(a+b) = 4^a 4^b. Both moduli lie just below a power of two, which makes reduction two
// multiplications by a small number.
#pragma once

#include <compare>
#include <cstdint>

namespace napkin::proof {

__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using): a using cannot be

/// An integer modulo 2^kBits - kGap, a prime.
template <int kBits, std::uint64_t kGap>
class Residue {
public:
    static constexpr std::uint64_t kModulus = (std::uint64_t{1} << kBits) - kGap;

    constexpr Residue() = default;
    /// Any unsigned number, reduced.
    constexpr explicit Residue(std::uint64_t value) : value_(value % kModulus) {}
    [[nodiscard]] static constexpr Residue of_integer(std::int64_t value) {
        const Residue size(value < 0 ? -static_cast<std::uint64_t>(value)
                                     : static_cast<std::uint64_t>(value));
        return value < 0 ? -size : size;
    }

    /// The representative in [0, kModulus).
    [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
    [[nodiscard]] constexpr bool is_zero() const { return value_ == 0; }
    auto operator<=>(const Residue&) const = default;

    friend constexpr Residue operator+(Residue a, Residue b) {
        const std::uint64_t sum = a.value_ + b.value_;
        return raw(sum >= kModulus ? sum - kModulus : sum);
    }
    friend constexpr Residue operator-(Residue a, Residue b) {
        return raw(a.value_ >= b.value_ ? a.value_ - b.value_ : a.value_ + kModulus - b.value_);
    }
    friend constexpr Residue operator-(Residue a) { return Residue() - a; }
    friend constexpr Residue operator*(Residue a, Residue b) {
        return reduced(static_cast<Wide>(a.value_) * b.value_);
    }
    /// Of a number of up to 125 bits.
    [[nodiscard]] static constexpr Residue reduced(Wide number) {
        // 2^kBits = kGap: the high part comes down multiplied by kGap, twice.
        const Wide once = (number >> kBits) * kGap + (static_cast<std::uint64_t>(number) & kMask);
        const std::uint64_t twice = static_cast<std::uint64_t>(once >> kBits) * kGap +
                                    (static_cast<std::uint64_t>(once) & kMask);
        return raw(twice >= kModulus ? twice - kModulus : twice);
    }

    [[nodiscard]] constexpr Residue power(std::uint64_t exponent) const {
        Residue result = raw(1);
        Residue base = *this;
        for (; exponent != 0; exponent >>= 1) {
            if ((exponent & 1) != 0) result = result * base;
            base = base * base;
        }
        return result;
    }
    /// Of zero: zero.
    [[nodiscard]] constexpr Residue inverse() const { return power(kModulus - 2); }

private:
    static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
    [[nodiscard]] static constexpr Residue raw(std::uint64_t value) {
        Residue result;
        result.value_ = value;
        return result;
    }
    std::uint64_t value_ = 0;
};

using InQ = Residue<61, 5283>;
using InP = Residue<62, 10565>;
static_assert(InQ::kModulus == 2305843009213688669ULL);
static_assert(InP::kModulus == 2 * InQ::kModulus + 1);

/// 4^exponent, by a table: the exponential of the field pair.
[[nodiscard]] InP power_of_four(InQ exponent);

/// Whether a number is a power of 4, that is a square; zero is none.
[[nodiscard]] inline bool is_square(InP value) {
    return value.power(InQ::kModulus) == InP(1);
}

/// Random functions of 64-bit words, different for every key: what has no algebra of its own is
/// one of these, so that equal arguments are all that is known to give equal values.
class RandomFunction {
public:
    explicit RandomFunction(std::uint64_t key) : state_(mix(key ^ 0x6e61706b696e2d32)) {}
    /// The function of one argument more.
    [[nodiscard]] RandomFunction operator()(std::uint64_t word) const {
        RandomFunction next = *this;
        next.state_ = mix(state_ ^ mix(word + 0x9e3779b97f4a7c15));
        return next;
    }
    [[nodiscard]] std::uint64_t word() const { return mix(state_); }
    [[nodiscard]] InP in_p() const { return InP::reduced(wide(1)); }
    [[nodiscard]] InQ in_q() const { return InQ::reduced(wide(2)); }

private:
    static constexpr std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        z = (z ^ (z >> 31)) * 0xd6e8feb86659fd93;
        return z ^ (z >> 32);
    }
    /// 125 bits, so that the remainder by a modulus has no bias that could be seen.
    [[nodiscard]] Wide wide(std::uint64_t lane) const {
        return (static_cast<Wide>(mix(state_ + lane)) << 61) ^ mix(state_ ^ ~lane);
    }
    std::uint64_t state_ = 0;
};

}  // namespace napkin::proof
