#include "cli/report/questions.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/report/html.h"
#include "cli/report/linked_text.h"
#include "cli/report/parts.h"
#include "cli/report/sizes.h"
#include "cli/workbench.h"
#include "diagrams/drawing/svg_tags.h"

namespace napkin::cli {
namespace {

constexpr std::size_t kMostAnswers = 1000;

Result<std::vector<Tried>> try_likely(Grader& grader) {
    const auto answers = likely_answers(grader.question(), grader.before(), kMostAnswers);
    if (!answers) return answers.error();
    std::vector<Tried> tried;
    for (const std::vector<Command>& answer : *answers) {
        Result<Grade> grade = grader.grade(answer);
        if (!grade) return grade.error();
        tried.push_back({answer, std::move(grade).value()});
    }
    return tried;
}

/// Names in any order mean the same.
bool is_set(const Command& command) {
    return command.rule == "fuse" || command.rule == "recompute";
}

/// `fuse O,P,S`, `group q by 64`: without blanks in its list.
std::string whole_key(Command command, const std::vector<std::string>& names) {
    command.names = names;
    std::string key = typed_text(command);
    for (std::size_t at = key.find(", "); at != std::string::npos; at = key.find(", ", at))
        key.erase(at + 1, 1);
    return key;
}

/// What stands in the open places, as the page looks it up.
std::string key_of(const Question& question, const std::vector<Command>& answer) {
    std::string key;
    std::size_t next = 0;
    for (const OpenCommand& open : question.commands) {
        if (!open.is_open()) continue;
        const Command& command = answer[next++];
        std::vector<std::string> names = command.names;
        if (is_set(command)) std::sort(names.begin(), names.end());
        if (open.whole) {
            key += whole_key(command, names) + "|";
            continue;
        }
        std::string list;
        for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
        if (open.names) key += list + "|";
        if (open.size) key += std::to_string(*command.size) + "|";
    }
    return key;
}

Json outcomes_of(const Grader& grader, const std::vector<Tried>& tried, const std::string& prompt) {
    const Question& question = grader.question();
    Json data{{"prompt", prompt}, {"open", Json::array()}, {"names", Json::array({"all"})}};
    for (const OpenCommand& open : question.commands) {
        if (!open.is_open()) continue;
        Json kinds = Json::array();
        if (open.whole) kinds.push_back("command");
        if (open.names) kinds.push_back(is_set(open.command) ? "set" : "names");
        if (open.size) kinds.push_back("size");
        data["open"].push_back(Json{{"command", print(open)}, {"kinds", kinds}});
    }
    const Diagram& diagram = grader.before().diagram;
    for (const Axis& axis : diagram.axes) data["names"].push_back(axis.name);
    for (const Array& array : diagram.arrays)
        if (array.named) data["names"].push_back(array.name);
    data["sizes"] = sizes_json(grader, tried);
    data["texts"] = Json::array();
    data["outcomes"] = Json::object();
    std::map<std::string, std::size_t> numbers;
    for (const Tried& each : tried) {
        const std::string text =
            with_code(each.grade.reason + (each.grade.help.empty() ? "" : "; " + each.grade.help));
        const auto [at, is_new] = numbers.emplace(text, numbers.size());
        if (is_new) data["texts"].push_back(text);
        data["outcomes"][key_of(question, each.answer)] = {each.grade.right ? 1 : 0, at->second};
    }
    return data;
}

/// The derivation with a field in every open place.
std::string fields_html(const Question& question) {
    std::string text;
    int number = 0;
    for (const OpenCommand& open : question.commands) {
        std::vector<std::string> fields;
        const auto field = [&](const std::string& label, const std::string& attributes) {
            fields.push_back("<input name=\"hole" + std::to_string(number++) + "\" aria-label=\"" +
                             label + "\" autocomplete=\"off\" spellcheck=\"false\" " + attributes +
                             ">");
        };
        if (open.whole) field("command", "size=\"24\"");
        if (open.names) field("names", is_set(open.command) ? "size=\"12\"" : "size=\"5\"");
        if (open.size) field("size", "size=\"6\" inputmode=\"numeric\"");
        std::string line;
        std::size_t next = 0;
        for (const char c : drawing::xml_escaped(print(open)))
            line += c == '?' ? fields[next++] : std::string(1, c);
        text += open.is_open() ? line + "\n" : "<span class=\"given\">" + line + "</span>\n";
    }
    return text;
}

std::string needs_html(const Grader& grader) {
    std::string needs;
    for (const std::string& need : grader.needs())
        needs += (needs.empty() ? "" : ", ") + drawing::xml_escaped(need);
    return needs.empty() ? "" : element("p", "needed: " + needs, "class=\"needed\"");
}

std::string heading_of(const Question& question, std::size_t number) {
    return "<span class=\"number\">" + std::to_string(number) + "</span> " +
           with_code(question.text);
}

std::string form_html(const Grader& grader, std::size_t number) {
    return element("form",
                   "\n" + element("h3", heading_of(grader.question(), number)) +
                       element("pre", fields_html(grader.question())) + needs_html(grader) +
                       element("p", "<button>grade</button>") +
                       element("p", "", "class=\"grade\" role=\"status\""),
                   "class=\"question\" data-question=\"" + std::to_string(number) + "\"");
}

/// The step at which a question stands: the first from `earliest` on whose state its derivation
/// begins with, else the last.
std::size_t place_of(const Grader& grader, const std::vector<DerivedStep>& steps,
                     std::size_t earliest) {
    const State& begins = grader.before();
    for (std::size_t i = earliest; i < steps.size(); ++i)
        if (steps[i].state.diagram == begins.diagram &&
            steps[i].state.relabelling == begins.relabelling)
            return i;
    return steps.size() - 1;
}

/// The answer with its last size open, where the question leaves that open.
std::string without_last_size(const Question& question, std::vector<Command> answer) {
    const auto open = std::find_if(question.commands.rbegin(), question.commands.rend(),
                                   [](const OpenCommand& each) { return each.is_open(); });
    if (!open->size) return typed_text(answer);
    const OpenCommand last{answer.back(), false, true};
    answer.pop_back();
    return typed_text(answer) + (answer.empty() ? "" : "; ") + print(last);
}

/// `group q by 32, 64, 128`: what differs in the last size alone stands together.
std::string list_html(const Question& question, const std::vector<const Tried*>& answers) {
    std::vector<std::pair<std::string, std::string>> lines;  // with `?`, and the sizes for it
    for (const Tried* each : answers) {
        const std::string line = without_last_size(question, each->answer);
        const bool is_new = lines.empty() || lines.back().first != line;
        if (is_new) lines.emplace_back(line, "");
        if (const auto size = each->answer.back().size)
            lines.back().second += (is_new ? "" : ", ") + std::to_string(*size);
    }
    std::string text;
    for (auto& [line, sizes] : lines) {
        if (const std::size_t hole = line.find('?'); hole != std::string::npos)
            line.replace(hole, 1, sizes);
        text += element("div", "<code>" + drawing::xml_escaped(line) + "</code>");
    }
    return text;
}

std::string answers_html(const Grader& grader, const std::vector<Tried>& tried) {
    const Question& question = grader.question();
    std::vector<const Tried*> right;
    std::vector<std::string> order;
    std::map<std::string, std::vector<const Tried*>> wrong;
    for (const Tried& each : tried) {
        if (each.grade.right) {
            right.push_back(&each);
            continue;
        }
        if (!wrong.contains(each.grade.kind)) order.push_back(each.grade.kind);
        wrong[each.grade.kind].push_back(&each);
    }
    std::string inside;
    for (const std::vector<Command>& answer : question.answers) {
        const auto outcome = std::find_if(tried.begin(), tried.end(), [&](const Tried& each) {
            return key_of(question, each.answer) == key_of(question, answer);
        });
        inside += element("p",
                          "<strong><code>" + drawing::xml_escaped(typed_text(answer)) +
                              "</code></strong> " + with_code(outcome->grade.reason),
                          "class=\"answer\"");
    }
    std::string reasons =
        element("dt", "right, of " + std::to_string(tried.size()) + " likely answers") +
        element("dd", list_html(question, right));
    for (const std::string& kind : order)
        reasons +=
            element("dt", with_code(kind)) + element("dd", list_html(question, wrong.at(kind)));
    return inside + element("dl", reasons);
}

}  // namespace

std::optional<Diagnostics> add_questions(ReportPage& page, const std::vector<DerivedStep>& steps,
                                         std::vector<Grader>& graders, const std::string& prompt) {
    page.slides = true;
    // What would be refused is asked for.
    for (StepPage& step : page.steps) step.refused.clear();
    page.data["questions"] = Json::array();
    std::vector<std::string> forms(steps.size());
    std::size_t place = 0;
    for (std::size_t i = 0; i < graders.size(); ++i) {
        const Result<std::vector<Tried>> tried = try_likely(graders[i]);
        if (!tried) return tried.error();
        place = place_of(graders[i], steps, place);
        forms[place] += form_html(graders[i], i + 1);
        page.data["questions"].push_back(outcomes_of(graders[i], *tried, prompt));
    }
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (!forms[i].empty())
            page.steps[i].questions = element("div", "\n" + forms[i], "class=\"questions\"");
    return std::nullopt;
}

Result<std::string> sheet_of(const std::string& title, const Machine& machine,
                             std::vector<Grader>& graders) {
    std::string sections;
    for (std::size_t i = 0; i < graders.size(); ++i) {
        const Result<std::vector<Tried>> tried = try_likely(graders[i]);
        if (!tried) return tried.error();
        const Question& question = graders[i].question();
        std::string derivation;
        for (const OpenCommand& open : question.commands)
            derivation += drawing::xml_escaped(print(open)) + "\n";
        sections += element("section", "\n" + element("h2", heading_of(question, i + 1)) +
                                           element("pre", derivation) + needs_html(graders[i]) +
                                           answers_html(graders[i], *tried));
    }
    return filled(report_sheet(), {{"TITLE", drawing::xml_escaped(title)},
                                   {"STYLE", page_style() + report_slides_style()},
                                   {"MACHINE", drawing::xml_escaped(machine.title)},
                                   {"QUESTIONS", sections}});
}

}  // namespace napkin::cli
