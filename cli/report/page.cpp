#include "cli/report/page.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/formula_json.h"
#include "cli/numbers.h"
#include "cli/report/html.h"
#include "cli/report/linked_text.h"
#include "cli/report/parts.h"
#include "diagrams/drawing/svg_tags.h"
#include "diagrams/factor.h"
#include "perfmodel/cost_table.h"

namespace napkin::cli {
namespace {

std::vector<std::string> all_escaped(const std::vector<std::string>& texts) {
    std::vector<std::string> result;
    for (const std::string& text : texts) result.push_back(drawing::xml_escaped(text));
    return result;
}

std::vector<std::string> all_with_code(const std::vector<std::string>& texts) {
    std::vector<std::string> result;
    for (const std::string& text : texts) result.push_back(with_code(text));
    return result;
}

/// A formula of the paper's form, which the page sets, in the signs of its number.
std::string formula_of(const Amount& amount, const Signs& signs, const RegionCost& region,
                       const std::vector<Polynomial>& parts) {
    if (!amount.ideal) return "";
    const std::string tree = tree_of(*amount.ideal, region.names, region.order, parts).dump();
    return signs.before + ("<span class=\"formula\" data-tree=\"" + drawing::xml_escaped(tree)) +
           "\">" +
           drawing::xml_escaped(print_in_parts(*amount.ideal, parts, region.names, region.order)) +
           "</span>" + signs.after;
}

const RegionCost& largest_region(const Cost& cost) {
    return *std::max_element(
        cost.regions.begin(), cost.regions.end(), [](const RegionCost& a, const RegionCost& b) {
            return a.levels.at(Level::Block).memory.bits < b.levels.at(Level::Block).memory.bits;
        });
}

/// A figure, the earlier one struck through, by what it changed, and its formula.
std::string row_of(const std::string& name, const std::string& before, const std::string& now,
                   const std::string& change, const std::string& form) {
    std::string value = before.empty() || before == now ? "" : "<del>" + before + "</del> ";
    value += "<strong>" + now + "</strong>";
    if (!before.empty() && before != now)
        value += " <small>" + drawing::xml_escaped(change) + "</small>";
    return element(
        "tr", "<th scope=\"row\">" + name + "</th><td>" + value + "</td><td>" + form + "</td>");
}

std::string figures_table(const DerivedStep* before, const DerivedStep& step) {
    const Figures& now = step.figures;
    const auto text = [&](const auto& of) {
        return before == nullptr ? std::string() : of(before->figures);
    };
    const auto change = [&](double Figures::*figure) {
        return before == nullptr ? "" : change_text(before->figures.*figure, now.*figure);
    };
    const auto moved = [](const Figures& figures) { return bytes_text(figures.transferred); };
    const auto held = [](const Figures& figures) { return bytes_text(figures.memory); };
    const RegionCost& first = step.cost.regions.front();
    const RegionCost& largest = largest_region(step.cost);
    const Amount& transferred = step.cost.transferred.at(Level::Block);
    const Amount& memory = largest.levels.at(Level::Block).memory;
    return element(
        "table",
        "\n" +
            row_of("H", text(moved), moved(now), change(&Figures::transferred),
                   formula_of(transferred, signs_of(transferred, step.cost), first,
                              transfers_of(step.cost))) +
            row_of("M", text(held), held(now), change(&Figures::memory),
                   formula_of(memory, signs_of(memory, largest), largest, transfers_of(largest))) +
            row_of("time", text(typeset_times), typeset_times(now), change(&Figures::time_high),
                   drawing::xml_escaped(now.binds)),
        "class=\"figures\"");
}

std::string accumulator_html(const Json& accumulator) {
    std::string axes;
    for (const Json& axis : accumulator.at("axes"))
        axes += (axes.empty() ? "" : ", ") + drawing::xml_escaped(axis.get<std::string>());
    std::string inside =
        element("caption", axes.empty() ? "all of it at once" : "accumulator over " + axes);
    for (const auto& [heading, lines] : accumulator.items()) {
        // What it rests on is among the step's own conditions.
        if (heading == "axes" || heading == "states" || heading == "provided" ||
            heading == "unsafe")
            continue;
        std::string text;
        for (const Json& line : lines)
            text += element("div", drawing::xml_escaped(line.get<std::string>()),
                            "class=\"code-line\"");
        inside += element("tr", "<th scope=\"row\">" + heading + "</th><td>" + text + "</td>");
    }
    return element("table", inside, "class=\"accumulator\"");
}

/// The accumulators of a step where they are others than before.
std::string accumulators_html(const Json& before, const Json& now) {
    const auto lacking = [](const Json& from, const Json& in) {
        Json those = Json::array();
        for (const Json& each : from)
            if (std::find(in.begin(), in.end(), each) == in.end()) those.push_back(each);
        return those;
    };
    const auto streams = [](const Json& each) { return !each.at("axes").empty(); };
    const Json old = lacking(before, now);
    std::string shown;
    for (const Json& each : lacking(now, before))
        if (streams(each)) shown += accumulator_html(each);
    if (shown.empty() && std::none_of(old.begin(), old.end(), streams)) return "";
    std::string folded = element("summary", "before");
    for (const Json& each : old) folded += accumulator_html(each);
    return shown + element("details", folded, "class=\"before\"");
}

std::string refusals_html(const StepPage& page) {
    if (page.refused.empty()) return "";
    std::string inside = element("summary", "what would be refused here");
    for (const auto& [command, reason] : page.refused)
        inside += element("dt", "<code>" + drawing::xml_escaped(command) + "</code>") +
                  element("dd", with_code(reason));
    constexpr std::size_t kFew = 3;
    return element("details", inside,
                   std::string("class=\"refused\"") + (page.refused.size() <= kFew ? " open" : ""));
}

std::string told(const std::vector<DerivedStep>& steps, const ReportPage& page, std::size_t i) {
    const DerivedStep& step = steps[i];
    const std::string title =
        i == 0 ? "The plain diagram" : "<code>" + drawing::xml_escaped(step.typed()) + "</code>";
    std::string out =
        element("h2", "<span class=\"number\">" + std::to_string(i) + "</span> " + title);
    if (step.step() != nullptr)
        out += element("p", drawing::xml_escaped(step.step()->law), "class=\"law\"");
    out += figures_table(i == 0 ? nullptr : &steps[i - 1], step);
    out += list_of(all_escaped(step.reasons), "class=\"reasons\"");
    if (step.step() != nullptr) {
        out += list_of(all_with_code(step.step()->conditions), "class=\"checked\"");
        out += list_of(all_with_code(step.step()->hazards), "class=\"unsafe\"");
    }
    out += accumulators_html(i == 0 ? Json::array() : page.steps[i - 1].accumulators,
                             page.steps[i].accumulators);
    return out + refusals_html(page.steps[i]);
}

std::string tabs() {
    std::string inside;
    for (const auto& [name, title] :
         {std::pair("tile", "tile program"), std::pair("kernels", "CUDA"),
          std::pair("diagram", "diagram")})
        inside +=
            element("button", title, std::string("type=\"button\" data-text=\"") + name + "\"");
    return element("div", inside, "class=\"tabs\" role=\"group\" aria-label=\"texts\"");
}

/// Parts of steps, each in an element. The page copies one that stands again as it was, which names
/// the first by number.
class Parts {
public:
    Parts(std::string kind, std::string tag) : kind_(std::move(kind)), tag_(std::move(tag)) {}

    std::string placed(const std::string& part, const std::string& attributes = "") {
        const auto [at, is_new] = numbers_.emplace(part, numbers_.size());
        return "<" + tag_ + attributes + (is_new ? " id=\"" : " data-same=\"") + kind_ + "-" +
               std::to_string(at->second) + "\">" + (is_new ? part : "") + "</" + tag_ + ">";
    }

private:
    std::string kind_;
    std::string tag_;
    std::map<std::string, std::size_t> numbers_;
};

class Steps {
public:
    Steps(const std::vector<DerivedStep>& steps, const ReportPage& page)
        : steps_(steps), page_(page) {}

    std::string section_of(std::size_t i) {
        std::string tile;
        for (const std::string& kernel : page_.steps[i].tile)
            tile += kernels_.placed(kernel, " class=\"kernel\"");
        return element(
            "section",
            "\n" + figure_of(i) + element("div", "\n" + told(steps_, page_, i), "class=\"told\"") +
                page_.steps[i].questions +
                element("div",
                        tabs() + element("pre", tile, "class=\"text tile\" data-text=\"tile\""),
                        "class=\"code\""),
            "class=\"step\" aria-label=\"step " + std::to_string(i) + "\"");
    }

private:
    std::string figure_of(std::size_t i) {
        const auto stood = [&](const std::string& picture) {
            if (i == 0) return false;
            const std::vector<std::string>& before = page_.steps[i - 1].pictures;
            return std::find(before.begin(), before.end(), picture) != before.end();
        };
        std::string inside = "\n";
        for (const std::string& picture : page_.steps[i].pictures)
            inside += pictures_.placed(picture, stood(picture) ? " class=\"stood\"" : "") + "\n";
        inside += element("div", page_.steps[i].legend, "class=\"legend\"");
        return element("figure", inside,
                       "class=\"picture\" tabindex=\"0\" aria-label=\"the picture after step " +
                           std::to_string(i) + "\"");
    }

    const std::vector<DerivedStep>& steps_;
    const ReportPage& page_;
    Parts pictures_{"picture", "div"};
    Parts kernels_{"kernel", "span"};
};

std::string scrubber(const std::vector<DerivedStep>& steps) {
    std::string out;
    for (std::size_t i = 0; i < steps.size(); ++i)
        out +=
            element("li", element("button",
                                  "<span class=\"number\">" + std::to_string(i) + "</span> " +
                                      "<span class=\"title\">" +
                                      (i == 0 ? "plain" : drawing::xml_escaped(steps[i].typed())) +
                                      "</span>",
                                  "type=\"button\""));
    return out;
}

std::string texts(const ReportPage& page) {
    const std::string kernels = page.kernels.empty() ? element("p", with_code(page.why_no_kernels))
                                                     : element("pre", page.kernels);
    return element("div", kernels, "class=\"text shared\" data-text=\"kernels\" hidden") +
           element("div", element("pre", page.diagram),
                   "class=\"text shared\" data-text=\"diagram\" hidden");
}

/// Text of a script that holds no end of it.
std::string in_script(const Json& json) {
    std::string out;
    for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
        out += c == '<' ? "\\u003c" : std::string(1, c);
    return out;
}

}  // namespace

std::string typeset_times(const Figures& figures) {
    std::string text = times_text(figures);
    for (std::size_t at = 0; (at = text.find(" us", at)) != std::string::npos;)
        text.replace(at + 1, 1, "&#181;");
    return text;
}

std::string html_of(const ReportPage& page, const std::vector<DerivedStep>& steps) {
    std::string sections;
    Steps all(steps, page);
    for (std::size_t i = 0; i < steps.size(); ++i) sections += all.section_of(i);
    const std::string script = std::string(report_formulas()) + report_kernels() + report_model() +
                               report_plots() + report_figures() + report_script() +
                               (page.slides ? report_slides_script() : "");
    return filled(report_page(),
                  {{"TITLE", drawing::xml_escaped(page.title)},
                   {"NAME", drawing::xml_escaped(page.title)},
                   {"KIND", page.slides ? "slides" : "report"},
                   {"STYLE", page_style() + (page.slides ? report_slides_style() : "")},
                   {"SUMMARY", page.summary},
                   {"SCRUBBER", scrubber(steps)},
                   {"STEPS", sections},
                   {"TEXTS", texts(page)},
                   {"FOOTER", page.footer},
                   {"DATA", in_script(page.data)},
                   {"SCRIPT", script}});
}

}  // namespace napkin::cli
