// Random numbers that are the same on every machine: integer arithmetic alone.
#pragma once

#include <cstdint>

#include "diagrams/element_type.h"

namespace napkin {

/// splitmix64: one addition and two multiplications a number, any seed will do.
class Random {
public:
    static constexpr int kNumbersOfNormal = 3;

    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += kStep;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        return mixed ^ (mixed >> 31);
    }
    /// Leaves out so many numbers.
    void skip(std::uint64_t numbers) { state_ += numbers * kStep; }
    /// From 0 to `count` - 1; the bias of the remainder is far below what a test can see.
    std::int64_t below(std::int64_t count) {
        return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count));
    }
    /// Mean 0 and variance 1, without logarithms and cosines: the sum of twelve uniform numbers of
    /// 16 bits, at most 6 in size.
    double normal() {
        constexpr std::uint64_t kEven = 0x0000'ffff'0000'ffff;  // every second part of 16 bits
        std::uint64_t sums = 0;                                 // two, of 32 bits each
        for (int word = 0; word < kNumbersOfNormal; ++word) {
            const std::uint64_t bits = next();
            sums += (bits & kEven) + ((bits >> 16) & kEven);
        }
        const auto sum = static_cast<std::int64_t>((sums & 0xffff'ffff) + (sums >> 32));
        constexpr std::int64_t kMostTwice = std::int64_t{12} * 0xffff;
        return static_cast<double>(2 * sum - kMostTwice) / 0x1p17;
    }

private:
    static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;

    std::uint64_t state_ = 0;
};

inline constexpr int kWideBits = 40;  ///< of wide integers of i64: sums of many are exact
/// An integer of the type, whatever its size, and at times one of those from 2^24 on of which an
/// f32 has not all.
[[nodiscard]] double wide_integer(ElementType type, Random& random);

}  // namespace napkin
