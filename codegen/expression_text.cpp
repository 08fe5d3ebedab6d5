#include "codegen/expression_text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "codegen/kernel_tree.h"
#include "diagrams/overloaded.h"
#include "diagrams/result.h"

namespace napkin::kernel {
namespace {

/// C++'s, tighter ones higher.
enum class Precedence { Choice, Or, And, Equality, Relation, Sum, Product, Unary, Primary };

struct Sign {
    const char* text;
    Precedence precedence;
};

Sign sign_of(Operator operation) {
    switch (operation) {
    case Operator::Or: return {"||", Precedence::Or};
    case Operator::And: return {"&&", Precedence::And};
    case Operator::Equal: return {"==", Precedence::Equality};
    case Operator::NotEqual: return {"!=", Precedence::Equality};
    case Operator::Less: return {"<", Precedence::Relation};
    case Operator::LessEqual: return {"<=", Precedence::Relation};
    case Operator::Greater: return {">", Precedence::Relation};
    case Operator::GreaterEqual: return {">=", Precedence::Relation};
    case Operator::Add: return {"+", Precedence::Sum};
    case Operator::Subtract: return {"-", Precedence::Sum};
    case Operator::Multiply: return {"*", Precedence::Product};
    case Operator::Divide: return {"/", Precedence::Product};
    case Operator::Remainder: return {"%", Precedence::Product};
    case Operator::Not: return {"!", Precedence::Unary};
    case Operator::Negate: return {"-", Precedence::Unary};
    }
    throw InternalError("unknown operator");
}

Precedence tighter(Precedence precedence) {
    return static_cast<Precedence>(static_cast<int>(precedence) + 1);
}

std::string text_of(const Integer& number) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    if (number.value == kLeast) return "(-9223372036854775807LL - 1)";
    return fmt::format("{}{}", number.value, number.wide ? "LL" : "");
}

std::string text_of(const Real& number) {
    if (std::isnan(number.value)) return "float_of(0x7fc00000u)";
    if (std::isinf(number.value)) return number.value > 0 ? "infinity()" : "minus_infinity()";
    std::string text = fmt::format("{}", number.value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + "f";
}

class Writer {
public:
    void add(const Expression& expression, Precedence least) {
        if (precedence_of(expression) >= least) return add(expression);
        open('(');
        add(expression);
        close(')');
    }
    void add(const Expression& expression) {
        std::visit(overloaded{[&](const Integer& e) { result.text += text_of(e); },
                              [&](const Variable& e) { result.text += e.name; },
                              [&](const Real& e) { result.text += text_of(e); },
                              [&](const Boolean& e) { result.text += e.value ? "true" : "false"; },
                              [&](const Quoted& e) { result.text += "\"" + e.text + "\""; },
                              [&](const Entity& e) { add_entity(e); },
                              [&](const Scoped& e) {
                                  add_entity(e.scope);
                                  result.text += "::" + e.name;
                              },
                              [&](const Member& e) {
                                  add(e.object.front(), Precedence::Primary);
                                  result.text += "." + e.name;
                              },
                              [&](const Unary& e) { add_unary(e); },
                              [&](const Binary& e) { add_binary(e); },
                              [&](const Choice& e) { add_choice(e); },
                              [&](const Call& e) { add_list(e.parts, '(', ')'); },
                              [&](const Element& e) {
                                  add_list(e.parts, e.brackets ? '[' : '(', e.brackets ? ']' : ')');
                              },
                              [&](const Braces& e) {
                                  open('{');
                                  add_parts(e.parts, 0);
                                  close('}');
                              },
                              [&](const Lambda& e) { add_head(e); }},
                   expression.node);
    }
    void add_entity(const Entity& entity) {
        result.text += entity.name;
        if (entity.arguments.empty()) return;
        result.text += "<";
        Writer inner;
        for (std::size_t i = 0; i < entity.arguments.size(); ++i) {
            inner.result.text += i > 0 ? ", " : "";
            inner.add(entity.arguments[i]);
        }
        result.text += inner.result.text + ">";
    }

    Text result;

private:
    static Precedence precedence_of(const Expression& expression) {
        if (const Binary* e = std::get_if<Binary>(&expression.node))
            return sign_of(e->operation).precedence;
        if (std::holds_alternative<Unary>(expression.node)) return Precedence::Unary;
        if (std::holds_alternative<Choice>(expression.node)) return Precedence::Choice;
        const Integer* integer = std::get_if<Integer>(&expression.node);
        const Real* real = std::get_if<Real>(&expression.node);
        const bool negative =
            (integer != nullptr && integer->value < 0) ||
            (real != nullptr && std::isfinite(real->value) && std::signbit(real->value));
        return negative ? Precedence::Unary : Precedence::Primary;
    }
    void open(char bracket) {
        result.text += bracket;
        ++depth_;
    }
    void close(char bracket) {
        result.text += bracket;
        --depth_;
    }
    void breakable(Break::Kind kind) {
        result.breaks.push_back({result.text.size(), kind, depth_});
    }

    void add_unary(const Unary& e) {
        result.text += sign_of(e.operation).text;
        // `--x` would be something else.
        const bool again = e.operation == Operator::Negate &&
                           precedence_of(e.operand.front()) == Precedence::Unary;
        add(e.operand.front(), again ? Precedence::Primary : Precedence::Unary);
    }
    void add_binary(const Binary& e) {
        const Sign sign = sign_of(e.operation);
        // Compilers ask for parentheses around && under ||.
        const bool either = e.operation == Operator::Or;
        add(e.sides[0], either && sign_of_root(e.sides[0]) == Operator::And ? Precedence::Equality
                                                                            : sign.precedence);
        result.text += std::string(" ") + sign.text;
        if (either) breakable(Break::Kind::Or);
        if (e.operation == Operator::And) breakable(Break::Kind::And);
        if (sign.precedence == Precedence::Sum) breakable(Break::Kind::Sum);
        result.text += " ";
        add(e.sides[1], either ? Precedence::Equality : tighter(sign.precedence));
    }
    static Operator sign_of_root(const Expression& expression) {
        const Binary* e = std::get_if<Binary>(&expression.node);
        return e == nullptr ? Operator::Not : e->operation;
    }
    void add_choice(const Choice& e) {
        add(e.parts[0], Precedence::Or);
        breakable(Break::Kind::Question);
        result.text += " ? ";
        add(e.parts[1], Precedence::Choice);
        breakable(Break::Kind::Colon);
        result.text += " : ";
        add(e.parts[2], Precedence::Choice);
    }
    /// The first part, then the others in brackets.
    void add_list(const std::vector<Expression>& parts, char first, char last) {
        add(parts.front(), Precedence::Primary);
        open(first);
        add_parts(parts, 1);
        close(last);
    }
    void add_parts(const std::vector<Expression>& parts, std::size_t from) {
        for (std::size_t i = from; i < parts.size(); ++i) {
            if (i > from) {
                result.text += ",";
                breakable(Break::Kind::Argument);
                result.text += " ";
            }
            add(parts[i]);
        }
    }
    void add_head(const Lambda& e) {
        result.text += "[&]";
        for (std::size_t i = 0; i < e.parameters.size(); ++i) {
            result.text += i > 0 ? ", " : "(";
            add_entity(e.parameters[i].type);
            result.text += (e.parameters[i].reference ? "& " : " ") + e.parameters[i].name;
        }
        if (!e.parameters.empty()) result.text += ")";
        result.text += e.inlined ? " NK_INLINE {" : " {";
    }

    int depth_ = 0;
};

}  // namespace

Text text_of(const Expression& expression) {
    Writer writer;
    writer.add(expression);
    const Call* call = std::get_if<Call>(&expression.node);
    const Element* element = std::get_if<Element>(&expression.node);
    if (call != nullptr || (element != nullptr && !element->brackets))
        writer.result.arguments = width_of(parts_of(expression)->front()) + 1;
    return std::move(writer.result);
}

std::string print(const Expression& expression) {
    return text_of(expression).text;
}

std::string print(const Entity& entity) {
    return print(Expression(entity));
}

std::size_t width_of(const Expression& expression) {
    return print(expression).size();
}

}  // namespace napkin::kernel
