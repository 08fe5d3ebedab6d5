// Whether a diagram computes the gradients of another, at sizes of few elements.
//
// A size that stands for another, an index that is compared with a number: at one set of small
// sizes neither is seen. So there are several: two that share no size where they need not, those at
// which every index passes the numbers that it is compared with, and the diagrams' own where these
// are small enough.
#pragma once

#include <string>

#include "cli/session.h"

namespace napkin::cli {

/// What differences of the first program say of the second, which is to compute its gradients: a
/// sentence for who reads the export. A diagnostic where they say that it does not and `--unproved`
/// is not given.
[[nodiscard]] Result<std::string> judge_gradient(Context& context, const Loaded& forward,
                                                 const Loaded& backward);

}  // namespace napkin::cli
