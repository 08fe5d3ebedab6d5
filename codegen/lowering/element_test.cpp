#include "codegen/lowering/element_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace napkin::lowering {
namespace {

using kernel::call;
using kernel::Operator;

/// What varies along the columns lies between the two ends.
struct Bounds {
    IndexForm columns;
    std::optional<IndexForm> least;
    std::optional<IndexForm> most;

    [[nodiscard]] bool is_one_of(const Bounds& other) const {
        return columns == other.columns && least.has_value() == other.least.has_value() &&
               most.has_value() == other.most.has_value() && least.has_value() != most.has_value();
    }
};

/// All of it holds.
struct Test {
    std::vector<Bounds> bounds;
    std::vector<kernel::Expression> others;  ///< which may be evaluated whatever the rest is
    std::vector<kernel::Expression> last;    ///< only where the rest holds
};

bool names_any(const kernel::Expression& expression, const std::set<std::string>& names) {
    if (const kernel::Variable* name = std::get_if<kernel::Variable>(&expression.node))
        return names.contains(name->name);
    const std::vector<kernel::Expression>* parts = parts_of(expression);
    return parts != nullptr &&
           std::any_of(parts->begin(), parts->end(),
                       [&](const kernel::Expression& part) { return names_any(part, names); });
}

Function opposite(Function comparison) {
    switch (comparison) {
    case Function::Less: return Function::GreaterEqual;
    case Function::LessEqual: return Function::Greater;
    case Function::Greater: return Function::LessEqual;
    case Function::GreaterEqual: return Function::Less;
    case Function::Equal: return Function::NotEqual;
    default: return Function::Equal;
    }
}

void tighten(std::optional<IndexForm>& end, const std::optional<IndexForm>& other, bool least) {
    if (!other) return;
    end = !end ? *other : least ? maximum(*end, *other) : minimum(*end, *other);
}

Test both(Test a, Test b) {
    for (Bounds& bounds : b.bounds) {
        const auto same = std::find_if(a.bounds.begin(), a.bounds.end(), [&](const Bounds& other) {
            return other.columns == bounds.columns;
        });
        if (same == a.bounds.end()) {
            a.bounds.push_back(std::move(bounds));
            continue;
        }
        tighten(same->least, bounds.least, true);
        tighten(same->most, bounds.most, false);
    }
    std::move(b.others.begin(), b.others.end(), std::back_inserter(a.others));
    std::move(b.last.begin(), b.last.end(), std::back_inserter(a.last));
    return a;
}

class TestReader {
public:
    TestReader(const ExpressionScope& scope, const ElementScope& element,
               const std::set<std::string>& columns, kernel::Body& before)
        : scope_(scope), element_(element), columns_(columns), before_(before) {
        whole_.temporaries = nullptr;
    }

    Code run(const Expression& condition) {
        Code code;
        code.value = printed(read(condition, false));
        code.sort = Sort::Boolean;
        code.finite = true;
        return code;
    }

private:
    Test read(const Expression& condition, bool negated) {
        const Apply* call = std::get_if<Apply>(&condition.node);
        if (call == nullptr) return other(condition, negated);
        switch (call->function) {
        case Function::Not: return read(call->arguments[0], !negated);
        case Function::And:
        case Function::Or: {
            Test a = read(call->arguments[0], negated);
            Test b = read(call->arguments[1], negated);
            if ((call->function == Function::And) != negated)
                return both(std::move(a), std::move(b));
            return either(std::move(a), std::move(b));
        }
        default: break;
        }
        const bool compares = is_comparison_or_logic(call->function);
        if (compares && is_harmless(condition))
            if (std::optional<Test> bounds =
                    compared(*call, negated ? opposite(call->function) : call->function))
                return std::move(*bounds);
        return other(condition, negated);
    }

    /// A comparison of sums of which some parts vary along the columns; nullopt of others.
    std::optional<Test> compared(const Apply& call, Function function) const {
        std::array<IndexForm, 2> sides;
        for (std::size_t side = 0; side < 2; ++side) {
            const Code code = ExpressionPrinter(scope_).print(call.arguments[side], whole_);
            if (code.sort != Sort::Integer) return std::nullopt;
            sides[side] = form_of(code);
        }
        const bool falls = function == Function::Less || function == Function::LessEqual;
        if (!falls && function != Function::Greater && function != Function::GreaterEqual)
            return std::nullopt;
        // At least 0 where it holds.
        IndexForm margin = falls ? sides[1] - sides[0] : sides[0] - sides[1];
        if (function == Function::Less || function == Function::Greater) margin = margin - 1;
        IndexForm columns;
        IndexForm rest = margin.constant;
        for (const auto& [atom, factor] : margin.terms) {
            IndexForm term;
            term.terms = {{atom, factor}};
            (names_any(atom.value, columns_) ? columns : rest) =
                (names_any(atom.value, columns_) ? columns : rest) + term;
        }
        Test test;
        if (columns.terms.empty()) return std::nullopt;
        if (columns.terms.front().second > 0)
            test.bounds.push_back({columns, IndexForm(0) - rest, std::nullopt});
        else
            test.bounds.push_back({IndexForm(0) - columns, std::nullopt, rest});
        return test;
    }

    /// Whether nothing stops it from being evaluated where it does not count.
    [[nodiscard]] bool is_harmless(const Expression& condition) const {
        const auto is_named = [&](const Expression& read) {
            return std::any_of(scope_.named.begin(), scope_.named.end(),
                               [&](const auto& each) { return each.first == read; });
        };
        bool harmless = true;
        walk(condition, [&](const Expression& part) {
            if (std::holds_alternative<Read>(part.node)) harmless = harmless && is_named(part);
            const Apply* call = std::get_if<Apply>(&part.node);
            if (call == nullptr ||
                (call->function != Function::FloorDivide && call->function != Function::Modulo))
                return;
            const Code divisor = ExpressionPrinter(scope_).print(call->arguments[1], whole_);
            harmless =
                harmless && divisor.sort == Sort::Integer && range_of(form_of(divisor)).low > 0;
        });
        return harmless;
    }

    Test other(const Expression& condition, bool negated) const {
        kernel::Expression value =
            as_sort(ExpressionPrinter(scope_).print(condition, whole_), Sort::Boolean).value;
        if (negated) value = !std::move(value);
        Test test;
        if (!is(value, true))
            (is_harmless(condition) ? test.others : test.last).push_back(std::move(value));
        return test;
    }

    Test either(Test a, Test b) {
        Test test;
        const auto is_one_end = [](const Test& each) {
            return each.bounds.size() == 1 && each.others.empty() && each.last.empty();
        };
        if (is_one_end(a) && is_one_end(b) && a.bounds[0].is_one_of(b.bounds[0])) {
            Bounds& wider = a.bounds[0];
            const Bounds& more = b.bounds[0];
            if (wider.least) wider.least = minimum(*wider.least, *more.least);
            if (wider.most) wider.most = maximum(*wider.most, *more.most);
            return a;
        }
        const bool waits = !a.last.empty() || !b.last.empty();
        kernel::Expression left = printed(std::move(a));
        kernel::Expression right = printed(std::move(b));
        if (waits)
            test.last.push_back(std::move(left) || std::move(right));
        else
            test.others.push_back(call("either", {std::move(left), std::move(right)}));
        return test;
    }

    kernel::Expression printed(Test test) {
        std::vector<kernel::Expression> all;
        for (const Bounds& bounds : test.bounds) {
            kernel::Expression columns = expression_of(bounds.columns);
            if (bounds.least && bounds.most)
                all.push_back(
                    call("between", {named(*bounds.least), columns, named(*bounds.most)}));
            else if (bounds.least)
                all.push_back(binary(Operator::LessEqual, named(*bounds.least), columns));
            else
                all.push_back(binary(Operator::LessEqual, columns, named(*bounds.most)));
        }
        std::move(test.others.begin(), test.others.end(), std::back_inserter(all));
        kernel::Expression value = true;
        for (kernel::Expression& each : all)
            value = &each == &all.front() ? std::move(each)
                                          : call("both", {std::move(value), std::move(each)});
        for (kernel::Expression& each : test.last) value = std::move(value) && std::move(each);
        return value;
    }

    kernel::Expression named(const IndexForm& end) {
        kernel::Expression value = expression_of(end);
        if (parts_of(value) == nullptr) return value;
        const std::string name = fmt::format("t{}", (*element_.next_temporary)++);
        before_.push_back(kernel::define(type_of(end), name, std::move(value)));
        return kernel::variable(name);
    }

    const ExpressionScope& scope_;
    const ElementScope& element_;
    ElementScope whole_ = element_;
    const std::set<std::string>& columns_;
    kernel::Body& before_;
};

}  // namespace

Code element_test(const Expression& condition, const ExpressionScope& scope,
                  const ElementScope& element, const std::set<std::string>& columns,
                  kernel::Body& before) {
    return TestReader(scope, element, columns, before).run(condition);
}

}  // namespace napkin::lowering
