// Ranges of expressions, as a kernel computes them: in float32.
//
// Integers are computed in 64 bits. Every part of an expression has a range. A part that may be
// beyond float32 may be an infinity, or make a NaN of what it stands in: it is noted, whatever the
// range of the whole. What may be too small for a normal number may be 0, so that a quotient by it
// has no bound.
//
// One infinity does no harm: that of `exp(u)` as a term of a sum that divides something finite. The
// quotient is 0 then. This holds of the very place where the exponential stands, of no other.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "derive/proof/known_facts.h"
#include "derive/proof/safety.h"
#include "derive/proof/value_range.h"
#include "derive/region_program.h"

namespace napkin::proof {

using Ranges = std::map<ArrayId, ValueRange>;

class ExpressionRanges {
public:
    explicit ExpressionRanges(const RegionProgram& region, const Ranges& device)
        : region_(region), scope_(scope_of(region)), device_(device) {}

    /// Of an expression, or of a monoid's combine with these operands.
    [[nodiscard]] ValueRange range(const Expression& expression,
                                   std::span<const ValueRange> operands = {});
    /// Whether any part of what was asked for since the last call may be beyond float32.
    [[nodiscard]] bool take_overflow();
    /// Begins another pass over the region: of an exponent the last pass counts.
    void forget_exponents() { exponents_.clear(); }
    [[nodiscard]] const std::map<std::string, ExponentBound>& exponents() const {
        return exponents_;
    }

    Ranges arrays;  ///< of the region
    KnownFacts facts;

private:
    using Operands = std::span<const ValueRange>;

    [[nodiscard]] ValueRange part(const Expression& expression, Operands operands);
    [[nodiscard]] bool is_computed_in_integers(const Expression& expression) const;
    [[nodiscard]] ValueRange array_range(ArrayId array) const;
    ValueRange converted(const Convert& convert, Operands operands);
    ValueRange call_range(const Apply& call, Operands operands);
    ValueRange selected(const Apply& call, Operands operands);
    ValueRange exponential(const Apply& call, Operands operands, bool saturates);
    ValueRange quotient(const Apply& call, Operands operands);
    std::optional<ValueRange> divisor(const Expression& expression, Operands operands);
    ValueRange kept(ValueRange range);

    const RegionProgram& region_;
    Diagram scope_;
    const Ranges& device_;
    std::map<std::string, ExponentBound> exponents_;
    bool overflows_ = false;
};

}  // namespace napkin::proof
