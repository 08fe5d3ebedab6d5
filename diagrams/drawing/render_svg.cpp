// The canvas as SVG: what was laid out, as it stands. Colours are CSS variables with the theme's as
// their defaults (`--napkin-block`), shapes carry what they mean as data- attributes, and text is
// set in letters that the file carries, or to the width that the layout counted in those of the
// reader.

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "diagrams/drawing/font/letters.h"
#include "diagrams/drawing/render.h"
#include "diagrams/drawing/svg_tags.h"
#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

constexpr double kPixelsInPoint = 96.0 / 72;
constexpr double kWireWidth = 1.2;  // what lines of a page have where they do not say

std::string_view name_of(Part part) {
    switch (part) {
    case Part::Wire: return "wire";
    case Part::Separator: return "separator";
    case Part::Cup: return "wire cup";
    case Part::Glyph: return "glyph";
    case Part::Region: return "region";
    case Part::Tint: return "tint";
    case Part::Rule: return "rule";
    case Part::Arrow:
    case Part::ArrowHead: return "arrow";
    }
    return "";
}

constexpr std::string_view kTextRules =
    "text{font-family:Napkin,\"Times New Roman\",Times,\"Liberation Serif\",serif}"
    ".i{font-style:italic}.m{font-family:\"Napkin Mono\",\"Courier New\",Courier,monospace}"
    ".wire{stroke-linecap:round}.handle rect{fill:none;pointer-events:all}";

/// The letters of a face, for the families that the rules name first.
std::string font_face(Face face) {
    const bool mono = face == Face::Mono;
    const bool italic = face == Face::Italic;
    return fmt::format("@font-face{{font-family:{};{}src:url(data:font/woff2;base64,{})}}",
                       mono ? "\"Napkin Mono\"" : "Napkin", italic ? "font-style:italic;" : "",
                       mono     ? mono_letters()
                       : italic ? italic_letters()
                                : roman_letters());
}

std::string_view name_of(Face face) {
    return face == Face::Italic ? "i" : face == Face::Mono ? "m" : "r";
}

/// Letters of one face and size, without spaces at the ends: readers drop those.
struct SetRun {
    std::string text;
    Face face = Face::Roman;
    Point at;
    double size = 0;
    double width = 0;
};

std::vector<SetRun> set_runs(const Text& label) {
    const double start = bounds_of(label).left;
    const std::vector<PlacedRun> places = place_runs(label.text, label.size);
    std::vector<SetRun> runs;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::string& all = label.text.runs[i].text;
        const Face face = label.text.runs[i].face;
        const std::size_t lead = all.find_first_not_of(' ');
        if (lead == std::string::npos) continue;
        const std::string kept = all.substr(lead, all.find_last_not_of(' ') - lead + 1);
        const auto width = [&](std::string_view text) {
            return units_of(text, face) * places[i].size / 1000;
        };
        runs.push_back(
            {kept,
             face,
             {start + places[i].x + width(all.substr(0, lead)), label.at.y - places[i].rise},
             places[i].size,
             width(kept)});
    }
    return runs;
}

class SvgWriter {
public:
    SvgWriter(Theme theme, Font font) : theme_(theme), font_(font) {}
    /// Of a page that paints inks by its own rules.
    SvgWriter() : digits_(1), is_part_(true) {}

    void write(const Operation& operation) {
        add(std::visit([&](const auto& shape) { return tag_of(shape); }, operation.shape),
            operation.meaning);
        if (const Text* label = std::get_if<Text>(&operation.shape))
            for (const Bar& bar : bars_over(label->text, label->size))
                add_bar(tag_of(bar, {bounds_of(*label).left, label->at.y}, label->color));
    }
    void write(const Element& element) {
        close_group();
        const Box2& box = element.bounds;
        const std::string id = is_part_ ? "" : attribute("id", unique(element.id));
        out_ += fmt::format(
            "<g{} class=\"handle {}\"{}><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" "
            "height=\"{}\"/></g>\n",
            id, element.kind, attributes_of(element.meaning), xml_escaped(element.tooltip),
            length(box.left), length(box.top), length(box.right - box.left),
            length(box.bottom - box.top));
    }
    /// A page of the theme's own colour: black ink on somebody's dark page would not be seen.
    [[nodiscard]] std::string page() {
        return fmt::format("<rect class=\"page {}\" fill=\"{}\" width=\"100%\" height=\"100%\"/>\n",
                           fill_class(kWhite), hex(kWhite));
    }
    [[nodiscard]] std::string body() {
        close_group();
        return out_;
    }
    [[nodiscard]] std::string style() const;

private:
    void add(Tag tag, const Meaning& meaning) {
        if (!is_part_) {
            out_ += text_of(tag, attributes_of(meaning));
            return;
        }
        if (!group_.takes(tag, meaning)) close_group();
        group_.add(std::move(tag), meaning);
    }
    /// Where texts are a group, their bars are one after it.
    void add_bar(Tag tag) {
        if (!is_part_) return add(std::move(tag), {});
        if (!bars_.takes(tag, {})) out_ += bars_.take();
        bars_.add(std::move(tag), {});
    }
    void close_group() { out_ += group_.take() + bars_.take(); }

    Tag tag_of(const Line& line) {
        return path_tag(classes(name_of(line.part), line.stroke, std::nullopt),
                        filled(std::nullopt) + pen(line.stroke), path_of(line));
    }
    Tag tag_of(const Polygon& polygon) {
        std::string points;
        for (const Point& p : polygon.points) points += (points.empty() ? "" : " ") + point(p);
        return {"polygon",
                attribute("class", classes(name_of(polygon.part), polygon.stroke, polygon.fill)) +
                    filled(polygon.fill) + pen(polygon.stroke),
                attribute("points", points)};
    }
    Tag tag_of(const Boxes& boxes) {
        std::string path;
        for (const Box2& box : boxes.boxes)
            path += fmt::format("M{}H{}V{}H{}z", point({box.left, box.top}), length(box.right),
                                length(box.bottom), length(box.left));
        return path_tag(
            "tint " + fill_class(boxes.fill),
            filled(boxes.fill) + attribute("shape-rendering", boxes.crisp ? "crispEdges" : ""),
            path);
    }
    Tag tag_of(const Dot& dot) {
        return {"circle",
                attribute("class", classes("dot", dot.stroke, dot.fill)) + filled(dot.fill) +
                    pen(dot.stroke),
                attribute("cx", length(dot.center.x)) + attribute("cy", length(dot.center.y)) +
                    attribute("r", length(dot.radius))};
    }
    Tag tag_of(const Bar& bar, Point start, Color color) {
        const Stroke stroke{color, kBarWidth, Dash::Solid};
        const double y = start.y - bar.rise;
        return path_tag(
            classes("overbar", stroke, std::nullopt), filled(std::nullopt) + pen(stroke),
            path_of({{{start.x + bar.left, y}, {start.x + bar.right, y}}, false, stroke}));
    }
    Tag tag_of(const Text& label) {
        const std::vector<SetRun> runs = set_runs(label);
        for (const SetRun& run : runs) faces_.insert(run.face);
        const std::string ink = fill_class(label.color);
        if (is_part_ && !runs.empty()) return short_text(runs, ink, filled(label.color));
        std::string inside;
        for (const SetRun& run : runs)
            inside += fmt::format("<tspan class=\"{}\"{} font-size=\"{}\"{}>{}</tspan>",
                                  name_of(run.face), place_of(run), svg_number(run.size),
                                  width_of(run), xml_escaped(run.text));
        return {"text", attribute("class", ink) + filled(label.color), "", "", inside};
    }
    /// The text stands where its first run does and is of its face and size; others say what of
    /// that is another with them.
    [[nodiscard]] Tag short_text(const std::vector<SetRun>& runs, const std::string& ink,
                                 const std::string& fill) const {
        const SetRun& first = runs.front();
        const bool alone = runs.size() == 1;
        std::string inside;
        double y = first.at.y;
        for (const SetRun& run : runs) {
            std::string own = &run == &first || run.face == first.face
                                  ? ""
                                  : attribute("class", name_of(run.face));
            if (&run != &first) own += attribute("x", length(run.at.x));
            if (run.at.y != y) own += attribute("y", length(run.at.y));
            if (run.size != first.size) own += attribute("font-size", svg_number(run.size));
            if (!alone) own += width_of(run);
            const std::string text = xml_escaped(run.text);
            inside += own.empty() ? text : fmt::format("<tspan{}>{}</tspan>", own, text);
            y = run.at.y;
        }
        const std::string face = first.face == Face::Roman ? "" : std::string(name_of(first.face));
        return {"text",
                attribute("class", ink + (ink.empty() || face.empty() ? "" : " ") + face) + fill +
                    attribute("font-size", svg_number(first.size)),
                place_of(first) + (alone ? width_of(first) : ""), "", inside};
    }
    [[nodiscard]] std::string place_of(const SetRun& run) const {
        return attribute("x", length(run.at.x)) + attribute("y", length(run.at.y));
    }
    /// For readers of other letters; a single one has its own width.
    [[nodiscard]] std::string width_of(const SetRun& run) const {
        return columns_in(run.text) > 1 ? attribute("textLength", length(run.width)) : "";
    }

    static Tag path_tag(const std::string& classes, const std::string& rest,
                        const std::string& path) {
        return {"path", attribute("class", classes) + rest, "", path};
    }
    [[nodiscard]] std::string path_of(const Line& line) const {
        if (is_part_) return short_path(line);
        std::string path = "M" + point(line.points[0]);
        if (line.smooth)
            path += "C";
        else if (line.points.size() > 1)
            path += "L";
        for (std::size_t i = 1; i < line.points.size(); ++i)
            path += (i > 1 ? " " : "") + point(line.points[i]);
        return path;
    }

    std::string unique(const std::string& id) {
        const int count = ++ids_[id];
        return count == 1 ? id : id + "-" + std::to_string(count);
    }
    [[nodiscard]] std::string length(double value) const { return svg_number(value, digits_); }
    [[nodiscard]] std::string point(const Point& p) const {
        return length(p.x) + "," + length(p.y);
    }
    [[nodiscard]] std::string hex(Color color) const {
        return fmt::format("#{:06x}", shade(color, theme_));
    }
    [[nodiscard]] std::string filled(const std::optional<Color>& fill) const {
        if (is_part_ && (!fill || !ink_name(*fill).empty())) return "";
        return fill ? " fill=\"" + hex(*fill) + "\"" : " fill=\"none\"";
    }
    [[nodiscard]] std::string pen(const Stroke& stroke) const {
        std::string text;
        if (!is_part_ || ink_name(stroke.color).empty())
            text += " stroke=\"" + hex(stroke.color) + "\"";
        if (stroke.width != (is_part_ ? kWireWidth : 1))
            text += " stroke-width=\"" + svg_number(stroke.width * line_scale(theme_)) + "\"";
        if (stroke.dash == Dash::Dashed) text += " stroke-dasharray=\"5,3\"";
        if (stroke.dash == Dash::Dotted) text += " stroke-dasharray=\"1.2,3\"";
        return text;
    }
    std::string fill_class(Color color) {
        const std::string_view name = ink_name(color);
        if (name.empty()) return "";
        fills_.insert(color);
        return fmt::format("f-{}", name);
    }
    std::string classes(std::string_view part, const Stroke& stroke,
                        const std::optional<Color>& fill) {
        std::string text(part);
        if (const std::string_view name = ink_name(stroke.color); !name.empty()) {
            strokes_.insert(stroke.color);
            text += fmt::format(" s-{}", name);
        }
        if (fill && !ink_name(*fill).empty()) text += " " + fill_class(*fill);
        return text;
    }
    Theme theme_ = Theme::Paper;
    Font font_ = Font::None;
    int digits_ = 2;
    bool is_part_ = false;
    std::string out_;
    TagGroup group_;
    TagGroup bars_;
    std::set<Color> strokes_;
    std::set<Color> fills_;
    std::set<Face> faces_;
    std::map<std::string, int> ids_;  ///< how many handles have each
};

std::string SvgWriter::style() const {
    std::string text;
    if (font_ == Font::Embed)
        for (const Face face : faces_) text += font_face(face) + "\n";
    text += kTextRules;
    const auto rule = [&](char kind, const char* property, Color color) {
        text += fmt::format(".{}-{}{{{}:var(--napkin-{},{})}}", kind, ink_name(color), property,
                            ink_name(color), hex(color));
    };
    for (const Color color : strokes_) rule('s', "stroke", color);
    for (const Color color : fills_) rule('f', "fill", color);
    return text;
}

}  // namespace

std::string render_svg(const Canvas& canvas, Theme theme, Font font) {
    SvgWriter writer(theme, font);
    for (const Operation& operation : canvas.operations) writer.write(operation);
    for (const Element& element : canvas.elements) writer.write(element);
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} "
        "{}\" "
        "role=\"img\"{}>\n",
        svg_number(std::ceil(canvas.width * kPixelsInPoint)),
        svg_number(std::ceil(canvas.height * kPixelsInPoint)), svg_number(canvas.width),
        svg_number(canvas.height), attribute("data-step", canvas.step));
    if (!canvas.title.empty()) text += "<title>" + xml_escaped(canvas.title) + "</title>\n";
    if (!canvas.description.empty())
        text += "<desc>" + xml_escaped(canvas.description) + "</desc>\n";
    const std::string page = writer.page();
    text += "<style>" + writer.style() + "</style>\n" + page;
    return text + writer.body() + "</svg>\n";
}

std::string render_svg_part(const Canvas& canvas) {
    SvgWriter writer;
    for (const Operation& operation : canvas.operations) writer.write(operation);
    for (const Element& element : canvas.elements) writer.write(element);
    return fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" fill=\"none\" stroke-width=\"{}\"{}>\n"
        "<title>{}</title>\n<desc>{}</desc>\n{}</svg>\n",
        svg_number(canvas.width), svg_number(canvas.height), svg_number(kWireWidth),
        attribute("data-step", canvas.step), xml_escaped(canvas.title),
        xml_escaped(canvas.description), writer.body());
}

std::string svg_rules() {
    std::string text = font_face(Face::Roman) + font_face(Face::Italic);
    text += kTextRules;
    text += ".r{font-style:normal}";  // in a text of letters that lean
    for (const Color color : all_inks())
        text += fmt::format(".s-{0}{{stroke:var(--napkin-{0})}}.f-{0}{{fill:var(--napkin-{0})}}",
                            ink_name(color));
    return text;
}

std::string svg_variables(Theme theme) {
    std::string text;
    for (const Color color : all_inks())
        text += fmt::format("--napkin-{}:#{:06x};", ink_name(color), shade(color, theme));
    return text;
}

}  // namespace napkin::drawing
