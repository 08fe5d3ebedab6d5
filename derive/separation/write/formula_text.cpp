#include "derive/separation/write/formula_text.h"

#include <cmath>
#include <cstdio>

#include "diagrams/overloaded.h"

namespace napkin::separation {
namespace {

// How tightly an operator binds.
constexpr int kBranch = 0;
constexpr int kOr = 1;
constexpr int kAnd = 2;
constexpr int kNot = 3;
constexpr int kCompare = 4;
constexpr int kAdditive = 5;
constexpr int kMultiplicative = 6;
constexpr int kMinus = 7;
constexpr int kPower = 8;
constexpr int kLeaf = 9;

struct Text {
    std::string text;
    int precedence = kLeaf;
};

class Writer {
public:
    explicit Writer(const Diagram& scope) : scope_(scope) {}

    [[nodiscard]] Text write(const Expression& expression) const {
        return std::visit(
            overloaded{
                [](const Number& number) -> Text {
                    return {number_text(number.value), number.value < 0 ? kMinus : kLeaf};
                },
                [&](const AxisIndex& index) -> Text { return {scope_[index.axis].name}; },
                [&](const SizeOf& size) -> Text {
                    return {"size(" + scope_[size.axis].name + ")"};
                },
                [&](const Read& element) -> Text {
                    // A formula in place of a name is a fold, which takes in what is multiplied.
                    const bool formula = scope_[element.array].name.find(' ') != std::string::npos;
                    return {read_text(element), formula ? kAdditive : kLeaf};
                },
                [&](const Apply& call) { return call_text(call); },
                [&](const Convert& convert) -> Text {
                    return {std::string(name_of(convert.type)) + "(" +
                            write(convert.argument.front()).text + ")"};
                },
                [](const Operand& operand) -> Text {
                    return {"operand" + std::to_string(operand.slot)};
                },
            },
            expression.node);
    }

    [[nodiscard]] std::string at(const Expression& expression, int precedence) const {
        const Text text = write(expression);
        return text.precedence < precedence ? "(" + text.text + ")" : text.text;
    }

private:
    const Diagram& scope_;

    static std::string number_text(double value) {
        if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
        char buffer[32];
        const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
        std::snprintf(buffer, sizeof buffer, whole ? "%.0f" : "%.6g", value);
        return buffer;
    }

    [[nodiscard]] std::string read_text(const Read& element) const {
        const Array& array = scope_[element.array];
        bool own = true;
        std::string index;
        for (std::size_t i = 0; i < element.index.size(); ++i) {
            const AxisIndex* axis = std::get_if<AxisIndex>(&element.index[i].node);
            own &= axis != nullptr && axis->axis == array.axes[i];
            index += (i == 0 ? "" : ", ") + write(element.index[i]).text;
        }
        return own ? array.name : array.name + "[" + index + "]";
    }

    [[nodiscard]] Text binary(const Apply& call, int precedence) const {
        const bool tight = precedence == kPower;
        const std::string sign = tight ? "^" : std::string(" ") + name_of(call.function) + " ";
        // The right side of - and / needs parentheses at the same precedence, and so does what
        // rounds: a * (b % c) is not (a * b) % c.
        const Apply* right = std::get_if<Apply>(&call.arguments[1].node);
        const bool rounds = right != nullptr && (right->function == Function::FloorDivide ||
                                                 right->function == Function::Modulo);
        const bool flat = call.function == Function::Add ||
                          (call.function == Function::Multiply && !rounds) ||
                          call.function == Function::And || call.function == Function::Or;
        return {at(call.arguments[0], precedence + (tight ? 1 : 0)) + sign +
                    at(call.arguments[1], flat ? precedence : precedence + 1),
                precedence};
    }

    /// What a value is compared with itself for, in words.
    [[nodiscard]] Text equality(const Apply& call) const {
        const bool equal = call.function == Function::Equal;
        const Expression& value = call.arguments[1];
        const auto is = [&](const char* what) {
            return Text{at(value, kAdditive) + what, kCompare};
        };
        if (equal && call.arguments[0] == apply(Function::Guard, {value})) return is(" is finite");
        if (call.arguments[0] == value) return is(equal ? " is a number" : " is no number");
        return binary(call, kCompare);
    }

    [[nodiscard]] Text call_text(const Apply& call) const {
        switch (call.function) {
        case Function::Negate: return {"-" + at(call.arguments[0], kMinus), kMinus};
        case Function::Not: return {"not " + at(call.arguments[0], kNot), kNot};
        case Function::Add:
        case Function::Subtract: return binary(call, kAdditive);
        case Function::Multiply:
        case Function::Divide:
        case Function::FloorDivide:
        case Function::Modulo: return binary(call, kMultiplicative);
        case Function::Power: return binary(call, kPower);
        case Function::Less:
        case Function::LessEqual:
        case Function::Greater:
        case Function::GreaterEqual:
        case Function::Equal:
        case Function::NotEqual: return equality(call);
        case Function::And: return binary(call, kAnd);
        case Function::Or: return binary(call, kOr);
        case Function::Select:
            return {"if " + at(call.arguments[0], kOr) + " then " + at(call.arguments[1], kOr) +
                        " else " + at(call.arguments[2], kBranch),
                    kBranch};
        case Function::Guard: return write(call.arguments[0]);
        default: break;
        }
        std::string text = std::string(name_of(call.function)) + "(";
        for (std::size_t i = 0; i < call.arguments.size(); ++i)
            text += (i == 0 ? "" : ", ") + write(call.arguments[i]).text;
        return {text + ")"};
    }
};

std::string fold_name(const Diagram& scope, const Fold& fold) {
    std::string text = scope[fold.monoid].name + "(";
    for (std::size_t i = 0; i < fold.over.size(); ++i)
        text += (i == 0 ? "" : ", ") + scope[fold.over[i]].name;
    return text + ") ";
}

std::string fold_text(const Diagram& scope, const Fold& fold, std::size_t component) {
    const Writer writer(scope);
    const std::string summand =
        fold_name(scope, fold) + writer.at(fold.values[component], kMultiplicative);
    const std::string prefix = fold.every_prefix ? "every prefix of " : "";
    if (fold.seed.empty()) return prefix + summand;
    if (fold.monoid == kSum)
        return prefix + writer.at(fold.seed[component], kAdditive) + " + " + summand;
    if (fold.monoid == kProduct)
        return prefix + writer.at(fold.seed[component], kMultiplicative) + " * " + summand;
    return prefix + scope[fold.monoid].name + "(" + writer.at(fold.seed[component], kBranch) +
           ", " + summand + ")";
}

}  // namespace

std::string formula_text(const Diagram& scope, const Expression& expression) {
    return Writer(scope).at(expression, kBranch);
}

std::string value_text(const Diagram& scope, const Statement& statement, std::size_t component) {
    return std::visit(
        overloaded{
            [&](const Map& map) { return formula_text(scope, map.value); },
            [&](const Fold& fold) { return fold_text(scope, fold, component); },
            [&](const Select& select) {
                return std::string(component == 0 ? "largest(" : "index of largest(") +
                       scope[select.over].name + ") " + formula_text(scope, select.value);
            },
            [](const Opaque& opaque) { return opaque.name + "(...)"; },
        },
        statement.body);
}

}  // namespace napkin::separation
