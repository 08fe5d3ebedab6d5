// Exact evaluation of formulas at numbers. A formula is first compiled: symbols become slots of a
// vector, since sums evaluate their term many times.
#include <algorithm>
#include <map>

#include "diagrams/formula.h"
#include "diagrams/formula_parts.h"
#include "diagrams/symbol_names.h"

namespace napkin {

namespace {

using Value = std::optional<Rational>;

/// A formula whose symbols are numbered.
struct Node {
    FormulaOp op = FormulaOp::Constant;
    Rational constant;
    std::size_t slot = 0;
    std::vector<Node> args;
};

/// Numbers symbols; a bound index gets a slot of its own.
class Compiler {
public:
    explicit Compiler(const SymbolValues& given) : given_(given) {}

    Node compile(const Formula& formula) {
        Node node{formula.op, formula.constant, 0, {}};
        if (formula.op == FormulaOp::Symbol) node.slot = slot_of(formula.symbol);
        if (formula.op != FormulaOp::Sum) {
            for (const Formula& arg : formula.args) node.args.push_back(compile(arg));
            return node;
        }
        node.args.push_back(compile(formula.args[0]));
        node.args.push_back(compile(formula.args[1]));
        node.slot = values.size();
        values.push_back(0);
        bound_[formula.symbol].push_back(node.slot);
        node.args.push_back(compile(formula.args[2]));
        bound_[formula.symbol].pop_back();
        return node;
    }

    std::vector<std::int64_t> values;

private:
    std::size_t slot_of(Symbol symbol) {
        const auto inner = bound_.find(symbol);
        if (inner != bound_.end() && !inner->second.empty()) return inner->second.back();
        const auto [entry, fresh] = free_.try_emplace(symbol, values.size());
        if (fresh) {
            const auto value = given_.find(symbol);
            invariant(value != given_.end(), "no value for the symbol `", SymbolNames()(symbol),
                      "`");
            values.push_back(value->second);
        }
        return entry->second;
    }

    const SymbolValues& given_;
    std::map<Symbol, std::size_t> free_;
    std::map<Symbol, std::vector<std::size_t>> bound_;
};

Value floor_ratio(Rational a, Rational b) {
    if (a.denominator == 1 && b.denominator == 1 && b.numerator > 0) {
        const std::int64_t quotient = a.numerator / b.numerator;
        return Rational{a.numerator % b.numerator < 0 ? quotient - 1 : quotient, 1};
    }
    const Value quotient = checked_divide(a, b);
    return quotient ? Value({floor_of(*quotient), 1}) : std::nullopt;
}

Value ceil_ratio(Rational a, Rational b) {
    if (a.denominator == 1 && b.denominator == 1 && b.numerator > 0) {
        const std::int64_t quotient = a.numerator / b.numerator;
        return Rational{a.numerator % b.numerator > 0 ? quotient + 1 : quotient, 1};
    }
    const Value quotient = checked_divide(a, b);
    return quotient ? Value({ceil_of(*quotient), 1}) : std::nullopt;
}

Value remainder(Rational a, Rational b) {
    const Value quotient = floor_ratio(a, b);
    if (!quotient) return std::nullopt;
    const Value whole = checked_multiply(b, {-quotient->numerator, 1});
    return whole ? checked_add(a, *whole) : std::nullopt;
}

Value combine(FormulaOp op, Rational a, Rational b) {
    switch (op) {
    case FormulaOp::Add: return checked_add(a, b);
    case FormulaOp::Multiply: return checked_multiply(a, b);
    case FormulaOp::Divide: return checked_divide(a, b);
    case FormulaOp::FloorDivide: return floor_ratio(a, b);
    case FormulaOp::CeilDivide: return ceil_ratio(a, b);
    case FormulaOp::Modulo: return remainder(a, b);
    case FormulaOp::Min: return std::min(a, b);
    case FormulaOp::Max: return std::max(a, b);
    case FormulaOp::LessEqual: return Rational{b < a ? 0 : 1, 1};
    default: return std::nullopt;
    }
}

Value value_of(const Node& node, std::vector<std::int64_t>& values) {
    if (node.op == FormulaOp::Constant) return node.constant;
    if (node.op == FormulaOp::Symbol) return Rational{values[node.slot], 1};
    Value result = value_of(node.args[0], values);
    if (node.op != FormulaOp::Sum) {
        for (std::size_t i = 1; result && i < node.args.size(); ++i) {
            const Value next = value_of(node.args[i], values);
            result = next ? combine(node.op, *result, *next) : std::nullopt;
        }
        return result;
    }
    const Value high = value_of(node.args[1], values);
    if (!result || !high) return std::nullopt;
    Value total = Rational{0, 1};
    const std::int64_t last = floor_of(*high);
    for (std::int64_t index = ceil_of(*result); total && index <= last; ++index) {
        values[node.slot] = index;
        const Value term = value_of(node.args[2], values);
        total = term ? checked_add(*total, *term) : std::nullopt;
    }
    return total;
}

}  // namespace

std::optional<Rational> evaluate(const Formula& formula, const SymbolValues& values) {
    Compiler compiler(values);
    const Node node = compiler.compile(formula);
    return value_of(node, compiler.values);
}

std::int64_t evaluate_integer(const Formula& formula, const SymbolValues& values) {
    const std::optional<Rational> value = evaluate(formula, values);
    if (!value || value->denominator != 1)
        invariant(false, "`", print(formula, SymbolNames()),
                  value ? "` is not an integer" : "` overflows or divides by zero");
    return value->numerator;
}

}  // namespace napkin
