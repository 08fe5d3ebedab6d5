// Kernel trees: as text, folded, without what nothing uses, and what they read and write.
#include "codegen/kernel_tree.h"

#include <doctest/doctest.h>

#include <limits>

#include "codegen/accesses.h"
#include "codegen/drop_unused.h"
#include "codegen/expression_text.h"
#include "codegen/fold_constants.h"
#include "codegen/line_breaks.h"
#include "codegen/verify_kernel.h"
#include "diagrams/result.h"

namespace napkin::kernel {
namespace {

const Expression a = variable("a");
const Expression b = variable("b");
const Expression c = variable("c");

}  // namespace

TEST_CASE("kernel tree: expressions have the parentheses that they need") {
    struct Row {
        Expression expression;
        const char* text;
    };
    const Expression less = a < b;
    const std::vector<Row> table = {
        {a + b * c, "a + b * c"},
        {(a + b) * c, "(a + b) * c"},
        {a - (b - c), "a - (b - c)"},
        {a - b - c, "a - b - c"},
        {a / b * c, "a / b * c"},
        {a * (b / c), "a * (b / c)"},
        {a % (b % c), "a % (b % c)"},
        {-(a + b), "-(a + b)"},
        {-(-a), "-(-a)"},
        {-Expression(-5), "-(-5)"},
        {a * -5, "a * -5"},
        {!less, "!(a < b)"},
        {!less && c, "!(a < b) && c"},
        {(a || b) && c, "(a || b) && c"},
        {(a && b) || c, "(a && b) || c"},
        {a || (b || c), "a || (b || c)"},
        {equal(a + b, c), "a + b == c"},
        {choose(less, a, b + c), "a < b ? a : b + c"},
        {choose(a, b, c) * c, "(a ? b : c) * c"},
        {choose(choose(a, b, c), b, c), "(a ? b : c) ? b : c"},
        {subscript(a, b + c), "a[b + c]"},
        {element(element(a, {b}), {b, c + 1}), "a(b)(b, c + 1)"},
        {member(a, "x") / 32, "a.x / 32"},
        {call({"multiply", {scoped("Order", "AsStored"), 64}}, {a, b}),
         "multiply<Order::AsStored, 64>(a, b)"},
        {invoke(scoped({"Fragment", {2, 8}}, "column"), {a}), "Fragment<2, 8>::column(a)"},
        {call({"Flag", {false}}), "Flag<false>()"},
        {braces({a, -1}), "{a, -1}"},
        {Expression(Integer{5, true}), "5LL"},
        {Expression(Integer{std::numeric_limits<std::int64_t>::min(), true}),
         "(-9223372036854775807LL - 1)"},
        {real(1), "1.0f"},
        {a * real(-0.5), "a * -0.5f"},
        {real(1e30), "1e+30f"},
        {-real(std::numeric_limits<double>::infinity()), "-infinity()"},
        {real(std::numeric_limits<double>::quiet_NaN()), "float_of(0x7fc00000u)"},
    };
    for (const Row& row : table) CHECK_EQ(print(row.expression), row.text);
}

TEST_CASE("kernel tree: what is known is worked in") {
    struct Row {
        Expression expression;
        const char* text;
    };
    const Expression wide(Integer{1, true});
    const std::vector<Row> table = {
        {a * 1, "a"},
        {Expression(1) * a, "a"},
        {a + 0, "a"},
        {Expression(0) + a, "a"},
        {a - 0, "a"},
        {Expression(0) - a, "0 - a"},
        {a / 1, "a"},
        {a * wide, "a * 1LL"},
        {a * real(1), "a * 1.0f"},
        {Expression(6) * 7, "42"},
        {Expression(65536) * 65536, "65536 * 65536"},
        {Expression(7) / 0, "7 / 0"},
        {Expression(3) < 4, "true"},
        {a && true, "a"},
        {Expression(false) && a, "false"},
        {a || false, "a"},
        {a || true, "true"},
        {a && a, "a"},
        {!Expression(true), "false"},
        {choose(true, a, b), "a"},
    };
    for (const Row& row : table) CHECK_EQ(print(folded(row.expression)), row.text);
    Body body = {define_function("f", {{}, {{Return{(a * 1 + 0) * (Expression(2) + 3)}}}})};
    fold_constants(body);
    const Lambda& function = std::get<Lambda>(std::get<Declare>(body[0].node).value->node);
    CHECK_EQ(print(std::get<Return>(function.body[0].node).value), "a * 5");
}

TEST_CASE("kernel tree: what nothing uses is dropped") {
    Body inside = {define("int", "row", variable("i")),
                   define("int", "column", variable("i")),
                   {Comment{"row", false}},
                   assign(subscript(variable("values"), variable("column")), variable("rows"))};
    For loop;
    loop.name = "i";
    loop.end = c;
    loop.body = std::move(inside);
    Body body = {define("int", "a", 1),
                 define("int", "b", a + 1),
                 define("int", "c", 2),
                 {Alias{"Rows", "float"}},
                 define_function("f", {{}, {{Return{b}}}}),
                 declare("float", "kept"),
                 {std::move(loop)}};
    drop_unused(body);
    REQUIRE_EQ(body.size(), 3);
    CHECK_EQ(std::get<Declare>(body[0].node).name, "c");
    CHECK_EQ(std::get<Declare>(body[1].node).name, "kept");
    const Body& rest = std::get<For>(body[2].node).body;
    REQUIRE_EQ(rest.size(), 3);
    CHECK_EQ(std::get<Declare>(rest[0].node).name, "column");
}

TEST_CASE("kernel tree: an alias is used where a type or a scope names it") {
    Body body = {{Alias{"Rows", "float"}},
                 {Alias{"Columns", "float"}},
                 declare_array("Columns", "x", {scoped("Rows", "rows")})};
    drop_unused(body);
    CHECK_EQ(body.size(), 3);
}

TEST_CASE("kernel tree: reads and writes") {
    const auto touches = [](const Body& body, const std::set<std::string>& reads,
                            const std::set<std::string>& writes) {
        const Accesses found = accesses_of(body);
        CHECK_EQ(found.reads, reads);
        CHECK_EQ(found.writes, writes);
    };
    const Expression tile = variable("tile");
    touches({assign(subscript(tile, a), b)}, {"a", "b"}, {"tile"});
    touches({add_to(a, b)}, {"a", "b"}, {"a"});
    touches({assign(element(element(tile, {a}), {b, c}), 0)}, {"a", "b", "c"}, {"tile"});
    touches({{Run{call({"copy_async", {8}}, {element(tile, {a}), b, c})}}}, {"a", "b", "c"},
            {"tile"});
    touches({{Run{call({"multiply", {}}, {a, b, tile})}}}, {"a", "b", "tile"}, {"a"});
    touches({{Run{call("store", {a, tile, 0, 0})}}}, {"a"}, {"tile"});
    touches({{Run{invoke(member(a, "fill"), {b})}}}, {"b"}, {"a"});
    touches({assign(a, call({"block_sum", {}}, {b, tile}))}, {"b", "tile"}, {"a", "tile"});
    // Names of its own are nobody else's.
    touches({define("int", "a", b), assign(c, a)}, {"b"}, {"c"});
    For loop;
    loop.name = "a";
    loop.end = b;
    loop.body = {assign(c, a)};
    touches({{loop}}, {"b"}, {"c"});
    // A function does what its body does, where it is called.
    const Statement fill =
        define_function("fill", {{{"int", "a"}}, {assign(subscript(tile, a), b)}});
    touches({fill}, {}, {});
    touches({fill, {Run{invoke(variable("fill"), {c})}}}, {"b", "c"}, {"tile"});
    touches({fill, {Run{call("publish", {a, c, variable("fill")})}}}, {"b", "c"}, {"a", "tile"});
}

TEST_CASE("kernel tree: a kernel that uses what is not its own is refused") {
    Program program;
    program.name = "k";
    KernelParameter input;
    input.name = "a";
    KernelParameter output;
    output.name = "b";
    output.written = true;
    program.parameters = {input, output};
    Tile tile;
    tile.name = "tile";
    program.tiles = {tile};
    const auto check = [&](Body body) {
        program.body = std::move(body);
        verify(program);
    };
    check({assign(subscript(variable("tile"), thread_index()), subscript(a, 0)),
           assign(subscript(b, 0), subscript(variable("tile"), 0))});
    CHECK_THROWS_AS(check({assign(subscript(b, 0), c)}), InternalError);
    CHECK_THROWS_AS(check({assign(subscript(a, 0), 1)}), InternalError);
    CHECK_THROWS_AS(check({{Run{call("unheard_of", {a})}}}), InternalError);
    // What is declared in a loop is not there after it.
    For loop;
    loop.name = "i";
    loop.body = {define("int", "c", 1)};
    CHECK_THROWS_AS(check({{loop}, assign(subscript(b, 0), c)}), InternalError);
    // A name is declared once in a scope, and again in another.
    check({define("int", "c", 1), {loop}, {loop}});
    CHECK_THROWS_AS(check({define("int", "c", 1), define("i64", "c", 2)}), InternalError);
    loop.body.push_back(loop.body.front());
    CHECK_THROWS_AS(check({{loop}}), InternalError);
}

TEST_CASE("kernel tree: lines end where a reader would end them") {
    const auto printed = [](const Statement& statement) {
        SourceWriter writer;
        const Assign& assignment = std::get<Assign>(statement.node);
        print_assignment(writer, print(assignment.target) + " =", text_of(assignment.value));
        return writer.text();
    };
    const auto named = [](char letter) { return variable(std::string(40, letter)); };
    const std::string x(40, 'x');
    const std::string y(40, 'y');
    const std::string z(40, 'z');
    CHECK_EQ(printed(assign(a, named('x') * named('y') + named('z'))),
             "a = " + x + " * " + y + " +\n    " + z + ";\n");
    CHECK_EQ(printed(assign(a, call("f", {named('x'), named('y'), named('z')}))),
             "a = f(" + x + ", " + y + ",\n      " + z + ");\n");
    CHECK_EQ(printed(assign(a, (named('x') || named('y')) && named('z'))),
             "a = (" + x + " || " + y + ") &&\n    " + z + ";\n");
}

}  // namespace napkin::kernel
