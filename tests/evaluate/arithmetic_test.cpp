// The language's arithmetic: a table of every function, and the conventions for infinities and
// zeros.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "diagrams/evaluate.h"

#include "diagrams/infinity.h"

using napkin::apply_function;
using napkin::Function;
using napkin::kInfinity;

namespace {

const double kNan = std::nan("");

struct Case {
    Function function = Function::Add;
    std::vector<double> arguments;
    double expected = 0;
};

}  // namespace

TEST_CASE("arithmetic: every function on ordinary numbers") {
    const std::vector<Case> cases = {
        {Function::Negate, {2}, -2},
        {Function::Add, {2, 3}, 5},
        {Function::Subtract, {2, 3}, -1},
        {Function::Multiply, {2, 3}, 6},
        {Function::Divide, {3, 2}, 1.5},
        {Function::FloorDivide, {-7, 2}, -4},
        {Function::FloorDivide, {7, -2}, -4},
        {Function::Modulo, {-7, 3}, 2},
        {Function::Modulo, {7, 3}, 1},
        {Function::Power, {3, 4}, 81},
        {Function::Power, {4, -0.5}, 0.5},
        {Function::Exp, {0}, 1},
        {Function::Log, {1}, 0},
        {Function::Sqrt, {9}, 3},
        {Function::Rsqrt, {16}, 0.25},
        {Function::Tanh, {0}, 0},
        {Function::Erf, {0}, 0},
        {Function::Sin, {0}, 0},
        {Function::Cos, {0}, 1},
        {Function::BitAnd, {-3, 6}, 4},
        {Function::BitOr, {-8, 5}, -3},
        {Function::BitXor, {6, 3}, 5},
        {Function::ShiftLeft, {-3, 2}, -12},
        {Function::ShiftLeft, {3, -1}, 0},
        {Function::ShiftRight, {-5, 1}, -3},
        {Function::ShiftRight, {-5, 100}, -1},
        {Function::ShiftRight, {5, -1}, 0},
        {Function::Abs, {-3}, 3},
        {Function::Min, {2, 3}, 2},
        {Function::Max, {2, 3}, 3},
        {Function::Floor, {-0.5}, -1},
        {Function::FloorDivide, {-2147483648.0, -1}, 2147483648.0},
        {Function::Modulo, {-2147483648.0, -1}, 0},
        {Function::ShiftRight, {-5, 1}, -3},
        {Function::ShiftRight, {-5, 5000}, -1},
        {Function::ShiftRight, {5, 5000}, 0},
        {Function::ShiftRight, {-5, 1e300}, -1},
        {Function::ShiftRight, {-5, -1}, 0},
        {Function::ShiftLeft, {-5, 2}, -20},
        {Function::ShiftLeft, {0, 5000}, 0},
        {Function::ShiftLeft, {5, -1}, 0},
        {Function::Less, {1, 1}, 0},
        {Function::LessEqual, {1, 1}, 1},
        {Function::Greater, {2, 1}, 1},
        {Function::GreaterEqual, {0, 1}, 0},
        {Function::Equal, {4, 4}, 1},
        {Function::NotEqual, {4, 4}, 0},
        {Function::And, {1, 0}, 0},
        {Function::Or, {1, 0}, 1},
        {Function::Not, {0}, 1},
        {Function::Select, {1, 5, 6}, 5},
        {Function::Select, {0, 5, 6}, 6},
        {Function::Guard, {4}, 4},
    };
    for (const Case& entry : cases) {
        INFO("function ", static_cast<int>(entry.function));
        CHECK_EQ(apply_function(entry.function, entry.arguments), entry.expected);
    }
}

TEST_CASE("arithmetic: -inf absorbs, 0/0 and 0 * inf are 0") {
    const std::vector<Case> cases = {
        {Function::Add, {-kInfinity, kInfinity}, -kInfinity},
        {Function::Add, {kInfinity, -kInfinity}, -kInfinity},
        {Function::Subtract, {-kInfinity, -kInfinity}, -kInfinity},
        {Function::Subtract, {kInfinity, kInfinity}, -kInfinity},
        {Function::Subtract, {5, -kInfinity}, kInfinity},
        {Function::Subtract, {-kInfinity, 5}, -kInfinity},
        {Function::Multiply, {0, kInfinity}, 0},
        {Function::Multiply, {-kInfinity, 0}, 0},
        {Function::Divide, {0, 0}, 0},
        {Function::Divide, {1, 0}, kInfinity},
        {Function::FloorDivide, {3, 0}, 0},
        {Function::Modulo, {3, 0}, 0},
        {Function::Exp, {-kInfinity}, 0},
        {Function::Log, {0}, -kInfinity},
        {Function::Max, {-kInfinity, -kInfinity}, -kInfinity},
        {Function::Guard, {-kInfinity}, 0},
        {Function::Guard, {kInfinity}, 0},
    };
    for (const Case& entry : cases) {
        INFO("function ", static_cast<int>(entry.function), " of ", entry.arguments[0]);
        CHECK_EQ(apply_function(entry.function, entry.arguments), entry.expected);
    }
}

TEST_CASE("arithmetic: a NaN that comes in comes out") {
    for (const Function function : {Function::Add, Function::Subtract, Function::Multiply,
                                    Function::Divide, Function::Max, Function::Min}) {
        for (const double other : {-kInfinity, 0.0, 1.0, kInfinity}) {
            CHECK(std::isnan(apply_function(function, std::vector<double>{kNan, other})));
            CHECK(std::isnan(apply_function(function, std::vector<double>{other, kNan})));
        }
    }
    CHECK(std::isnan(apply_function(Function::Guard, std::vector<double>{kNan})));
    CHECK_THROWS_AS((void)apply_function(Function::Add, std::vector<double>{1}),
                    napkin::InternalError);
}
