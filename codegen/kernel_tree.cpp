#include "codegen/kernel_tree.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <iterator>

#include "codegen/fold_constants.h"
#include "diagrams/overloaded.h"
#include "diagrams/result.h"

namespace napkin::kernel {

namespace {

bool is_identifier(const std::string& text) {
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
           std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

Entity::Entity(std::string text, std::vector<Expression> given)
    : name(std::move(text)), arguments(std::move(given)) {
    invariant(is_identifier(name), "`", name, "` is no name of a type or function");
}
Entity::Entity(std::string text) : Entity(std::move(text), {}) {}
Entity::Entity(const char* text) : Entity(std::string(text)) {}

Lambda::Lambda(std::vector<Parameter> given, Body inside)
    : parameters(std::move(given)), body(std::move(inside)) {}
Lambda::Lambda(const Lambda& other) = default;
Lambda::Lambda(Lambda&& other) noexcept = default;
Lambda& Lambda::operator=(const Lambda& other) = default;
Lambda& Lambda::operator=(Lambda&& other) noexcept = default;
Lambda::~Lambda() = default;
bool Lambda::operator==(const Lambda& other) const = default;

bool Real::operator==(const Real& other) const {
    return std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(other.value);
}

Expression variable(std::string name) {
    invariant(is_identifier(name), "`", name, "` is no name of a variable");
    return Expression(Variable{std::move(name)});
}
Expression real(double value) {
    return Expression(Real{static_cast<float>(value)});
}
Expression scoped(Type scope, std::string name) {
    return Expression(Scoped{std::move(scope), std::move(name)});
}
Expression member(Expression object, std::string name) {
    return Expression(Member{{std::move(object)}, std::move(name)});
}
Expression thread_index() {
    return member(variable("threadIdx"), "x");
}

Expression binary(Operator operation, Expression a, Expression b) {
    return Expression(Binary{operation, {std::move(a), std::move(b)}});
}
Expression operator+(Expression a, Expression b) {
    return binary(Operator::Add, std::move(a), std::move(b));
}
Expression operator-(Expression a, Expression b) {
    return binary(Operator::Subtract, std::move(a), std::move(b));
}
Expression operator*(Expression a, Expression b) {
    return binary(Operator::Multiply, std::move(a), std::move(b));
}
Expression operator/(Expression a, Expression b) {
    return binary(Operator::Divide, std::move(a), std::move(b));
}
Expression operator%(Expression a, Expression b) {
    return binary(Operator::Remainder, std::move(a), std::move(b));
}
Expression operator-(Expression a) {
    return Expression(Unary{Operator::Negate, {std::move(a)}});
}
Expression operator<(Expression a, Expression b) {
    return binary(Operator::Less, std::move(a), std::move(b));
}
Expression operator>=(Expression a, Expression b) {
    return binary(Operator::GreaterEqual, std::move(a), std::move(b));
}
Expression equal(Expression a, Expression b) {
    return binary(Operator::Equal, std::move(a), std::move(b));
}
Expression operator&&(Expression a, Expression b) {
    return folded(binary(Operator::And, std::move(a), std::move(b)));
}
Expression operator||(Expression a, Expression b) {
    return folded(binary(Operator::Or, std::move(a), std::move(b)));
}
Expression operator!(Expression a) {
    return folded(Expression(Unary{Operator::Not, {std::move(a)}}));
}
Expression choose(Expression condition, Expression yes, Expression no) {
    return folded(Expression(Choice{{std::move(condition), std::move(yes), std::move(no)}}));
}

Expression call(Entity function, std::vector<Expression> arguments) {
    return invoke(Expression(std::move(function)), std::move(arguments));
}
Expression invoke(Expression function, std::vector<Expression> arguments) {
    arguments.insert(arguments.begin(), std::move(function));
    return Expression(Call{std::move(arguments)});
}
Expression subscript(Expression array, Expression index) {
    return Expression(Element{{std::move(array), std::move(index)}, true});
}
Expression element(Expression array, std::vector<Expression> indices) {
    indices.insert(indices.begin(), std::move(array));
    return Expression(Element{std::move(indices), false});
}
Expression braces(std::vector<Expression> parts) {
    return Expression(Braces{std::move(parts)});
}

bool is(const Expression& expression, bool value) {
    const Boolean* literal = std::get_if<Boolean>(&expression.node);
    return literal != nullptr && literal->value == value;
}

const Integer* integer_in(const Expression& expression) {
    return std::get_if<Integer>(&expression.node);
}

std::vector<Expression>* parts_of(Expression& expression) {
    using Parts = std::vector<Expression>*;
    return std::visit(overloaded{[](Member& e) -> Parts { return &e.object; },
                                 [](Unary& e) -> Parts { return &e.operand; },
                                 [](Binary& e) -> Parts { return &e.sides; },
                                 [](Choice& e) -> Parts { return &e.parts; },
                                 [](Call& e) -> Parts { return &e.parts; },
                                 [](Element& e) -> Parts { return &e.parts; },
                                 [](Braces& e) -> Parts { return &e.parts; },
                                 [](auto&) -> Parts { return nullptr; }},
                      expression.node);
}

const std::vector<Expression>* parts_of(const Expression& expression) {
    return parts_of(const_cast<Expression&>(expression));
}

Statement define(Type type, std::string name, Expression value, std::string remark) {
    return {
        Declare{std::move(type), std::move(name), {}, std::move(value), true, std::move(remark)}};
}

Statement declare(Type type, std::string name, std::optional<Expression> value,
                  std::string remark) {
    return declare_array(std::move(type), std::move(name), {}, std::move(value), std::move(remark));
}

Statement declare_array(Type type, std::string name, std::vector<Expression> dimensions,
                        std::optional<Expression> value, std::string remark) {
    return {Declare{std::move(type), std::move(name), std::move(dimensions), std::move(value),
                    false, std::move(remark)}};
}

Statement define_function(std::string name, Lambda function) {
    return define("auto", std::move(name), Expression(std::move(function)));
}

Statement assign(Expression target, Expression value) {
    return {Assign{std::move(target), std::move(value), false}};
}

Statement add_to(Expression target, Expression value) {
    return {Assign{std::move(target), std::move(value), true}};
}

Body only_if(Expression condition, Body body) {
    if (is(condition, true)) return body;
    return {{If{std::move(condition), std::move(body), {}}}};
}

Statement shared_loop(std::string name, Expression end, Body body) {
    For loop;
    loop.name = std::move(name);
    loop.begin = thread_index();
    loop.end = std::move(end);
    loop.step = variable("kThreads");
    loop.body = std::move(body);
    return {std::move(loop)};
}

Statement unrolled_loop(std::string name, Expression end, Body body) {
    For loop;
    loop.name = std::move(name);
    loop.end = std::move(end);
    loop.unroll = true;
    loop.body = std::move(body);
    return {std::move(loop)};
}

void append(Body& body, Body more) {
    body.insert(body.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

}  // namespace napkin::kernel
