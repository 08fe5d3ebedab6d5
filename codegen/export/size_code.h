// Sizes that follow from others, as code of the printed files.
#pragma once

#include <functional>
#include <string>

#include "diagrams/formula.h"

namespace napkin::exporting {

enum class Language { C, Python };

/// The formula's value; `size` gives the code of an axis' size. In C it uses the launcher's
/// functions `times`, `floor_divide`, `remainder_of`, `exact`, `smaller` and `larger`.
[[nodiscard]] std::string size_code(const Formula& formula, Language language,
                                    const std::function<std::string(AxisId)>& size);

}  // namespace napkin::exporting
