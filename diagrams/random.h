// Random numbers that are the same on every machine: integer arithmetic alone.
#pragma once

#include <cstdint>

namespace napkin {

/// splitmix64: one addition and two multiplications a number, any seed will do.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        return mixed ^ (mixed >> 31);
    }
    /// From 0 to `count` - 1; the bias of the remainder is far below what a test can see.
    std::int64_t below(std::int64_t count) {
        return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count));
    }
    /// Mean 0 and variance 1, without logarithms and cosines: the sum of twelve uniform numbers of
    /// 16 bits, at most 6 in size.
    double normal() {
        std::int64_t sum = 0;
        for (int word = 0; word < 3; ++word)
            for (std::uint64_t bits = next(), part = 0; part < 4; ++part, bits >>= 16)
                sum += static_cast<std::int64_t>(bits & 0xffff);
        return static_cast<double>(2 * sum - 12 * 0xffff) / 0x1p17;
    }

private:
    std::uint64_t state_ = 0;
};

}  // namespace napkin
