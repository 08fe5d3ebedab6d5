// What a page of a derivation holds, worked out: pictures, programs, kernels, sliders.
#pragma once

#include "cli/report/page.h"
#include "cli/session.h"

namespace napkin::cli {

[[nodiscard]] Result<ReportPage> report_of(Context& context, const Loaded& loaded,
                                           const std::vector<DerivedStep>& steps,
                                           const Machine& machine);

}  // namespace napkin::cli
