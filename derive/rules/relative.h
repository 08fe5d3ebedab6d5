// Values relative to the size of an exponential: v = scaled * exp(degree * g).
//
// An expression with exponentials exp(u) is rewritten over exp(u - g), and the power of exp(g) that
// was left out is carried along: products add it, quotients subtract it, roots halve it, sums want
// it equal, a logarithm turns it into degree * g. What cannot carry it uses the original value,
// which is kept beside the scaled one for as long as something reads it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "derive/rules/draft.h"

namespace napkin::rules {

/// The exponent of the one exponential in a product: as it stands, and with -inf where a mask makes
/// the product 0.
struct Exponent {
    Expression bare;
    Expression masked;
};
/// Looks through maps, products, quotients and masks.
[[nodiscard]] std::optional<Exponent> exponent_in(const Diagram& diagram,
                                                  const Expression& expression);

class Relative {
public:
    /// Every exp(u) for this exponent, at whatever indices, is taken relative to `gauge`.
    Relative(Draft& draft, ArrayId gauge, Expression exponent);

    /// Rewrites every statement that gains; the names of arrays in which the size cancels.
    std::vector<std::string> rewrite_all();
    /// The first statement that reads the gauge.
    [[nodiscard]] std::optional<StatementId> first_use() const { return first_use_; }

private:
    /// value = scaled * exp(degree * g[index]); `original` is the value in the arrays as they were.
    struct Scaled {
        Expression scaled;
        Expression original;
        double degree = 0;
        std::vector<Expression> index;
    };
    struct Twin {
        ArrayId array;
        double degree = 0;
        std::vector<Expression> index;  ///< over the array's own axes
    };

    Draft& draft_;
    ArrayId gauge_;
    Expression exponent_;
    std::vector<AxisId> gauge_axes_;
    std::map<ArrayId, Twin> twins_;
    std::optional<StatementId> first_use_;

    [[nodiscard]] Scaled scale(const Expression& expression);
    [[nodiscard]] Scaled scale_read(const Expression& expression, const Read& element);
    [[nodiscard]] Scaled scale_call(const Expression& expression, const Apply& call);
    [[nodiscard]] Scaled scale_exponential(const Expression& expression, const Apply& call);
    [[nodiscard]] Scaled alike(const Expression& expression, const Apply& call,
                               std::vector<Scaled> parts, std::size_t first) const;
    [[nodiscard]] Scaled power(const Expression& expression, const Apply& call, Scaled base,
                               double exponent) const;
    [[nodiscard]] static Scaled as_it_was(const Expression& expression);
    [[nodiscard]] Scaled settled(const Expression& expression, const Apply& call,
                                 const std::vector<Scaled>& parts) const;
    [[nodiscard]] bool rewrite_statement(StatementId id);
    void add_twin(StatementId id, std::vector<Scaled> values);
};

}  // namespace napkin::rules
