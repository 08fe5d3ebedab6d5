// The two fields: their arithmetic against 128-bit remainders, and the facts that rung 2 rests on.
#include "derive/proof/residue.h"

#include <doctest/doctest.h>

#include <array>

#include "diagrams/random.h"

namespace napkin::test {
namespace {

using proof::InP;
using proof::InQ;
using proof::Wide;

/// Miller and Rabin's test with bases that decide every 64-bit number.
template <class Residue>
bool is_prime() {
    const std::uint64_t modulus = Residue::kModulus;
    std::uint64_t odd = modulus - 1;
    int halvings = 0;
    for (; odd % 2 == 0; odd /= 2) ++halvings;
    for (const std::uint64_t base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
        Residue power = Residue(base).power(odd);
        bool witness = power != Residue(1) && power != -Residue(1);
        for (int i = 1; witness && i < halvings; ++i) {
            power = power * power;
            witness = power != -Residue(1);
        }
        if (witness) return false;
    }
    return true;
}

template <class Residue>
void check_arithmetic(std::uint64_t seed) {
    Random random(seed);
    const std::uint64_t modulus = Residue::kModulus;
    const std::array<std::uint64_t, 5> edges = {0, 1, 2, modulus - 1, modulus - 2};
    for (int trial = 0; trial < 2000; ++trial) {
        const bool edge = trial < 25;
        const std::uint64_t a =
            edge ? edges[static_cast<std::size_t>(trial) / 5] : random.next() % modulus;
        const std::uint64_t b =
            edge ? edges[static_cast<std::size_t>(trial) % 5] : random.next() % modulus;
        const Residue x(a);
        const Residue y(b);
        REQUIRE_EQ((x + y).value(),
                   static_cast<std::uint64_t>((static_cast<Wide>(a) + b) % modulus));
        REQUIRE_EQ((x - y + y), x);
        REQUIRE_EQ((x * y).value(), static_cast<std::uint64_t>(static_cast<Wide>(a) * b % modulus));
        REQUIRE_EQ((-x + x), Residue());
        if (!y.is_zero()) REQUIRE_EQ(x * y.inverse() * y, x);
    }
    CHECK_EQ(Residue::of_integer(-3) + Residue(3), Residue());
}

}  // namespace

TEST_CASE("both moduli are prime, and 4 has order q modulo p") {
    CHECK(is_prime<InP>());
    CHECK(is_prime<InQ>());
    CHECK_EQ(InP(4).power(InQ::kModulus), InP(1));
    CHECK(InP(4) != InP(1));
}

TEST_CASE("arithmetic of residues is that of remainders") {
    check_arithmetic<InP>(1);
    check_arithmetic<InQ>(2);
}

TEST_CASE("powers of four turn sums into products") {
    Random random(3);
    for (int trial = 0; trial < 200; ++trial) {
        const InQ a(random.next());
        const InQ b(random.next());
        REQUIRE_EQ(proof::power_of_four(a), InP(4).power(a.value()));
        REQUIRE_EQ(proof::power_of_four(a + b), proof::power_of_four(a) * proof::power_of_four(b));
        REQUIRE(proof::is_square(proof::power_of_four(a)));
    }
}

TEST_CASE("random functions differ by key and argument, and repeat themselves") {
    const proof::RandomFunction f(1);
    CHECK_EQ(f(2)(3).word(), f(2)(3).word());
    CHECK(f(2)(3).word() != f(3)(2).word());
    CHECK(f(2).word() != f(2)(0).word());
    CHECK(f(2).in_p() != proof::RandomFunction(2)(2).in_p());
    int squares = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) squares += proof::is_square(f(i).in_p()) ? 1 : 0;
    CHECK(squares > 430);
    CHECK(squares < 570);
}

}  // namespace napkin::test
