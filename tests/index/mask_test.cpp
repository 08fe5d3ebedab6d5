// Boxes that masks meet and cover against visiting every point: known masks exactly, any condition
// without a wrong answer; and chunks by number against asking about every chunk.
#include "diagrams/index/mask.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "tests/index/known_masks.h"
#include "tests/support/random_index.h"

namespace napkin::index {

namespace {

struct Judged {
    bool any = false;
    bool all = true;
};
Judged brute_force(const std::vector<Axis>& axes, const Expression& condition, const Ranges& box) {
    Judged judged;
    for (std::int64_t i = box.at(kQ).low; i <= box.at(kQ).high; ++i)
        for (std::int64_t j = box.at(kX).low; j <= box.at(kX).high; ++j) {
            const bool holds = test::value_at({axes, {{kQ, i}, {kX, j}}, {}}, condition) != 0;
            judged.any = judged.any || holds;
            judged.all = judged.all && holds;
        }
    return judged;
}

/// Every tile of both axes, with the ragged last ones.
template <class Visitor>
void for_each_tile(const std::vector<Axis>& axes, std::int64_t g, std::int64_t s,
                   const Visitor& visit) {
    for (std::int64_t i = 0; i < axes[0].extent; i += g)
        for (std::int64_t j = 0; j < axes[1].extent; j += s)
            visit(Ranges{{kQ, {i, std::min(i + g, axes[0].extent) - 1}},
                         {kX, {j, std::min(j + s, axes[1].extent) - 1}}});
}

}  // namespace

TEST_CASE("families of masks are decided exactly, of sizes at run time too") {
    for (const bool dynamic : {false, true})
        for (const auto& [queries, keys] :
             {std::pair{17, 17}, std::pair{7, 23}, std::pair{23, 9}}) {
            const std::vector<Axis> axes = two_axes(queries, keys, dynamic);
            for (const Known& known : known_masks()) {
                CAPTURE(std::string(known.name));
                const Mask mask(axes, {known.mask});
                for (const std::int64_t g : {1, 3, 4, 16})
                    for (const std::int64_t s : {1, 2, 5, 8})
                        for_each_tile(axes, g, s, [&](const Ranges& box) {
                            const Judged judged = brute_force(axes, known.mask, box);
                            CHECK(mask.meets(box) == judged.any);
                            CHECK(mask.covers(box) == judged.all);
                        });
            }
        }
}

TEST_CASE("no decision about a box is wrong, whatever the condition") {
    test::RandomIndex random(20261121, {q(), x()});
    const std::vector<Axis> axes = two_axes(11, 13);
    int decided = 0;
    int open = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        const Expression condition = random.condition(2);
        const Mask mask(axes, {condition});
        for (int at = 0; at < 4; ++at) {
            const std::int64_t i = random.pick(11);
            const std::int64_t j = random.pick(13);
            const Ranges box{{kQ, {i, std::min<std::int64_t>(10, i + random.pick(4))}},
                             {kX, {j, std::min<std::int64_t>(12, j + random.pick(4))}}};
            const Judged judged = brute_force(axes, condition, box);
            const bool meets = mask.meets(box);
            const bool covers = mask.covers(box);
            CHECK((meets || !judged.any));
            CHECK((!covers || judged.all));
            (meets == judged.any && covers == judged.all ? decided : open) += 1;
        }
    }
    MESSAGE(decided, " decided, ", open, " open");
    CHECK(open * 20 < decided);
}

namespace {

/// Chunks of so many keys are those that a box of rows meets, whatever its height.
void check_chunks(const std::vector<Axis>& axes, const Mask& mask, const Chunks& chunks,
                  std::int64_t size) {
    const std::int64_t keys = axes[kX.index()].extent;
    for (const std::int64_t g : {1, 3, 4, 16})
        for_each_tile(axes, g, 100, [&](const Ranges& rows) {
            const std::vector<Interval> box = mask.box(rows);
            std::optional<std::int64_t> next = next_chunk(chunks, box, 0);
            for (std::int64_t k = 0; k * size < keys; ++k) {
                Ranges one = rows;
                one[kX] = {k * size, std::min(k * size + size, keys) - 1};
                CHECK(mask.meets(one) == (next == k));
                if (next == k) next = next_chunk(chunks, box, k + 1);
            }
        });
}

}  // namespace

TEST_CASE("chunks that are met are counted out in closed form") {
    for (const bool dynamic : {false, true})
        for (const auto& [queries, keys] :
             {std::pair{17, 17}, std::pair{7, 23}, std::pair{40, 41}}) {
            const std::vector<Axis> axes = two_axes(queries, keys, dynamic);
            for (const Known& known : known_masks()) {
                CAPTURE(std::string(known.name));
                const Mask mask(axes, {known.mask});
                for (const std::int64_t s : {1, 2, 5, 8}) {
                    CAPTURE(s);
                    const std::optional<Chunks> chunks = mask.chunks_met(kX, s, true);
                    if (known.runs) CHECK(chunks);
                    if (!chunks) continue;
                    check_chunks(axes, mask, *chunks, s);
                }
            }
        }
}

namespace {

/// As the library has it: windows of residue classes, shifted at their borders.
Expression classes(std::int64_t width, std::int64_t stride, std::int64_t dilation) {
    const Expression start =
        minus(plus(call(Function::Multiply, part(q(), dilation * stride), integer(stride)),
                   integer(stride / 2)),
              integer(width / 2));
    const Expression key = part(x(), dilation);
    const Expression from_end = part(minus(minus(size_of(kQ), integer(1)), x()), dilation);
    const auto either = [](Expression a, Expression b) {
        return call(Function::Or, std::move(a), std::move(b));
    };
    const auto both = [](Expression a, Expression b) {
        return call(Function::And, std::move(a), std::move(b));
    };
    return both(both(call(Function::Less, x(), size_of(kQ)),
                     call(Function::Equal, remainder(q(), dilation), remainder(x(), dilation))),
                both(either(call(Function::LessEqual, start, key),
                            call(Function::Less, from_end, integer(width))),
                     either(call(Function::Less, key, plus(start, integer(width))),
                            call(Function::Less, key, integer(width)))));
}

}  // namespace

TEST_CASE("residue classes are decided class by class, unions of them term by term") {
    const Expression first = call(Function::Less, x(), integer(4));
    const std::pair<const char*, Expression> masks[] = {
        {"classes", classes(3, 1, 3)},
        {"classes with leaders", classes(4, 3, 2)},
        {"two of classes", call(Function::Or, classes(3, 2, 3), classes(2, 1, 5))},
        {"classes and first keys", call(Function::Or, classes(3, 2, 3), first)},
        {"classes and first queries",
         call(Function::Or, classes(3, 2, 3), call(Function::Less, q(), integer(3)))},
        {"classes and blocks", call(Function::Or, dilated(3, 5), same_block(4))}};
    for (const auto& [queries, keys] : {std::pair{23, 23}, std::pair{40, 40}, std::pair{17, 25}}) {
        const std::vector<Axis> axes = two_axes(queries, keys);
        for (const auto& [name, condition] : masks) {
            CAPTURE(std::string(name));
            const Mask mask(axes, {condition});
            CHECK(mask.is_exact());
            for (const std::int64_t g : {1, 3, 4, 16})
                for (const std::int64_t s : {1, 2, 5, 8})
                    for_each_tile(axes, g, s, [&](const Ranges& box) {
                        const Judged judged = brute_force(axes, condition, box);
                        CHECK(mask.meets(box) == judged.any);
                        CHECK((!mask.covers(box) || judged.all));
                    });
            for (const std::int64_t s : {5, 8}) {
                const std::optional<Chunks> chunks = mask.chunks_met(kX, s, true);
                REQUIRE(chunks);
                check_chunks(axes, mask, *chunks, s);
            }
        }
    }
}

TEST_CASE("every so many-th chunk is counted out, from where the heads of a box say") {
    std::vector<Axis> axes = two_axes(64, 64);
    Axis heads = axes[kX.index()];
    heads.name = "h";
    heads.extent = 5;
    axes.push_back(heads);
    const AxisId h{static_cast<std::uint32_t>(axes.size() - 1)};
    axes[h.index()].size = Formula(5);
    const Expression far =
        call(Function::Equal, remainder(plus(part(x(), 4), axis_index(h)), 3), integer(0));
    const Expression near = call(Function::Less, minus(part(q(), 4), part(x(), 4)), integer(2));
    const Expression seen =
        call(Function::And, call(Function::LessEqual, x(), q()), call(Function::Or, near, far));
    const Mask mask(axes, {seen});
    for (const std::int64_t size : {4, 8}) {
        const std::optional<Chunks> chunks = mask.chunks_met(kX, size, true);
        if (size == 4) REQUIRE(chunks);
        if (!chunks) continue;
        for (const Interval some : {Interval{0, 0}, Interval{2, 2}, Interval{1, 2}, Interval{0, 4}})
            for (std::int64_t q0 = 0; q0 < 64; q0 += 8) {
                Ranges rows{{kQ, {q0, q0 + 7}}, {h, some}};
                const std::vector<Interval> box = mask.box(rows);
                std::optional<std::int64_t> next = next_chunk(*chunks, box, 0);
                for (std::int64_t k = 0; k * size < 64; ++k) {
                    rows[kX] = {k * size, k * size + size - 1};
                    CHECK(mask.meets(rows) == (next == k));
                    if (next == k) next = next_chunk(*chunks, box, k + 1);
                }
            }
    }
}

TEST_CASE("chunks of windows that queries share are counted out where strides and chunks divide") {
    const std::vector<Axis> axes = two_axes(64, 64);
    for (const auto& [width, stride] : {std::pair{4, 4}, std::pair{16, 16}, std::pair{16, 4},
                                        std::pair{12, 2}, std::pair{5, 4}, std::pair{9, 8}}) {
        CAPTURE(width);
        CAPTURE(stride);
        const Mask mask(axes, {classes(width, stride, 1)});
        for (const std::int64_t size : {1, 2, 4, 8, 16}) {
            CAPTURE(size);
            const std::optional<Chunks> chunks = mask.chunks_met(kX, size, true);
            REQUIRE(chunks);
            check_chunks(axes, mask, *chunks, size);
        }
    }
}

TEST_CASE("a million tokens in residue classes are decided at once") {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begun = Clock::now();
    const Mask mask(two_axes(1 << 20, 1 << 20), {classes(2048, 3, 7)});
    CHECK(mask.is_exact());
    CHECK(mask.chunks_met(kX, 128, true));
    CHECK(mask.where_met().front().clauses.size() <= 36);
    MESSAGE(std::chrono::duration<double>(Clock::now() - begun).count(), " s");
}

TEST_CASE("a mask that is too hard is given up once, not again for every schedule") {
    using Clock = std::chrono::steady_clock;
    const std::vector<Axis> axes = two_axes(65536, 65536);
    const Expression place = plus(call(Function::Multiply, q(), size_of(kX)), x());
    const Expression hard =
        call(Function::Less, remainder(call(Function::Multiply, place, integer(75661)), 1000),
             integer(100));
    const Clock::time_point begun = Clock::now();
    CHECK_FALSE(Mask(axes, {hard}).chunks_met(kX, 16, true));
    const Clock::duration once = Clock::now() - begun;
    for (const std::int64_t size : {32, 64, 128, 256, 512})
        CHECK_FALSE(Mask(axes, {hard}).chunks_met(kX, size, true));
    CHECK_FALSE(Mask(axes, {hard}).is_exact());
    CHECK(Clock::now() - begun < 3 * once);
}

TEST_CASE("bounds of an index are never too narrow") {
    test::RandomIndex random(20261122, {q(), x()});
    const std::vector<Axis> axes = two_axes(11, 13);
    for (int trial = 0; trial < 4000; ++trial) {
        const Expression index = random.index(3);
        const Ranges tile{{kQ, {2, 5}}, {kX, {1, 7}}};
        const std::optional<Interval> range = bounds(axes, index, tile);
        if (!range) continue;
        for (std::int64_t i = 2; i <= 5; ++i)
            for (std::int64_t k = 1; k <= 7; ++k) {
                const double value = test::value_at({axes, {{kQ, i}, {kX, k}}, {}}, index);
                CHECK(value >= static_cast<double>(range->low));
                CHECK(value <= static_cast<double>(range->high));
            }
    }
}

}  // namespace napkin::index

namespace napkin::index {

TEST_CASE("elements of integer arrays are coordinates where they are known") {
    const std::vector<Axis> axes = two_axes(20, 20);
    const Expression own = read(ArrayId{0}, {q()});
    const Expression other = read(ArrayId{0}, {x()});
    const Elements known = [](ArrayId) { return ElementRange{}; };
    const Mask equal(axes, {call(Function::Equal, own, other)}, known);
    REQUIRE_EQ(equal.coordinates(), std::vector<Expression>{own, other});
    REQUIRE_EQ(equal.where_met().size(), 1);
    const std::vector<Clause>& clauses = equal.where_met().front().clauses;
    REQUIRE_EQ(clauses.size(), 1);
    CHECK_EQ(clauses.front().not_negative.size(), 2);
    CHECK(Mask(axes, {call(Function::Equal, own, other)}).where_met().front().clauses.size() == 1);
}

}  // namespace napkin::index
