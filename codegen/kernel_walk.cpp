#include "codegen/kernel_walk.h"

#include "diagrams/overloaded.h"

namespace napkin::kernel {

void for_expressions(Statement& statement, const std::function<void(Expression&)>& visit) {
    const auto if_any = [&](std::optional<Expression>& value) {
        if (value) visit(*value);
    };
    const auto all = [&](std::vector<Expression>& values) {
        for (Expression& value : values) visit(value);
    };
    std::visit(overloaded{[&](Declare& s) {
                              all(s.type.arguments);
                              all(s.dimensions);
                              if_any(s.value);
                          },
                          [&](Alias& s) { all(s.type.arguments); },
                          [&](Assign& s) {
                              visit(s.target);
                              visit(s.value);
                          },
                          [&](Run& s) { visit(s.call); }, [&](Return& s) { visit(s.value); },
                          [&](For& s) {
                              visit(s.begin);
                              visit(s.end);
                              visit(s.step);
                              if_any(s.next);
                          },
                          [](Halve&) {}, [&](Repeat& s) { visit(s.condition); },
                          [&](If& s) { visit(s.condition); }, [](Block&) {},
                          [&](SkipUnless& s) { visit(s.condition); },
                          [&](LeaveIf& s) { visit(s.condition); }, [](Barrier&) {}, [](Comment&) {},
                          [](Phase&) {}},
               statement.node);
}

void for_expressions(const Statement& statement,
                     const std::function<void(const Expression&)>& visit) {
    for_expressions(const_cast<Statement&>(statement), [&](Expression& e) { visit(e); });
}

namespace {

/// Of a part that an expression is made of, whatever it is.
void for_parts(Expression& expression, const std::function<void(Expression&)>& visit) {
    std::vector<Expression>* parts = parts_of(expression);
    if (Entity* entity = std::get_if<Entity>(&expression.node)) parts = &entity->arguments;
    if (Scoped* inner = std::get_if<Scoped>(&expression.node)) parts = &inner->scope.arguments;
    if (parts != nullptr)
        for (Expression& part : *parts) visit(part);
}

void for_functions(Expression& expression, const std::function<void(Body&)>& visit) {
    if (Lambda* lambda = std::get_if<Lambda>(&expression.node)) visit(lambda->body);
    for_parts(expression, [&](Expression& part) { for_functions(part, visit); });
}

void rewrite(Expression& expression, const std::function<Expression(Expression)>& change) {
    if (Lambda* lambda = std::get_if<Lambda>(&expression.node)) rewrite(lambda->body, change);
    for_parts(expression, [&](Expression& part) { rewrite(part, change); });
    expression = change(std::move(expression));
}

}  // namespace

void for_functions(Statement& statement, const std::function<void(Body&)>& visit) {
    for_expressions(statement, [&](Expression& e) { for_functions(e, visit); });
}

void for_bodies(Statement& statement, const std::function<void(Body&)>& visit) {
    std::visit(overloaded{[&](For& s) { visit(s.body); }, [&](Halve& s) { visit(s.body); },
                          [&](Repeat& s) { visit(s.body); }, [&](Block& s) { visit(s.body); },
                          [&](Phase& s) { visit(s.body); },
                          [&](If& s) {
                              visit(s.then);
                              visit(s.otherwise);
                          },
                          [](auto&) {}},
               statement.node);
}

void for_bodies(const Statement& statement, const std::function<void(const Body&)>& visit) {
    for_bodies(const_cast<Statement&>(statement), [&](Body& body) { visit(body); });
}

void for_functions(const Statement& statement, const std::function<void(const Body&)>& visit) {
    for_functions(const_cast<Statement&>(statement), [&](Body& body) { visit(body); });
}

void walk(const Expression& expression, const std::function<void(const Expression&)>& visit) {
    visit(expression);
    if (const Lambda* lambda = std::get_if<Lambda>(&expression.node))
        for (const Statement& statement : lambda->body) walk(statement, visit);
    for_parts(const_cast<Expression&>(expression), [&](Expression& part) { walk(part, visit); });
}

void walk(const Statement& statement, const std::function<void(const Expression&)>& visit) {
    if (const Declare* s = std::get_if<Declare>(&statement.node)) visit(Expression(s->type));
    if (const Alias* s = std::get_if<Alias>(&statement.node)) visit(Expression(s->type));
    for_expressions(statement, [&](const Expression& e) { walk(e, visit); });
    for_bodies(statement, [&](const Body& body) {
        for (const Statement& part : body) walk(part, visit);
    });
}

void rewrite(Body& body, const std::function<Expression(Expression)>& change) {
    for (Statement& statement : body) {
        for_expressions(statement, [&](Expression& e) { rewrite(e, change); });
        for_bodies(statement, [&](Body& inner) { rewrite(inner, change); });
    }
}

}  // namespace napkin::kernel
