// Expressions of the language as expressions of C++.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/lowering/code_value.h"
#include "codegen/lowering/scope.h"

namespace napkin::lowering {

/// What an expression may name.
struct ExpressionScope {
    const std::vector<IndexForm>* sizes = nullptr;  ///< by axis
    const std::vector<Array>* arrays = nullptr;
    std::map<ArrayId, TileView> tiles;
    std::map<ArrayId, std::string> parameters;  ///< passed by value
    std::vector<Code> operands;                 ///< of a monoid's combine
    /// A condition that is tested once for many elements: `flag || condition`, or, where the
    /// negated condition was tested, `flag && condition`.
    struct Known {
        Expression condition;
        kernel::Expression flag;
        bool negated = false;
    };
    std::vector<Known> known;
    /// Elements that are no tile's: the code of one, given its global indices.
    std::map<ArrayId, std::function<Code(const std::vector<IndexForm>&)>> elements;
    /// Expressions that have a name already.
    std::vector<std::pair<Expression, Code>> named;
    /// Inputs are finite and nothing overflows, so that only masks make infinities; exp is a power
    /// of two (the argument has its factor already), and fast functions of the hardware serve.
    bool fast = false;
    /// Whether exponentials below the least normal number are kept and not taken for 0.
    bool gradual = false;
};

/// What takes more columns than this gets a name.
inline constexpr std::size_t kLongText = 60;
/// The least integer or the greatest in place of an infinity.
[[nodiscard]] Code limit_of_integers(bool greatest);

/// Declares a value under a new name, `t0` and so on.
[[nodiscard]] Code named(const Code& value, const ElementScope& element);

class ExpressionPrinter {
public:
    explicit ExpressionPrinter(const ExpressionScope& scope) : scope_(scope) {}
    /// The value of an expression for the element whose indices are given.
    [[nodiscard]] Code print(const Expression& expression, const ElementScope& element) const;
    /// The same where integers are kept: an infinity of an `if` is the least or greatest of them.
    [[nodiscard]] Code print_integer(const Expression& expression,
                                     const ElementScope& element) const;
    [[nodiscard]] IndexForm index(const Expression& expression, const ElementScope& element) const;
    /// Where an element stands in its tile.
    [[nodiscard]] static IndexForm offset(const TileView& tile,
                                          const std::vector<IndexForm>& index);
    [[nodiscard]] static kernel::Expression place(const TileView& tile,
                                                  const std::vector<IndexForm>& index);

private:
    [[nodiscard]] Code read(const Read& read, const ElementScope& element) const;
    [[nodiscard]] Code read_element(const Read& read, const ElementScope& element) const;
    [[nodiscard]] Code call(const Apply& call, const ElementScope& element) const;
    [[nodiscard]] static Code integer_call(const Apply& call, const std::vector<Code>& arguments);
    [[nodiscard]] Code real_call(const Apply& call, std::vector<Code> arguments,
                                 const ElementScope& element) const;
    [[nodiscard]] Code real_operation(const Apply& call, std::vector<Code> arguments,
                                      const ElementScope& element) const;
    [[nodiscard]] Code select(const Apply& call, const ElementScope& element,
                              bool is_integer) const;

    const ExpressionScope& scope_;
};

}  // namespace napkin::lowering
