#include <fmt/format.h>

#include <algorithm>

#include "cli/lsp/features.h"
#include "cli/lsp/study.h"
#include "cli/lsp/words.h"
#include "cli/numbers.h"
#include "cli/picture.h"
#include "cli/step_report.h"
#include "diagrams/check.h"
#include "diagrams/statement_text.h"

namespace napkin::lsp {
namespace {

std::string code(const std::string& text) {
    return "```\n" + text + (text.ends_with('\n') ? "" : "\n") + "```\n";
}

Result<Machine> default_machine() {
    SourceMap sources;
    return load_machine(sources, cli::kDefaultMachine);
}

/// H, M and time after a step, and how far from the bound.
std::string figures_after(const Diagram& plain, const State* before, const State& now) {
    const Result<Machine> machine = default_machine();
    if (!machine) return "";
    cli::CostOfSteps cost_of(*machine);
    const Result<Cost> cost = cost_of(now);
    if (!cost) return "";
    std::optional<cli::Figures> earlier;
    if (before != nullptr)
        if (const Result<Cost> known = cost_of(*before))
            earlier = cli::figures_of(*known, *machine);
    return "on " + machine->name + "\n" +
           cli::figures_text(earlier, cli::figures_of(*cost, *machine)) +
           cli::standing_text(plain, now, *cost, *machine);
}

std::string role_text(ArrayRole role) {
    switch (role) {
    case ArrayRole::Input: return "input";
    case ArrayRole::Parameter: return "parameter";
    case ArrayRole::Output: return "output";
    case ArrayRole::Intermediate: return "intermediate";
    }
    throw InternalError("unknown role");
}

/// What the kernel that computes it moves, where each statement is one.
std::string kernel_text(const Diagram& diagram, const Array& array) {
    const Result<Cost> cost = cli::cost_of_state(initial_state(diagram));
    if (!cost) return "";
    const auto region =
        std::find_if(cost->regions.begin(), cost->regions.end(),
                     [&](const RegionCost& known) { return known.name == array.name; });
    if (region == cost->regions.end()) return "";
    const auto level = region->levels.find(Level::Block);
    if (level == region->levels.end()) return "";
    return fmt::format("computed by a kernel of its own it moves {}, and {} are held\n",
                       cli::bytes_text(static_cast<double>(level->second.transferred.bytes())),
                       cli::bytes_text(static_cast<double>(level->second.memory.bytes())));
}

std::string array_text(const Diagram& diagram, ArrayId id) {
    const Array& array = diagram[id];
    std::string axes;
    std::string shape;
    double elements = 1;
    for (const AxisId axis : array.axes) {
        axes += (axes.empty() ? "[" : ", ") + diagram[axis].name;
        shape += (shape.empty() ? "" : " x ") + std::to_string(diagram[axis].extent);
        elements *= static_cast<double>(diagram[axis].extent);
    }
    std::string text = fmt::format("{} {}{}{} : {}\n", role_text(array.role), array.name, axes,
                                   axes.empty() ? "" : "]", name_of(array.type));
    if (!shape.empty())
        text +=
            fmt::format("{}, {}\n", shape,
                        cli::bytes_text(elements * static_cast<double>(bits_of(array.type)) / 8));
    return text + kernel_text(diagram, array);
}

std::string axis_text(const Diagram& diagram, const Axis& axis) {
    std::string text =
        fmt::format("axis {} = {}{}{}\n", axis.name, axis.extent,
                    axis.dynamic ? ", or others at run time" : "", axis.woven ? ", woven" : "");
    std::string arrays;
    for (const Array& array : diagram.arrays)
        if (array.named && std::any_of(array.axes.begin(), array.axes.end(),
                                       [&](AxisId id) { return diagram[id].name == axis.name; }))
            arrays += (arrays.empty() ? "of " : ", ") + array.name;
    return text + (arrays.empty() ? "" : arrays + "\n");
}

/// A named operation of the library or of the text itself.
std::string operation_text(const std::string& name, const Text& text) {
    SourceMap sources;
    for (const std::string& source : {text.bytes(), std::string(library_text())}) {
        const Result<syntax::File> file = syntax::parse(sources, sources.add("", source));
        if (!file) continue;
        for (const auto& item : file->definitions)
            if (const auto* definition = std::get_if<syntax::Definition>(&item);
                definition != nullptr && definition->name.text == name)
                return std::string(sources.text_of(definition->span));
    }
    return "";
}

std::string text_of_name(const Diagram& diagram, const std::string& name, const Text& text) {
    if (name == diagram.name) {
        const State plain = initial_state(diagram);
        return "diagram " + name + ", a kernel a statement\n" +
               figures_after(diagram, nullptr, plain);
    }
    if (const auto array = find_array(diagram, name)) return array_text(diagram, *array);
    if (const auto axis = find_axis(diagram, name)) return axis_text(diagram, diagram[*axis]);
    return operation_text(name, text);
}

std::string rule_text(const std::string& name) {
    const Rule* rule = find_rule(name);
    if (rule == nullptr) return "";
    return fmt::format("{}\nlaw: {}\nwhere: {}\n", rule->usage, rule->law, rule->condition);
}

/// The step of a line: its law, what was checked, and the figures; else what its rule asks for.
std::string step_text(const Study& study, const Word& rule) {
    for (std::size_t i = 0; i < study.commands.size(); ++i) {
        const Span span = study.commands[i].span;
        if (rule.span.begin < span.begin || rule.span.end > span.end) continue;
        if (i + 1 >= study.states.size()) break;
        const State& now = study.states[i + 1];
        if (now.steps.empty()) break;  // of `set`, which the checker takes
        const Step& step = now.steps.back();
        return "law: " + step.law + "\n" + cli::checked_text(step) +
               figures_after(*study.plain, &study.states[i], now);
    }
    return rule_text(rule.text);
}

}  // namespace

std::optional<Hover> hover(const Place& place) {
    const std::optional<Word> word =
        word_at(words_of(place.uri, place.text), place.text.offset(place.position));
    if (!word) return std::nullopt;
    const Study study = lsp::study(place.workspace, place.uri, place.text);
    std::string text;
    if (word->first)
        text = step_text(study, *word);
    else if (word->is_name && study.plain)
        text = text_of_name(study.states.empty() ? *study.plain : study.states.back().diagram,
                            word->text, place.text);
    if (text.empty()) return std::nullopt;
    return Hover{code(text), place.text.range(word->span)};
}

}  // namespace napkin::lsp
