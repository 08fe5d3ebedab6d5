// Integer index expressions of generated code, kept as sums of constant multiples of names so that
// `x0 + ix - x0` prints as `ix`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace napkin {

/// constant + sum of coefficient * text; a text is a name, a call or something in parentheses.
struct IndexForm {
    std::int64_t constant = 0;
    std::vector<std::pair<std::string, std::int64_t>> terms;  ///< in the order first added

    IndexForm() = default;
    IndexForm(std::int64_t value) : constant(value) {}  // NOLINT(google-explicit-constructor)
    bool operator==(const IndexForm&) const = default;
    [[nodiscard]] bool is_constant() const { return terms.empty(); }
    [[nodiscard]] bool is_constant(std::int64_t value) const {
        return terms.empty() && constant == value;
    }
};

/// A name, a call or a text in parentheses.
[[nodiscard]] IndexForm index_atom(std::string text);
[[nodiscard]] IndexForm operator+(const IndexForm& a, const IndexForm& b);
[[nodiscard]] IndexForm operator-(const IndexForm& a, const IndexForm& b);
[[nodiscard]] IndexForm operator*(const IndexForm& a, std::int64_t factor);
[[nodiscard]] IndexForm operator*(const IndexForm& a, const IndexForm& b);
/// Rounded down; `divisor` is positive.
[[nodiscard]] IndexForm floor_divide(const IndexForm& a, const IndexForm& divisor);
[[nodiscard]] IndexForm ceil_divide(const IndexForm& a, std::int64_t divisor);
[[nodiscard]] IndexForm modulo(const IndexForm& a, const IndexForm& divisor);
[[nodiscard]] IndexForm minimum(const IndexForm& a, const IndexForm& b);
[[nodiscard]] IndexForm maximum(const IndexForm& a, const IndexForm& b);

/// `x0 * 64 + ix - 2`.
[[nodiscard]] std::string print(const IndexForm& a);
/// The same, in parentheses unless it is one name, number or call.
[[nodiscard]] std::string print_factor(const IndexForm& a);

}  // namespace napkin
