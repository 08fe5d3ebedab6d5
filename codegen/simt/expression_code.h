// Expressions of the language as expressions of C++.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/simt/scope.h"

namespace napkin::simt {

/// What sort of number an expression is in the kernel.
enum class Sort { Boolean, Integer, Real };
[[nodiscard]] Sort sort_of(ElementType type);

/// A piece of C++ with what is known of its value.
struct Code {
    std::string text;
    int precedence = 16;  ///< C++'s, 16 for a name or call
    Sort sort = Sort::Real;
    bool wide = false;               ///< a 64-bit integer
    std::optional<IndexForm> index;  ///< of an integer, where it is linear
    std::optional<double> constant;  ///< where it is known
    bool finite = false;             ///< certainly no infinity
    bool guarded = false;            ///< came from `guard`: subtracting it needs no convention
};

/// What an expression may name.
struct ExpressionScope {
    const std::vector<IndexForm>* sizes = nullptr;  ///< by axis
    const std::vector<Array>* arrays = nullptr;
    std::map<ArrayId, TileView> tiles;
    std::map<ArrayId, std::string> parameters;  ///< passed by value
    std::vector<Code> operands;                 ///< of a monoid's combine
    /// Conditions that a block tests once: where the flag is set, the condition need not be tested.
    std::vector<std::pair<Expression, std::string>> known;
};

class ExpressionPrinter {
public:
    explicit ExpressionPrinter(const ExpressionScope& scope) : scope_(scope) {}
    /// The value of an expression for the element whose indices are given.
    [[nodiscard]] Code print(const Expression& expression, const ElementScope& element) const;
    [[nodiscard]] IndexForm index(const Expression& expression, const ElementScope& element) const;
    /// The place of a tile's element.
    [[nodiscard]] static std::string place(const TileView& tile,
                                           const std::vector<IndexForm>& index);

private:
    [[nodiscard]] Code read(const Read& read, const ElementScope& element) const;
    [[nodiscard]] Code call(const Apply& call, const ElementScope& element) const;
    [[nodiscard]] Code integer_call(const Apply& call, const std::vector<Code>& arguments) const;
    [[nodiscard]] Code real_call(const Apply& call, std::vector<Code> arguments,
                                 const ElementScope& element) const;
    [[nodiscard]] Code select(const Apply& call, const ElementScope& element) const;

    const ExpressionScope& scope_;
};

/// `float`, `i64` or `bool`.
[[nodiscard]] const char* type_of(Sort sort);
/// The code as a number of another sort.
[[nodiscard]] Code as_sort(const Code& code, Sort sort);
[[nodiscard]] Code real_constant(double value);
/// The code in parentheses when it binds less than `precedence`.
[[nodiscard]] std::string wrapped(const Code& code, int precedence);
/// A value as what a tile or array of a type holds.
[[nodiscard]] std::string stored(const Code& value, ElementType type);
/// A value rounded to a type, as a real or integer.
[[nodiscard]] Code rounded(const Code& value, ElementType type);
/// What an element of a type means, read from `place`.
[[nodiscard]] Code loaded(const std::string& place, ElementType type);

}  // namespace napkin::simt
