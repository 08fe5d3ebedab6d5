// Tiles that masks leave, counted in closed form and one by one.
#include "perfmodel/tile_count.h"

#include <doctest/doctest.h>

#include <random>

#include "perfmodel/tile_component.h"
#include "tests/perfmodel/derive_support.h"

namespace napkin {
namespace {

constexpr AxisId kRows{0};
constexpr AxisId kColumns{1};

/// Cuts of rows and columns, further ones in these, with masks where both have been cut.
struct Cuts {
    std::vector<Partition> path;
    std::vector<Expression> masks;
    std::vector<std::size_t> depths;  ///< of the masks, equal conditions
    std::vector<Footprint> dimensions;

    [[nodiscard]] Component component() const {
        Component component;
        for (const Partition& partition : path) component.path.push_back(&partition);
        for (const Footprint& dimension : dimensions) component.dimensions.push_back(&dimension);
        for (const std::size_t depth : depths)
            for (const Expression& mask : masks) component.masks.push_back({&mask, depth});
        return component;
    }
};

Cuts random_cuts(std::mt19937_64& random, std::int64_t extent) {
    const auto size = [&](std::int64_t most) {
        return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
    };
    const auto one_in = [&](std::uint64_t count) { return random() % count == 0; };
    Cuts cuts;
    cuts.path = {{kRows, size(extent / 2), Level::Block, false, {}},
                 {kColumns, size(extent / 2), Level::Block, true, {}}};
    cuts.depths = {2};
    const std::int64_t rows = cuts.path[0].size;
    const std::int64_t columns = cuts.path[1].size;
    if (rows > 1 && !one_in(4))
        cuts.path.push_back({kRows, size(rows - 1), Level::Warps, false, {}});
    if (columns > 1 && !one_in(3)) {
        cuts.path.push_back({kColumns, size(columns - 1), Level::Warps, true, {}});
        if (!one_in(3)) cuts.depths.push_back(cuts.path.size());
    }
    if (one_in(3)) cuts.path.push_back({kRows, 1, Level::Thread, false, {}});
    const Expression apart = apply(Function::Subtract, {axis_index(kRows), axis_index(kColumns)});
    cuts.masks = {apply(Function::LessEqual, {axis_index(kColumns), axis_index(kRows)})};
    if (one_in(2))
        cuts.masks.push_back(
            apply(Function::Less, {apart, number(static_cast<double>(size(extent)), true)}));
    for (const AxisId axis : {kRows, kColumns, kRows})
        if (one_in(2)) cuts.dimensions.push_back(footprint_of(axis));
    return cuts;
}

std::vector<Axis> rows_and_columns(std::int64_t extent) {
    std::vector<Axis> axes(2);
    for (Axis& axis : axes) {
        axis.extent = extent;
        axis.size = Formula(extent);
    }
    axes[0].name = "q";
    axes[1].name = "x";
    return axes;
}

TEST_CASE("tiles that are cut again are counted as they are one by one") {
    std::mt19937_64 random(21);
    int closed = 0;
    int again = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const std::int64_t extent = 4 + static_cast<std::int64_t>(random() % 12);
        const std::vector<Axis> axes = rows_and_columns(extent);
        const Cuts cuts = random_cuts(random, extent);
        const Component component = cuts.component();
        KnownMasks masks(axes);
        const std::optional<std::int64_t> boxes = boxes_value(axes, component, masks);
        if (!boxes) continue;
        ++closed;
        again += cuts.path.size() > 2 ? 1 : 0;
        INFO("trial ", trial, " extent ", extent);
        CHECK_EQ(*boxes, enumerated_value(axes, component, masks));
    }
    CHECK_GT(closed, 100);
    CHECK_GT(again, 80);
}

Expression whole(std::int64_t value) {
    return number(static_cast<double>(value), true);
}

/// Some index of rows and columns that is clamped, divided or multiplied.
Expression random_index(std::mt19937_64& random, std::int64_t extent) {
    const auto below = [&](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
    };
    const Expression row = axis_index(kRows);
    const Expression apart =
        apply(Function::Subtract,
              {apply(Function::Multiply, {whole(1 + below(3)), row}), axis_index(kColumns)});
    const Expression limit = whole(below(extent));
    switch (below(8)) {
    case 0: return apply(Function::Max, {apart, limit});
    case 1: return apply(Function::Min, {apply(Function::Max, {apart, whole(0)}), limit});
    case 2: return apply(Function::Abs, {apply(Function::Subtract, {apart, limit})});
    case 3: return apply(Function::FloorDivide, {apart, whole(1 + below(4))});
    case 4: return apply(Function::Modulo, {apart, whole(1 + below(extent))});
    case 5: return apply(Function::Multiply, {apply(Function::Min, {row, limit}), apart});
    case 6:
        return apply(Function::Select, {apply(Function::Less, {row, limit}), apart,
                                        apply(Function::Min, {axis_index(kColumns), row})});
    default: return apart;
    }
}

TEST_CASE("tiles with indices that are clamped are counted by boxes as they are one by one") {
    std::mt19937_64 random(22);
    for (int trial = 0; trial < 1500; ++trial) {
        const std::int64_t extent = 4 + static_cast<std::int64_t>(random() % 12);
        const std::vector<Axis> axes = rows_and_columns(extent);
        Cuts cuts = random_cuts(random, extent);
        if (random() % 2 == 0) cuts.depths.clear();
        Footprint clamped{{random_index(random, extent)}, std::nullopt, {}};
        if (random() % 3 == 0) clamped.index.push_back(random_index(random, extent));
        if (random() % 2 == 0) clamped.limit = extent;
        cuts.dimensions.push_back(clamped);
        const Component component = cuts.component();
        KnownMasks masks(axes);
        INFO("trial ", trial, " extent ", extent);
        const HalvedSum halved = halved_value(axes, component, masks);
        CHECK(halved.is_exact);
        CHECK_EQ(halved.sum, enumerated_value(axes, component, masks));
    }
}

TEST_CASE("clamped distances are counted along their diagonals, not in every tile") {
    constexpr std::int64_t kExtent = 4096;
    constexpr std::int64_t kLast = 511;
    const std::vector<Axis> axes = rows_and_columns(kExtent);
    const Expression apart = apply(Function::Subtract, {axis_index(kRows), axis_index(kColumns)});
    const Footprint clamped{
        {apply(Function::Min, {apply(Function::Max, {apart, whole(0)}), whole(kLast)})},
        kLast + 1,
        Formula(kLast + 1)};
    const std::vector<Partition> path = {{kRows, 2, Level::Block, false, {}},
                                         {kColumns, 1, Level::Block, true, {}}};
    Component component{{&path[0], &path[1]}, {&clamped}, {}};
    // Both rows of a tile have the same element but where they are between the ends.
    std::int64_t wanted = kExtent / 2 * kExtent;
    for (std::int64_t row = 0; row < kExtent; row += 2)
        for (std::int64_t column = 0; column < kExtent; ++column)
            if (row - column >= 0 && row - column < kLast) ++wanted;
    KnownMasks masks(axes);
    const HalvedSum halved = halved_value(axes, component, masks, 40'000);
    CHECK(halved.is_exact);
    CHECK_EQ(halved.sum, wanted);
    // With fewer boxes it is not known to the value.
    const HalvedSum rough = halved_value(axes, component, masks, 1000);
    CHECK_FALSE(rough.is_exact);
    REQUIRE(rough.sum.has_value());
    CHECK_EQ(static_cast<double>(*rough.sum),
             doctest::Approx(static_cast<double>(wanted)).epsilon(0.02));
}

TEST_CASE("quick counts of masked tiles within tiles are exact, however many there are") {
    constexpr std::int64_t kExtent = 65536;
    const State state = test::derived(
        "diagram causal {\n axis q = 65536, x = q, d = 64\n input Q[q, d], K[x, d], V[x, d] : "
        "bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
        " P[q, x] = softmax[x](if x <= q then S[q, x] else -inf)\n"
        " output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n}\n",
        "fuse all\ngroup q by 128\nstream x by 64\ngroup q by 2 at l2\n");
    const RegionProgram region = test::expanded(state).regions.front();
    const Result<RegionCost> cost = quick_cost_of(region);
    REQUIRE(cost.has_value());
    // Chunks of 64 keys that 128 queries see, and of each 64 parts of two queries.
    std::int64_t chunks = 0;
    for (std::int64_t tile = 0; tile < kExtent / 128; ++tile) chunks += 2 * (tile + 1);
    const auto loaded = [&](const char* array, Level level) {
        for (const Transfer& transfer : cost->transfers)
            if (transfer.name == array && transfer.level == level) return transfer.amount.values;
        return std::int64_t{0};
    };
    CHECK_EQ(loaded("K", Level::Block), chunks * 64 * 64);
    CHECK_EQ(loaded("K", Level::Warps), chunks * 64 * 64 * 64);
    CHECK_EQ(loaded("V", Level::Warps), chunks * 64 * 64 * 64);
}

}  // namespace
}  // namespace napkin
