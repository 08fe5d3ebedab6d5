// Options that mean nothing beside others: they are refused, not ignored.
#pragma once

#include <optional>

#include "cli/arguments.h"
#include "diagrams/diagnostic.h"

namespace napkin::cli {

[[nodiscard]] std::optional<Diagnostic> refuse_unused(const Arguments& arguments);

}  // namespace napkin::cli
