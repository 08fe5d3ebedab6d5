#include "cli/report/html.h"

#include <algorithm>

#include "cli/report/linked_text.h"
#include "cli/report/parts.h"
#include "diagrams/drawing/render.h"
#include "diagrams/drawing/svg_tags.h"

namespace napkin::cli {

std::string element(const std::string& name, const std::string& inside,
                    const std::string& attributes) {
    return "<" + name + (attributes.empty() ? "" : " " + attributes) + ">" + inside + "</" + name +
           ">\n";
}

std::string list_of(const std::vector<std::string>& items, const std::string& attributes) {
    if (items.empty()) return "";
    std::string inside;
    for (const std::string& item : items) inside += element("li", item);
    return element("ul", "\n" + inside, attributes);
}

std::string with_code(const std::string& text) {
    std::string out;
    bool inside = false;
    for (const char c : drawing::xml_escaped(text)) {
        if (c != '`') {
            out += c;
            continue;
        }
        out += inside ? "</code>" : "<code>";
        inside = !inside;
    }
    return out + (inside ? "</code>" : "");
}

std::string page_style() {
    using drawing::svg_variables;
    using drawing::Theme;
    const std::string dark = svg_variables(Theme::Dark);
    return ":root{" + svg_variables(Theme::Paper) +
           "}\n@media screen and (prefers-color-scheme: dark){:root{" + dark +
           "}}\n:root[data-theme=light]{" + svg_variables(Theme::Paper) +
           "}\n@media screen{:root[data-theme=dark]{" + dark + "}}\n.picture " + "svg{" +
           "display:block}\n" + drawing::svg_rules() + "\n" + report_style();
}

std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string, std::string>>& words) {
    std::string out;
    while (!text.empty()) {
        const std::size_t at = std::min(text.find('@'), text.size());
        out += text.substr(0, at);
        text.remove_prefix(at);
        const auto word = std::find_if(words.begin(), words.end(), [&](const auto& each) {
            return text.starts_with("@" + each.first + "@");
        });
        if (word != words.end()) {
            out += word->second;
            text.remove_prefix(word->first.size() + 2);
        } else if (!text.empty()) {
            out += text.front();
            text.remove_prefix(1);
        }
    }
    return out;
}

}  // namespace napkin::cli
