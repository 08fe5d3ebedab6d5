// The kernel language as trees: expressions and statements, each a closed set of nodes, built by
// functions and operators that read like what they print, `call("exp2_fast", x * factor)`.
//
// Precedence, parentheses and line breaks are the printer's business (codegen/expression_text.h).
// What a tree reads is its `Variable` nodes; which of a call's arguments are written,
// codegen/accesses.h knows.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "diagrams/id.h"

namespace napkin::kernel {

using TileId = Id<struct KernelTileTag>;  ///< into Program::tiles

struct Expression;
struct Statement;
using Body = std::vector<Statement>;

/// What the language, the device primitives or an alias declare: a type or a function, with its
/// template arguments. `Fragment<2, 8>`, `copy_async<8>`, `float`.
struct Entity {
    Entity(const char* text);  // NOLINT(google-explicit-constructor)
    Entity(std::string text);  // NOLINT(google-explicit-constructor)
    Entity(std::string text, std::vector<Expression> given);
    std::string name;
    std::vector<Expression> arguments;
    bool operator==(const Entity&) const = default;
};
using Type = Entity;

/// What the kernel itself declares: a variable, a parameter, a tile or a function of it.
struct Variable {
    std::string name;
    bool operator==(const Variable&) const = default;
};
struct Integer {
    std::int64_t value = 0;
    bool wide = false;  ///< of 64 bits: `5LL`
    bool operator==(const Integer&) const = default;
};
/// A number in single precision, infinities and NaN among them.
struct Real {
    float value = 0;
    bool operator==(const Real& other) const;
};
struct Boolean {
    bool value = false;
    bool operator==(const Boolean&) const = default;
};
/// `"text"`.
struct Quoted {
    std::string text;
    bool operator==(const Quoted&) const = default;
};
/// `Rows::row`.
struct Scoped {
    Type scope;
    std::string name;
    bool operator==(const Scoped&) const = default;
};
/// `threadIdx.x`.
struct Member {
    std::vector<Expression> object;
    std::string name;
    bool operator==(const Member&) const = default;
};

enum class Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Not,
    Negate
};
struct Unary {
    Operator operation;
    std::vector<Expression> operand;
    bool operator==(const Unary&) const = default;
};
struct Binary {
    Operator operation;
    std::vector<Expression> sides;
    bool operator==(const Binary&) const = default;
};
/// `condition ? yes : no`.
struct Choice {
    std::vector<Expression> parts;
    bool operator==(const Choice&) const = default;
};
/// What is called, then its arguments; of a type, a conversion.
struct Call {
    std::vector<Expression> parts;
    bool operator==(const Call&) const = default;
};
/// An array, then the indices of an element: `values[i]`, and in parentheses `fragment(i, j)` and
/// `ring(stage)`.
struct Element {
    std::vector<Expression> parts;
    bool brackets = true;
    bool operator==(const Element&) const = default;
};
/// `{a, b}`.
struct Braces {
    std::vector<Expression> parts;
    bool operator==(const Braces&) const = default;
};
/// A function that sees everything around it.
struct Lambda {
    struct Parameter {
        Type type;
        std::string name;
        bool reference = false;  ///< `auto& name`: what the caller has is written
        bool operator==(const Parameter&) const = default;
    };
    // Where statements are known.
    Lambda(std::vector<Parameter> given, Body inside);
    Lambda(const Lambda& other);
    Lambda(Lambda&& other) noexcept;
    Lambda& operator=(const Lambda& other);
    Lambda& operator=(Lambda&& other) noexcept;
    ~Lambda();
    bool operator==(const Lambda& other) const;

    std::vector<Parameter> parameters;
    Body body;
    bool inlined = false;
};

struct Expression {
    template <std::integral T>
    Expression(T value) {  // NOLINT(google-explicit-constructor)
        if constexpr (std::is_same_v<T, bool>)
            node = Boolean{value};
        else
            node = Integer{value};
    }
    template <class Node>
    requires(!std::integral<Node> && !std::is_same_v<Node, Expression> &&
             !std::is_pointer_v<Node>) explicit Expression(Node value)
        : node(std::move(value)) {}
    Expression(Entity value) : node(std::move(value)) {}  // NOLINT(google-explicit-constructor)

    std::variant<Integer, Variable, Real, Boolean, Quoted, Entity, Scoped, Member, Unary, Binary,
                 Choice, Call, Element, Braces, Lambda>
        node;
    bool operator==(const Expression&) const = default;
};

/// `const int x = ...;` or, not constant, a variable or array that is assigned later.
struct Declare {
    Type type;
    std::string name;
    std::vector<Expression> dimensions;  ///< of an array
    std::optional<Expression> value;
    bool constant = true;
    std::string remark;
    bool operator==(const Declare&) const = default;
};
/// `using Rows = Fragment<1, 1>;`
struct Alias {
    std::string name;
    Type type;
    bool operator==(const Alias&) const = default;
};
/// `target = value;`, or `target += value;` where it adds.
struct Assign {
    Expression target;
    Expression value;
    bool adds = false;
    bool operator==(const Assign&) const = default;
};
/// A call for its effect.
struct Run {
    Expression call;
    bool operator==(const Run&) const = default;
};
struct Return {
    Expression value;
    bool operator==(const Return&) const = default;
};
/// A loop over an int, which is `next` after each turn, or `step` more.
struct For {
    std::string name;
    Expression begin = 0;
    Expression end = 0;
    Expression step = 1;
    std::optional<Expression> next = std::nullopt;
    bool unroll = false;
    std::int64_t unroll_by = 0;  ///< so many turns together; 0: as the compiler likes
    std::string remark;
    Body body;
    bool operator==(const For&) const = default;
};
/// A loop over `from`, half of it, ... 1.
struct Halve {
    std::string name;
    std::int64_t from = 1;
    Body body;
    bool operator==(const Halve&) const = default;
};
/// A loop whose condition is tested after each turn.
struct Repeat {
    Body body;
    Expression condition;
    bool operator==(const Repeat&) const = default;
};
struct If {
    Expression condition;
    Body then;
    Body otherwise;
    bool operator==(const If&) const = default;
};
/// Statements with a scope of their own.
struct Block {
    Body body;
    bool operator==(const Block&) const = default;
};
/// Goes on with the next chunk of the innermost loop unless `condition` holds.
struct SkipUnless {
    Expression condition;
    bool operator==(const SkipUnless&) const = default;
};
/// Ends the block's work when `condition` holds; the same for all threads.
struct LeaveIf {
    Expression condition;
    bool operator==(const LeaveIf&) const = default;
};
enum class Scope { Block, Warp };
struct Barrier {
    Scope scope = Scope::Block;
    bool operator==(const Barrier&) const = default;
};
struct Comment {
    std::string text;
    bool apart = false;  ///< after an empty line
    bool operator==(const Comment&) const = default;
};
/// One operation by all threads.
struct Phase {
    std::vector<std::string> comments;  ///< what it computes and where that came from
    /// Pairs of a written and a read tile, of one layout, in which every thread reads only elements
    /// that it then writes itself: the two may share memory.
    std::vector<std::pair<TileId, TileId>> in_place;
    Body body;
    bool operator==(const Phase&) const = default;
};

struct Statement {
    std::variant<Declare, Alias, Assign, Run, Return, For, Halve, Repeat, If, Block, SkipUnless,
                 LeaveIf, Barrier, Comment, Phase>
        node;
    bool operator==(const Statement&) const = default;
};

/// Throws InternalError where that is no identifier.
[[nodiscard]] Expression variable(std::string name);
[[nodiscard]] Expression real(double value);
[[nodiscard]] Expression scoped(Type scope, std::string name);
[[nodiscard]] Expression member(Expression object, std::string name);
/// `threadIdx.x`.
[[nodiscard]] Expression thread_index();
[[nodiscard]] Expression operator+(Expression a, Expression b);
[[nodiscard]] Expression operator-(Expression a, Expression b);
[[nodiscard]] Expression operator*(Expression a, Expression b);
[[nodiscard]] Expression operator/(Expression a, Expression b);
[[nodiscard]] Expression operator%(Expression a, Expression b);
[[nodiscard]] Expression operator-(Expression a);
[[nodiscard]] Expression operator<(Expression a, Expression b);
[[nodiscard]] Expression operator>=(Expression a, Expression b);
/// `==` in the kernel; the operator compares trees.
[[nodiscard]] Expression equal(Expression a, Expression b);
/// Any operator of two sides.
[[nodiscard]] Expression binary(Operator operation, Expression a, Expression b);
/// Known sides are worked in: `true && x` is `x`.
[[nodiscard]] Expression operator&&(Expression a, Expression b);
[[nodiscard]] Expression operator||(Expression a, Expression b);
[[nodiscard]] Expression operator!(Expression a);
[[nodiscard]] Expression choose(Expression condition, Expression yes, Expression no);
[[nodiscard]] Expression call(Entity function, std::vector<Expression> arguments = {});
/// Of a function that the kernel declares, or a member of something.
[[nodiscard]] Expression invoke(Expression function, std::vector<Expression> arguments = {});
/// `array[index]`.
[[nodiscard]] Expression subscript(Expression array, Expression index);
/// `array(i, j)`.
[[nodiscard]] Expression element(Expression array, std::vector<Expression> indices);
[[nodiscard]] Expression braces(std::vector<Expression> parts);

/// Whether it is the literal.
[[nodiscard]] bool is(const Expression& expression, bool value);
/// Its value, where it is an integer's literal.
[[nodiscard]] const Integer* integer_in(const Expression& expression);
/// The parts that an expression is made of; empty of leaves. Template arguments are none.
[[nodiscard]] std::vector<Expression>* parts_of(Expression& expression);
[[nodiscard]] const std::vector<Expression>* parts_of(const Expression& expression);

/// A constant.
[[nodiscard]] Statement define(Type type, std::string name, Expression value,
                               std::string remark = {});
/// A variable that is assigned later.
[[nodiscard]] Statement declare(Type type, std::string name,
                                std::optional<Expression> value = std::nullopt,
                                std::string remark = {});
[[nodiscard]] Statement declare_array(Type type, std::string name,
                                      std::vector<Expression> dimensions,
                                      std::optional<Expression> value = std::nullopt,
                                      std::string remark = {});
/// `const auto name = [&](...) { ... };`
[[nodiscard]] Statement define_function(std::string name, Lambda function);
[[nodiscard]] Statement assign(Expression target, Expression value);
[[nodiscard]] Statement add_to(Expression target, Expression value);
/// The body where the condition holds; itself where that is always.
[[nodiscard]] Body only_if(Expression condition, Body body);
void append(Body& body, Body more);
/// A loop whose turns the block's threads share: `for (int name = threadIdx.x; ...; += kThreads)`.
[[nodiscard]] Statement shared_loop(std::string name, Expression end, Body body);
/// A loop whose every turn is printed in the end.
[[nodiscard]] Statement unrolled_loop(std::string name, Expression end, Body body);

}  // namespace napkin::kernel
