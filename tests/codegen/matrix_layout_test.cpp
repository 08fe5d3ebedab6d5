// Tiles for the tensor core: every element has a place of its own, and what the primitives do at
// once is free of bank conflicts, for every length of rows.
#include <doctest/doctest.h>
#include <tensor.cuh>

#include <set>
#include <utility>

#include "codegen/run/emulated_memory.h"

namespace napkin {
namespace {

constexpr int kRows = 32;

template <class Tile>
int place_bytes(int row, int column) {
    return Tile::place(row, column) * static_cast<int>(sizeof(typename Tile::Element));
}

/// Conflicts of lanes whose element is given by a function to (row, column).
template <class Tile, class Position>
int conflicts(int lanes, int bytes, const Position& position) {
    std::array<long long, 32> places{};
    places.fill(-1);
    for (int lane = 0; lane < lanes; ++lane) {
        const auto [row, column] = position(lane);
        places[static_cast<std::size_t>(lane)] = place_bytes<Tile>(row, column);
    }
    return bank_conflicts(places, bytes);
}

template <class Tile>
void check_places() {
    using T = typename Tile::Element;
    std::set<int> places;
    int wrong = 0;
    for (int row = 0; row < Tile::rows; ++row)
        for (int column = 0; column < Tile::columns; ++column) {
            const int place = place_bytes<Tile>(row, column);
            wrong += place < 0 || place >= Tile::bytes;
            places.insert(place);
            // Units stay whole.
            const int first = place_bytes<Tile>(row, column / Tile::unit * Tile::unit);
            wrong += place - first != column % Tile::unit * static_cast<int>(sizeof(T));
        }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(places.size(), static_cast<std::size_t>(Tile::rows * Tile::columns));
}

template <class Tile>
void check_conflicts() {
    using T = typename Tile::Element;
    constexpr int kUnit = Tile::unit;
    int found = 0;
    for (int row = 0; row < Tile::rows; row += 8)
        for (int column = 0; column < Tile::columns; column += kUnit)
            found +=
                conflicts<Tile>(8, 16, [&](int lane) { return std::pair(row + lane, column); });
    CHECK_EQ(found, 0);  // ldmatrix
    constexpr int kUnits = Tile::rows * Tile::columns / kUnit;
    for (int first = 0; first < kUnits; first += 8)
        found += conflicts<Tile>(8, 16, [&](int lane) {
            const int at = (first + lane) * kUnit;
            return std::pair(at / Tile::columns, at % Tile::columns);
        });
    CHECK_EQ(found, 0);  // copies
    for (int row = 0; row < Tile::rows; row += 8)
        for (int column = 0; column + 8 <= Tile::columns; column += 8)
            found += conflicts<Tile>(32, 2 * sizeof(T), [&](int lane) {
                return std::pair(row + lane / 4, column + lane % 4 * 2);
            });
    CHECK_EQ(found, 0);  // fragments being stored
    if constexpr (sizeof(T) == 4)
        for (int row = 0; row < Tile::rows; row += 4)
            for (int column = 0; column + 8 <= Tile::columns; column += 8)
                found += conflicts<Tile>(
                    32, 4, [&](int lane) { return std::pair(row + lane % 4, column + lane / 4); });
    CHECK_EQ(found, 0);  // operands read by words
}

/// Of tiles whose rows fill all banks: eight units one after the other, and one column of rows that
/// are a unit's elements apart, by eight lanes and four of their neighbours.
template <class T>
void check_turned() {
    constexpr int kLine = 128;
    using Tile = nk::TurnedMatrix<T, 8 * 16 / int(sizeof(T)), 2 * kLine / int(sizeof(T))>;
    INFO("bytes of an element: ", sizeof(T));
    check_places<Tile>();
    int found = 0;
    for (int row = 0; row < Tile::rows; ++row)
        for (int column = 0; column < Tile::columns; column += 8 * Tile::unit)
            found += conflicts<Tile>(
                8, 16, [&](int lane) { return std::pair(row, column + lane * Tile::unit); });
    CHECK_EQ(found, 0);
    for (int row = 0; row < Tile::unit; ++row)
        for (int column = 0; column < Tile::columns; column += 4)
            found += conflicts<Tile>(32, sizeof(T), [&](int lane) {
                return std::pair(row + lane % 8 * Tile::unit, column + lane / 8);
            });
    CHECK_EQ(found, 0);
}

template <class T, int... kEights>
void check_all(std::integer_sequence<int, kEights...>) {
    const auto check = [](auto tile) {
        INFO(decltype(tile)::columns, " columns of ", sizeof(T), " bytes");
        check_places<decltype(tile)>();
        check_conflicts<decltype(tile)>();
    };
    (check(nk::Matrix<T, kRows, 8 * (kEights + 1)>{}), ...);
}

}  // namespace

TEST_CASE("matrix layout: bijective, inside and free of bank conflicts for every row length") {
    check_all<nk::bf16>(std::make_integer_sequence<int, 32>());
    check_all<nk::f16>(std::make_integer_sequence<int, 8>());
    check_all<float>(std::make_integer_sequence<int, 32>());
    check_places<nk::Matrix<nk::e4m3, kRows, 48>>();
    check_places<nk::Matrix<nk::e5m2, kRows, 128>>();
    check_places<nk::Matrix<float, kRows, 20>>();
}

TEST_CASE("matrix layout: columns of turned tiles are free of bank conflicts") {
    check_turned<nk::bf16>();
    check_turned<float>();
    check_turned<nk::e4m3>();
}

TEST_CASE("bank conflicts: counted by what banks serve at once") {
    std::array<long long, 32> places{};
    const auto count = [&](int bytes, auto place) {
        for (int lane = 0; lane < 32; ++lane) places[static_cast<std::size_t>(lane)] = place(lane);
        return bank_conflicts(places, bytes);
    };
    CHECK_EQ(count(4, [](int lane) { return 4 * lane; }), 0);
    CHECK_EQ(count(4, [](int) { return 64; }), 0);  // one word for all
    CHECK_EQ(count(2, [](int lane) { return 2 * lane; }), 0);
    CHECK_EQ(count(4, [](int lane) { return 8 * lane; }), 1);
    CHECK_EQ(count(4, [](int lane) { return 128 * lane; }), 31);
    CHECK_EQ(count(8, [](int lane) { return 8 * lane; }), 0);
    CHECK_EQ(count(16, [](int lane) { return 16 * lane; }), 0);
    CHECK_EQ(count(16, [](int lane) { return 128 * lane; }), 4 * 7);
    CHECK_EQ(count(16, [](int lane) { return lane < 8 ? 32 * lane : -1; }), 1);
}

}  // namespace napkin
