// Boxes that masks meet and cover against visiting every point: known masks exactly, any condition
// without a wrong answer; and chunks by number against asking about every chunk.
#include "diagrams/index/mask.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/index/two_axes.h"
#include "tests/support/random_index.h"

namespace napkin::index {

namespace {

Expression call(Function function, Expression a, Expression b) {
    return apply(function, {std::move(a), std::move(b)});
}
Expression minus(Expression a, Expression b) {
    return call(Function::Subtract, std::move(a), std::move(b));
}
Expression plus(Expression a, Expression b) {
    return call(Function::Add, std::move(a), std::move(b));
}
Expression remainder(Expression a, std::int64_t b) {
    return call(Function::Modulo, std::move(a), integer(b));
}
Expression part(Expression a, std::int64_t b) {
    return call(Function::FloorDivide, std::move(a), integer(b));
}

Expression causal() {
    return call(Function::LessEqual, x(), minus(plus(q(), size_of(kX)), size_of(kQ)));
}
Expression window(std::int64_t width) {
    return call(Function::And, call(Function::LessEqual, x(), q()),
                call(Function::Less, minus(q(), x()), integer(width)));
}
/// The nearest of all keys, shifted inwards at the borders.
Expression neighbourhood(std::int64_t width, std::int64_t stride) {
    const Expression leader = call(
        Function::Min,
        plus(call(Function::Multiply, part(q(), stride), integer(stride)), integer(stride / 2)),
        minus(size_of(kQ), integer(1)));
    const Expression start =
        call(Function::Min, call(Function::Max, minus(leader, integer(width / 2)), integer(0)),
             minus(size_of(kX), integer(width)));
    return call(Function::And, call(Function::LessEqual, start, x()),
                call(Function::Less, x(), plus(start, integer(width))));
}
/// Near blocks, and every so many-th.
Expression strided(std::int64_t block, std::int64_t local, std::int64_t stride) {
    const Expression far =
        call(Function::Equal, remainder(plus(part(x(), block), integer(1)), stride), integer(0));
    const Expression near =
        call(Function::Less, minus(part(q(), block), part(x(), block)), integer(local));
    return call(Function::And, call(Function::LessEqual, x(), q()), call(Function::Or, near, far));
}
Expression dilated(std::int64_t width, std::int64_t dilation) {
    return call(Function::And,
                call(Function::Equal, remainder(minus(q(), x()), dilation), integer(0)),
                window(width * dilation));
}
Expression same_block(std::int64_t size) {
    return call(Function::Equal, part(q(), size), part(x(), size));
}
Expression prefix(std::int64_t length) {
    return call(Function::Or, call(Function::Less, x(), integer(length)),
                call(Function::LessEqual, x(), q()));
}

struct Known {
    const char* name;
    Expression mask;
    bool runs = true;  ///< whether its chunks are progressions
};
std::vector<Known> known_masks() {
    return {{"causal", causal()},
            {"window", window(4)},
            {"window of one", window(1)},
            {"neighbourhood", neighbourhood(4, 1)},
            {"strided neighbourhood", neighbourhood(5, 3), false},
            {"strided", strided(2, 2, 3), false},
            {"dilated", dilated(3, 2), false},
            {"blocks", same_block(3), false},
            {"prefix", prefix(5)},
            {"prefix of a window", call(Function::And, prefix(5), causal())},
            {"two windows",
             call(Function::Or, window(2),
                  call(Function::And, call(Function::Greater, minus(q(), x()), integer(5)),
                       call(Function::Less, minus(q(), x()), integer(8))))}};
}

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
                    for (const std::int64_t g : {1, 3, 4, 16})
                        for_each_tile(axes, g, 100, [&](const Ranges& rows) {
                            const std::vector<Interval> box = mask.box(rows);
                            std::optional<std::int64_t> next = next_chunk(*chunks, box, 0);
                            for (std::int64_t k = 0; k * s < keys; ++k) {
                                Ranges one = rows;
                                one[kX] = {k * s, std::min<std::int64_t>(k * s + s, keys) - 1};
                                CHECK(mask.meets(one) == (next == k));
                                if (next == k) next = next_chunk(*chunks, box, k + 1);
                            }
                        });
                }
            }
        }
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
