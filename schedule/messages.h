// What may be wrong with a schedule that was asked for, in words.
#pragma once

#include <string>

#include "derive/accumulator.h"
#include "diagrams/diagnostic.h"
#include "schedule/requests.h"

namespace napkin::messages {

[[nodiscard]] Diagnostic schedule_syntax(Span place, const std::string& reason);
[[nodiscard]] Diagnostic no_region_table(Span place, const std::string& name);
[[nodiscard]] Diagnostic no_region(Span place, const NotApplicable& why);
/// Of a region by its name, whose table before is named `other`.
[[nodiscard]] Diagnostic two_tables(Span place, const std::string& region,
                                    const std::string& other);
[[nodiscard]] Diagnostic wrong_choice(Span place, const NotApplicable& why);
/// Of a refusal that names a choice, at its place.
[[nodiscard]] Diagnostic choice_refused(const schedule::Request& request,
                                        const schedule::Refusal& refusal);
/// Whether a diagnostic is such a refusal: no other target is then what was asked for.
[[nodiscard]] bool refuses_choice(const Diagnostic& diagnostic);
/// Of a choice that a target does not know.
[[nodiscard]] Diagnostic choice_unknown(const schedule::Request& request,
                                        const schedule::SettingName& setting,
                                        const std::string& target);
[[nodiscard]] bool is_unknown_choice(const Diagnostic& diagnostic);

}  // namespace napkin::messages
