#include "codegen/export/size_code.h"

#include <fmt/format.h>

#include <numeric>

namespace napkin::exporting {
namespace {

/// A quotient whose denominator is known: sizes are whole, but parts of their formulas need not be.
struct Fraction {
    std::string numerator;
    std::int64_t denominator = 1;
};

class Writer {
public:
    Writer(Language language, const std::function<std::string(AxisId)>& size)
        : language_(language), size_(size) {}

    std::string whole(const Formula& formula) const {
        const Fraction value = write(formula);
        if (value.denominator == 1) return value.numerator;
        return call("exact", value.numerator, std::to_string(value.denominator));
    }

private:
    [[nodiscard]] Fraction write(const Formula& formula) const {
        switch (formula.op) {
        case FormulaOp::Constant:
            return {std::to_string(formula.constant.numerator), formula.constant.denominator};
        case FormulaOp::Symbol: return {size_(formula.symbol.axis), 1};
        case FormulaOp::Add: return sum(formula.args);
        case FormulaOp::Multiply: return product(formula.args);
        case FormulaOp::Divide:
        case FormulaOp::FloorDivide:
        case FormulaOp::CeilDivide:
        case FormulaOp::Modulo: return quotient(formula);
        case FormulaOp::Min:
        case FormulaOp::Max: return extreme(formula);
        case FormulaOp::LessEqual:
        case FormulaOp::Sum: break;
        }
        throw InternalError("a size that no axis line can write");
    }
    /// The numerator over a multiple of the denominator.
    [[nodiscard]] std::string over(const Fraction& value, std::int64_t denominator) const {
        const std::int64_t factor = denominator / value.denominator;
        return factor == 1 ? value.numerator : times(value.numerator, std::to_string(factor));
    }
    [[nodiscard]] Fraction sum(const std::vector<Formula>& terms) const {
        std::vector<Fraction> parts;
        std::int64_t denominator = 1;
        for (const Formula& term : terms) {
            parts.push_back(write(term));
            denominator = std::lcm(denominator, parts.back().denominator);
        }
        std::string text;
        for (const Fraction& part : parts)
            text += (text.empty() ? "(" : " + ") + over(part, denominator);
        return {text + ")", denominator};
    }
    [[nodiscard]] Fraction product(const std::vector<Formula>& factors) const {
        Fraction result{"", 1};
        for (const Formula& factor : factors) {
            const Fraction part = write(factor);
            result.numerator =
                result.numerator.empty() ? part.numerator : times(result.numerator, part.numerator);
            result.denominator *= part.denominator;
        }
        return result;
    }
    [[nodiscard]] Fraction quotient(const Formula& formula) const {
        const Fraction a = write(formula.args[0]);
        const Fraction b = write(formula.args[1]);
        const std::int64_t common = std::lcm(a.denominator, b.denominator);
        const std::string left = over(a, common);
        const std::string right = over(b, common);
        switch (formula.op) {
        case FormulaOp::Divide: return {call("exact", left, right), 1};
        case FormulaOp::FloorDivide: return {floor(left, right), 1};
        case FormulaOp::CeilDivide: return {negative(floor(negative(left), right)), 1};
        default: return {remainder(left, right), common};
        }
    }
    [[nodiscard]] Fraction extreme(const Formula& formula) const {
        const Fraction a = write(formula.args[0]);
        const Fraction b = write(formula.args[1]);
        const std::int64_t common = std::lcm(a.denominator, b.denominator);
        const bool least = formula.op == FormulaOp::Min;
        const std::string function = language_ == Language::C
                                         ? (least ? "smaller" : "larger")
                                         : (least ? "torch.sym_min" : "torch.sym_max");
        return {fmt::format("{}({}, {})", function, over(a, common), over(b, common)), common};
    }
    [[nodiscard]] std::string times(const std::string& a, const std::string& b) const {
        return language_ == Language::C ? fmt::format("times({}, {})", a, b)
                                        : fmt::format("{} * {}", a, b);
    }
    [[nodiscard]] std::string negative(const std::string& a) const {
        return fmt::format("(-({}))", a);
    }
    [[nodiscard]] std::string floor(const std::string& a, const std::string& b) const {
        return language_ == Language::C ? fmt::format("floor_divide({}, {})", a, b)
                                        : fmt::format("(({}) // ({}))", a, b);
    }
    [[nodiscard]] std::string remainder(const std::string& a, const std::string& b) const {
        return language_ == Language::C ? fmt::format("remainder_of({}, {})", a, b)
                                        : fmt::format("(({}) % ({}))", a, b);
    }
    [[nodiscard]] std::string call(const char* name, const std::string& a,
                                   const std::string& b) const {
        return language_ == Language::C ? fmt::format("{}({}, {}, &whole)", name, a, b)
                                        : fmt::format("_{}({}, {})", name, a, b);
    }

    Language language_;
    const std::function<std::string(AxisId)>& size_;
};

}  // namespace

std::string size_code(const Formula& formula, Language language,
                      const std::function<std::string(AxisId)>& size) {
    return Writer(language, size).whole(formula);
}

}  // namespace napkin::exporting
