#include "cli/unused_options.h"

#include <array>
#include <string_view>

#include "cli/messages.h"

namespace napkin::cli {
namespace {

struct Option {
    std::string_view name;
    bool (*given)(const Arguments&) = nullptr;
};

// clang-format off
constexpr std::array kOptions = {
    Option{"--target", [](const Arguments& a) { return !a.target.empty(); }},
    Option{"--threads", [](const Arguments& a) { return a.threads != 0; }},
    Option{"--schedule", [](const Arguments& a) { return !a.schedule.empty(); }},
    Option{"--arch", [](const Arguments& a) { return a.arch != Arguments().arch; }},
    Option{"--certificate", [](const Arguments& a) { return !a.certificate.empty(); }},
    Option{"--unproved", [](const Arguments& a) { return a.unproved; }},
    Option{"--json", [](const Arguments& a) { return a.json; }},
    Option{"--machine", [](const Arguments& a) { return !a.machine.empty(); }},
    Option{"--sweep", [](const Arguments& a) { return !a.sweep.empty(); }},
    Option{"--against", [](const Arguments& a) { return !a.against.empty(); }},
    Option{"--steps", [](const Arguments& a) { return a.steps; }},
    Option{"--per-group", [](const Arguments& a) { return a.per_group; }},
    Option{"MACHINE", [](const Arguments& a) { return !a.topic.empty(); }},
    Option{"--region", [](const Arguments& a) { return !a.region.empty(); }},
};
// clang-format on

/// Where options mean nothing, and why.
struct Situation {
    std::string_view command;
    bool (*is_here)(const Arguments&) = nullptr;
    std::string_view unused;  ///< names of options, with a space after each
    std::string_view why;     ///< after the option
    std::string_view help;
};

bool asks_for_no_kernels(const Arguments& a) {
    return a.target.empty() && a.schedule.empty() && a.threads == 0;
}

constexpr std::array kSituations = {
    Situation{"run", [](const Arguments& a) { return a.device == "cpu"; },
              "--target --threads --schedule ", "is about kernels, and `--device cpu` runs none",
              "add `--device emulator`, or `--device cuda` on a GPU"},
    Situation{"emit", [](const Arguments& a) { return a.as == "tile"; },
              "--threads --schedule --arch --certificate --unproved ",
              "is about kernels, and `--as tile` writes what is there before them",
              "leave it out, or write `--as cuda`"},
    Situation{"emit", [](const Arguments& a) { return a.as == "schedule"; },
              "--certificate --unproved ", "is about kernels, and `--as schedule` writes none",
              "leave it out, or write `--as cuda`"},
    Situation{"lecture", [](const Arguments& a) { return a.sheet; },
              "--target --threads --schedule --arch --certificate --unproved ",
              "is about kernels, and `--sheet` shows none", "leave it out"},
    Situation{"cost",
              [](const Arguments& a) { return asks_for_no_kernels(a) && a.machine.empty(); },
              "--arch ", "is about kernels, and none are asked for", "add `--target`"},
    Situation{"cost", asks_for_no_kernels, "--arch ",
              "is about one target's kernels, and `--machine` costs the best that it runs",
              "leave it out, or add `--target`"},
    Situation{"explain", [](const Arguments& a) { return !a.topic.empty(); },
              "--machine --sweep --against --target --schedule ",
              "is about times, and whether a command applies depends on none",
              "leave it out; without a command, `explain` says why a derivation takes its time"},
    Situation{"draw", [](const Arguments& a) { return a.tile; },
              "--steps --per-group --region --machine ",
              "is about pictures of diagrams, and `--tile` draws a program",
              "leave one of them out"},
    Situation{"calibrate", [](const Arguments& a) { return a.print; }, "--json MACHINE ",
              "is about what was measured, and `--print` measures nothing",
              "leave one of them out"},
    Situation{"mask", [](const Arguments& a) { return !a.as.empty() || !a.output.empty(); },
              "--json ", "gives the counts, and another form is asked for",
              "leave out `--json`, or `--as` and `-o`"},
};

}  // namespace

std::optional<Diagnostic> refuse_unused(const Arguments& arguments) {
    for (const Situation& situation : kSituations) {
        if (situation.command != arguments.command || !situation.is_here(arguments)) continue;
        for (const Option& option : kOptions)
            if (option.given(arguments) &&
                situation.unused.find(std::string(option.name) + " ") != std::string_view::npos)
                return unused_option(std::string(option.name), std::string(situation.why),
                                     std::string(situation.help));
    }
    return std::nullopt;
}

}  // namespace napkin::cli
