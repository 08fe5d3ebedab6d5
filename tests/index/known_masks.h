// Masks of two axes that people use.
#pragma once

#include <vector>

#include "tests/index/two_axes.h"

namespace napkin::index {

inline Expression call(Function function, Expression a, Expression b) {
    return apply(function, {std::move(a), std::move(b)});
}
inline Expression minus(Expression a, Expression b) {
    return call(Function::Subtract, std::move(a), std::move(b));
}
inline Expression plus(Expression a, Expression b) {
    return call(Function::Add, std::move(a), std::move(b));
}
inline Expression remainder(Expression a, std::int64_t b) {
    return call(Function::Modulo, std::move(a), integer(b));
}
inline Expression part(Expression a, std::int64_t b) {
    return call(Function::FloorDivide, std::move(a), integer(b));
}

inline Expression causal() {
    return call(Function::LessEqual, x(), minus(plus(q(), size_of(kX)), size_of(kQ)));
}
inline Expression window(std::int64_t width) {
    return call(Function::And, call(Function::LessEqual, x(), q()),
                call(Function::Less, minus(q(), x()), integer(width)));
}
/// The nearest of all keys, shifted inwards at the borders.
inline Expression neighbourhood(std::int64_t width, std::int64_t stride) {
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
inline Expression strided(std::int64_t block, std::int64_t local, std::int64_t stride) {
    const Expression far =
        call(Function::Equal, remainder(plus(part(x(), block), integer(1)), stride), integer(0));
    const Expression near =
        call(Function::Less, minus(part(q(), block), part(x(), block)), integer(local));
    return call(Function::And, call(Function::LessEqual, x(), q()), call(Function::Or, near, far));
}
inline Expression dilated(std::int64_t width, std::int64_t dilation) {
    return call(Function::And,
                call(Function::Equal, remainder(minus(q(), x()), dilation), integer(0)),
                window(width * dilation));
}
inline Expression same_block(std::int64_t size) {
    return call(Function::Equal, part(q(), size), part(x(), size));
}
inline Expression prefix(std::int64_t length) {
    return call(Function::Or, call(Function::Less, x(), integer(length)),
                call(Function::LessEqual, x(), q()));
}

struct Known {
    const char* name;
    Expression mask;
    bool runs = true;  ///< whether its chunks are progressions
};
inline std::vector<Known> known_masks() {
    return {{"causal", causal()},
            {"window", window(4)},
            {"window of one", window(1)},
            {"neighbourhood", neighbourhood(4, 1)},
            {"strided neighbourhood", neighbourhood(5, 3), false},
            {"strided", strided(2, 2, 3), false},
            {"dilated", dilated(3, 2), false},
            {"blocks", same_block(3), false},
            {"a quotient by a negative number",
             call(Function::GreaterEqual, part(minus(x(), q()), -3), integer(2)), false},
            {"a remainder by a negative number",
             call(Function::Equal, remainder(minus(x(), q()), -3), integer(-1)), false},
            {"prefix", prefix(5)},
            {"prefix of a window", call(Function::And, prefix(5), causal())},
            {"two windows",
             call(Function::Or, window(2),
                  call(Function::And, call(Function::Greater, minus(q(), x()), integer(5)),
                       call(Function::Less, minus(q(), x()), integer(8))))}};
}

}  // namespace napkin::index
