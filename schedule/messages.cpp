#include "schedule/messages.h"

#include <fmt/format.h>

namespace napkin::messages {
namespace {

constexpr const char* kChoiceRefused = "E0975";
constexpr const char* kChoiceUnknown = "E0976";

Diagnostic at(Span place, std::string code, std::string message, std::string label,
              std::string help = "") {
    Diagnostic diagnostic;
    diagnostic.code = std::move(code);
    diagnostic.message = std::move(message);
    diagnostic.primary = {place, std::move(label)};
    diagnostic.help = std::move(help);
    return diagnostic;
}

/// At the setting's place, where it was written.
Diagnostic of_setting(const char* code, const schedule::Request& request,
                      const schedule::SettingName& setting, std::string message, std::string help) {
    const auto place = request.places.find(setting);
    if (place == request.places.end())
        return plain_error(code, std::move(message), std::move(help));
    return at(place->second, code, std::move(message), "asked for here", std::move(help));
}

}  // namespace

Diagnostic schedule_syntax(Span place, const std::string& reason) {
    return at(place, "E0971", "this is not TOML: " + reason, "here");
}

Diagnostic no_region_table(Span place, const std::string& name) {
    return at(place, "E0972", fmt::format("`{}` stands outside the table of a region", name),
              "here", "begin with the region that it is for, by an array that it computes: `[O]`");
}

Diagnostic no_region(Span place, const NotApplicable& why) {
    return at(place, "E0973", "a schedule for no region: " + why.reason, "here", why.help);
}

Diagnostic two_tables(Span place, const std::string& region, const std::string& other) {
    return at(place, "E0977",
              fmt::format("two tables are for region `{}`, this one and `[{}]`", region, other),
              "the second", "write all its choices in one table");
}

Diagnostic wrong_choice(Span place, const NotApplicable& why) {
    return at(place, "E0974", why.reason, "here", why.help);
}

Diagnostic choice_refused(const schedule::Request& request, const schedule::Refusal& refusal) {
    return of_setting(kChoiceRefused, request, *refusal.setting,
                      fmt::format("region `{}` cannot have this `{}`: {}", request.region,
                                  text_of(*refusal.setting), refusal.reason),
                      refusal.help);
}

Diagnostic choice_unknown(const schedule::Request& request, const schedule::SettingName& setting,
                          const std::string& target) {
    return of_setting(
        kChoiceUnknown, request, setting,
        fmt::format("target `{}` has no choice `{}`, which is asked for of region `{}`", target,
                    text_of(setting), request.region),
        "leave it out, or choose another target");
}

bool is_unknown_choice(const Diagnostic& diagnostic) {
    return diagnostic.code == kChoiceUnknown;
}

bool refuses_choice(const Diagnostic& diagnostic) {
    return diagnostic.code == kChoiceRefused;
}

}  // namespace napkin::messages
