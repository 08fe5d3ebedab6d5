// Numbers that show what a form would do as it is written, in float32.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "derive/separation/read/cascade.h"

namespace napkin::separation {

/// What a value is in float32 and in exact arithmetic.
struct NumericExample {
    double moved = 0;  ///< by how much the streamed value was moved, or what the term was set to
    double single = 0;
    double exact = 0;
};

/// The least power of ten by which `value` has to move for float32 to lose more than a tenth of
/// `difference`, computed as written over eight elements an axis; nothing where it never does.
/// `place` has indices of axes that are not 0.
[[nodiscard]] std::optional<NumericExample> moved_example(Cascade& cascade, TermId difference,
                                                          TermId value,
                                                          const std::map<AxisId, int>& place = {});
/// The same for a fold's body multiplied out: every product summed by itself.
[[nodiscard]] std::optional<NumericExample> moved_example(Cascade& cascade, const FoldOver& fold,
                                                          PolynomialId multiplied_out,
                                                          TermId value);
/// A number in few digits: `0.083`, `10^4`, `3.4e+38`.
[[nodiscard]] std::string short_number(double value);

}  // namespace napkin::separation
