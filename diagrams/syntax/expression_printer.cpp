// What needs parentheses depends on two things: how tightly the place binds (`least`, as in the
// parser), and which operator stands to the right of the text (`follow`). The second matters since
// a conditional and a reduction have no end of their own: `sum(d) a` followed by `* b` would take
// `b` in, and `if c then a else b` takes in whatever follows.
#include "diagrams/syntax/expression_printer.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "diagrams/overloaded.h"
#include "diagrams/syntax/expression_parser.h"

namespace napkin::syntax {

namespace {

std::string text_of(const Literal& literal) {
    char buffer[32];
    char* const end = buffer + sizeof buffer;
    if (literal.is_integer)
        return {buffer, std::to_chars(buffer, end, std::llround(literal.value)).ptr};
    if (std::isinf(literal.value)) return literal.value > 0 ? "inf" : "-inf";
    std::string text(buffer, std::to_chars(buffer, end, literal.value).ptr);
    const std::size_t exponent = text.find('e');
    if (exponent == std::string::npos)
        return text.find('.') == std::string::npos ? text + ".0" : text;
    // The library writes 1e-06 and 1e+20; people write 1e-6 and 1e20.
    std::string digits = text.substr(exponent + 1);
    const bool negative = digits.front() == '-';
    digits.erase(0, digits.find_first_not_of("+-0"));
    return text.substr(0, exponent) + (negative ? "e-" : "e") + digits;
}

class Printer {
public:
    explicit Printer(TextWriter& writer) : writer_(writer) {}

    void print(const Expression& expression, Precedence least, Precedence follow) {
        // Inside another reduction the user's parentheses say that the inner one is meant.
        const bool chosen = in_reduction_ && expression.parenthesised &&
                            std::holds_alternative<Reduction>(expression.node);
        if (!chosen && !needs_parentheses(expression, least, follow)) {
            print_bare(expression, follow);
            return;
        }
        const bool outside = std::exchange(in_reduction_, false);
        writer_.open_bracket("(");
        print_bare(expression, Precedence::Loosest);
        writer_.close_bracket(")");
        in_reduction_ = outside;
    }

    void list(const std::vector<Expression>& items) {
        const bool outside = std::exchange(in_reduction_, false);
        separated(items);
        in_reduction_ = outside;
    }

private:
    void separated(const std::vector<Expression>& items) {
        for (const Expression& item : items) {
            if (&item != &items.front()) comma();
            print(item, Precedence::Loosest, Precedence::Loosest);
        }
    }

    static bool needs_parentheses(const Expression& expression, Precedence least,
                                  Precedence follow) {
        return std::visit(
            overloaded{
                [](const Literal&) { return false; },
                [](const Reference&) { return false; },
                [](const Access&) { return false; },
                [](const Call&) { return false; },
                [&](const Reduction&) {
                    return least > Precedence::Unary || follow >= Precedence::Product;
                },
                [&](const Unary& unary) {
                    return (unary.op == "-" ? Precedence::Unary : Precedence::Not) < least;
                },
                [&](const Binary& binary) { return precedence_of(binary.op) < least; },
                [&](const Conditional&) {
                    return least > Precedence::Loosest || follow > Precedence::Loosest;
                },
            },
            expression.node);
    }

    void print_bare(const Expression& expression, Precedence follow) {
        std::visit(overloaded{
                       [&](const Literal& literal) { writer_ << text_of(literal); },
                       [&](const Reference& reference) { writer_ << reference.name.text; },
                       [&](const Access& access) {
                           writer_ << access.array.text;
                           writer_.open_bracket("[");
                           list(access.index);
                           writer_.close_bracket("]");
                       },
                       [&](const Call& call) { print_call(call); },
                       [&](const Reduction& reduction) { print_reduction(reduction, follow); },
                       [&](const Unary& unary) { print_unary(unary, follow); },
                       [&](const Binary& binary) { print_binary(binary, follow); },
                       [&](const Conditional& conditional) { print_conditional(conditional); },
                   },
                   expression.node);
    }

    void comma() {
        writer_ << ",";
        writer_.space(static_cast<int>(Precedence::Loosest));
    }

    void names(const std::vector<Name>& list) {
        for (const Name& name : list) writer_ << (&name == &list.front() ? "" : ", ") << name.text;
    }

    void print_call(const Call& call) {
        writer_ << call.function.text;
        if (call.has_axes) {
            writer_ << "[";
            names(call.axes);
            writer_ << "]";
        }
        writer_.open_bracket("(");
        list(call.arguments);
        writer_.close_bracket(")");
    }

    void print_reduction(const Reduction& reduction, Precedence follow) {
        if (reduction.every_prefix) {
            writer_ << (reduction.exclusive ? "exclusive_scan[" : "scan[");
            names(reduction.over);
            writer_ << "] " << reduction.monoid.text << " ";
        } else {
            writer_ << reduction.monoid.text << "(";
            names(reduction.over);
            writer_ << ") ";
        }
        const Expression& first = reduction.operands.front();
        const bool outside = std::exchange(in_reduction_, true);
        if (reduction.operands.size() > 1) {
            writer_.open_bracket("(");
            separated(reduction.operands);
            writer_.close_bracket(")");
        } else if (std::holds_alternative<Conditional>(first.node)) {
            print(first, Precedence::Loosest, follow);
        } else {
            print(first, begins_with_sign(first) ? Precedence::Tightest : Precedence::Product,
                  follow);
        }
        in_reduction_ = outside;
    }

    /// Whether the text begins with `-`, which after `sum(d)` would be a subtraction.
    static bool begins_with_sign(const Expression& expression) {
        if (const Unary* unary = std::get_if<Unary>(&expression.node)) return unary->op == "-";
        const Binary* binary = std::get_if<Binary>(&expression.node);
        if (binary == nullptr) return false;
        const Expression& left = binary->operands.front();
        const Precedence level = precedence_of(binary->op);
        return !needs_parentheses(left, least_on_left(level), level) && begins_with_sign(left);
    }

    /// Operators group to the left, but for comparisons (which do not chain) and powers.
    static Precedence least_on_left(Precedence level) {
        const bool groups_left = level != Precedence::Comparison && level != Precedence::Power;
        return groups_left ? level : tighter(level);
    }

    void print_unary(const Unary& unary, Precedence follow) {
        const bool minus = unary.op == "-";
        writer_ << (minus ? "-" : "not ");
        print(unary.operand.front(), minus ? Precedence::Unary : Precedence::Not, follow);
    }

    void print_binary(const Binary& binary, Precedence follow) {
        const Precedence level = precedence_of(binary.op);
        print(binary.operands[0], least_on_left(level), level);
        writer_.space(static_cast<int>(level));
        writer_ << binary.op << " ";
        const Expression& right = binary.operands[1];
        print(right, level == Precedence::Power ? exponent_level(right) : tighter(level), follow);
    }

    /// `x ^ 2` and `x ^ -2` stand bare, every longer exponent in parentheses.
    static Precedence exponent_level(const Expression& exponent) {
        const Unary* unary = std::get_if<Unary>(&exponent.node);
        const bool bare = unary != nullptr && unary->op == "-" &&
                          std::holds_alternative<Literal>(unary->operand.front().node);
        return bare ? Precedence::Unary : Precedence::Tightest;
    }

    void print_conditional(const Conditional& conditional) {
        const std::size_t group = writer_.new_group();
        writer_ << "if ";
        print_inner_branch(conditional.parts[0]);
        writer_.space(static_cast<int>(Precedence::Loosest), group);
        writer_ << "then ";
        print_inner_branch(conditional.parts[1]);
        writer_.space(static_cast<int>(Precedence::Loosest), group);
        writer_ << "else ";
        print(conditional.parts[2], Precedence::Loosest, Precedence::Loosest);
    }

    /// A conditional inside another, other than after `else`, stands in parentheses for the reader.
    void print_inner_branch(const Expression& part) {
        const bool nested = std::holds_alternative<Conditional>(part.node);
        print(part, nested ? Precedence::Tightest : Precedence::Loosest, Precedence::Loosest);
    }

    TextWriter& writer_;
    bool in_reduction_ = false;  ///< directly in an operand, no parentheses or brackets between
};

}  // namespace

void write_expression(TextWriter& writer, const Expression& expression) {
    Printer(writer).print(expression, Precedence::Loosest, Precedence::Loosest);
}

void write_tuple(TextWriter& writer, const std::vector<Expression>& parts) {
    if (parts.size() == 1) {
        write_expression(writer, parts.front());
        return;
    }
    writer.open_bracket("(");
    Printer(writer).list(parts);
    writer.close_bracket(")");
}

}  // namespace napkin::syntax
