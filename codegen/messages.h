// Wording of the diagnostics of emitting: one factory a code.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit.h"
#include "diagrams/diagnostic.h"

namespace napkin::messages {

[[nodiscard]] Diagnostic unknown_target(const std::string& target);
[[nodiscard]] Diagnostic shared_memory_exceeded(const EmittedKernel& kernel,
                                                const EmitOptions& options);
[[nodiscard]] Diagnostic unknown_architecture(const std::string& architecture);
[[nodiscard]] Diagnostic architecture_unfit(const std::string& target,
                                            const std::string& architecture);
[[nodiscard]] Diagnostic axis_too_long(const std::string& region, const std::string& axis,
                                       std::int64_t size);
[[nodiscard]] Diagnostic bad_thread_count(int threads);
[[nodiscard]] Diagnostic unfit_region(const std::string& region, const std::string& target,
                                      const schedule::Refusal& why);
/// What was tried and makes a region fit.
struct Mending {
    std::vector<Command> moves;  ///< one after the other
    bool any_threads = false;    ///< whether a block of other threads does
    /// The target that takes it without the choices asked for.
    std::string without_schedule;
    bool simt = false;  ///< whether that target takes the region as it is
};
/// Whether a region does not fit, by its shape or its size.
[[nodiscard]] bool is_unfit(const Diagnostic& diagnostic);
/// Such a diagnostic with what mends it.
[[nodiscard]] Diagnostic mended(Diagnostic unfit, const Mending& mending);
[[nodiscard]] Diagnostic grid_exceeded(const EmittedKernel& kernel, std::int64_t tiles);
[[nodiscard]] Diagnostic unsupported_save(const std::string& array, std::string_view type);

}  // namespace napkin::messages
