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
#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

constexpr double kPixelsInPoint = 96.0 / 72;
constexpr double kWireWidth = 1.2;  // what lines of a page have where they do not say

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += c;
        }
    return out;
}

/// At most so many digits after the point, and none that say nothing.
std::string number(double value, int digits = 2) {
    std::string text = fmt::format("{:.{}f}", value, digits);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string attribute(std::string_view name, std::string_view value) {
    return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, escaped(value));
}

std::string data_of(const Meaning& meaning) {
    return attribute("data-axis", meaning.axis) + attribute("data-array", meaning.array) +
           attribute("data-level", meaning.level) + attribute("data-source", meaning.source);
}

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

class SvgWriter {
public:
    SvgWriter(Theme theme, Font font) : theme_(theme), font_(font) {}
    /// Of a page that paints inks by its own rules.
    SvgWriter() : digits_(1), is_part_(true) {}

    void write(const Operation& operation) {
        const std::string data = data_of(operation.meaning);
        std::visit([&](const auto& shape) { write(shape, data); }, operation.shape);
    }
    void write(const Element& element) {
        const Box2& box = element.bounds;
        const std::string id = is_part_ ? "" : attribute("id", unique(element.id));
        out_ += fmt::format(
            "<g{} class=\"handle {}\"{}><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" "
            "height=\"{}\"/></g>\n",
            id, element.kind, data_of(element.meaning), escaped(element.tooltip), length(box.left),
            length(box.top), length(box.right - box.left), length(box.bottom - box.top));
    }
    /// A page of the theme's own colour: black ink on somebody's dark page would not be seen.
    [[nodiscard]] std::string page() {
        return fmt::format("<rect class=\"page {}\" fill=\"{}\" width=\"100%\" height=\"100%\"/>\n",
                           fill_class(kWhite), hex(kWhite));
    }
    [[nodiscard]] std::string body() const { return out_; }
    [[nodiscard]] std::string style() const;

private:
    void write(const Line& line, const std::string& data) {
        std::string path = "M" + point(line.points[0]);
        if (line.smooth)
            path += "C";
        else if (line.points.size() > 1)
            path += "L";
        for (std::size_t i = 1; i < line.points.size(); ++i)
            path += (i > 1 ? " " : "") + point(line.points[i]);
        out_ += fmt::format("<path class=\"{}\"{}{}{} d=\"{}\"/>\n",
                            classes(name_of(line.part), line.stroke, std::nullopt),
                            filled(std::nullopt), pen(line.stroke), data, path);
    }
    void write(const Polygon& polygon, const std::string& data) {
        std::string points;
        for (const Point& p : polygon.points) points += (points.empty() ? "" : " ") + point(p);
        out_ += fmt::format("<polygon class=\"{}\"{}{}{} points=\"{}\"/>\n",
                            classes(name_of(polygon.part), polygon.stroke, polygon.fill),
                            filled(polygon.fill), pen(polygon.stroke), data, points);
    }
    void write(const Boxes& boxes, const std::string& data) {
        std::string path;
        for (const Box2& box : boxes.boxes)
            path += fmt::format("M{}H{}V{}H{}z", point({box.left, box.top}), length(box.right),
                                length(box.bottom), length(box.left));
        out_ +=
            fmt::format("<path class=\"tint {}\"{}{}{} d=\"{}\"/>\n", fill_class(boxes.fill),
                        filled(boxes.fill),
                        attribute("shape-rendering", boxes.crisp ? "crispEdges" : ""), data, path);
    }
    void write(const Dot& dot, const std::string& data) {
        out_ += fmt::format("<circle class=\"{}\"{}{}{} cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n",
                            classes("dot", dot.stroke, dot.fill), filled(dot.fill), pen(dot.stroke),
                            data, length(dot.center.x), length(dot.center.y), length(dot.radius));
    }
    void write(const Text& label, const std::string& data) {
        const double start = bounds_of(label).left;
        const std::vector<PlacedRun> places = place_runs(label.text, label.size);
        out_ += fmt::format("<text class=\"{}\"{}{}>", fill_class(label.color), filled(label.color),
                            data);
        for (std::size_t i = 0; i < places.size(); ++i)
            write(label.text.runs[i], places[i], {start, label.at.y});
        out_ += "</text>\n";
        for (const Bar& bar : bars_over(label.text, label.size))
            write(bar, {start, label.at.y}, label.color);
    }

    /// Readers drop spaces at the ends of a run, so it begins after.
    void write(const Run& run, const PlacedRun& place, Point start) {
        const std::size_t lead = run.text.find_first_not_of(' ');
        if (lead == std::string::npos) return;
        const std::string_view all = run.text;
        const std::string_view kept = all.substr(lead, all.find_last_not_of(' ') - lead + 1);
        const auto width = [&](std::string_view text) {
            return units_of(text, run.face) * place.size / 1000;
        };
        const double x = start.x + place.x + width(all.substr(0, lead));
        const double y = start.y - place.rise;
        faces_.insert(run.face);
        out_ += fmt::format("<tspan class=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{}\"",
                            face(run.face), length(x), length(y), number(place.size));
        if (columns_in(kept) > 1) out_ += fmt::format(" textLength=\"{}\"", length(width(kept)));
        out_ += ">" + escaped(kept) + "</tspan>";
    }

    std::string unique(const std::string& id) {
        const int count = ++ids_[id];
        return count == 1 ? id : id + "-" + std::to_string(count);
    }
    [[nodiscard]] std::string length(double value) const { return number(value, digits_); }
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
            text += " stroke-width=\"" + number(stroke.width * line_scale(theme_)) + "\"";
        if (stroke.dash == Dash::Dashed) text += " stroke-dasharray=\"5,3\"";
        if (stroke.dash == Dash::Dotted) text += " stroke-dasharray=\"1.2,3\"";
        return text;
    }
    static std::string_view face(Face face) {
        return face == Face::Italic ? "i" : face == Face::Mono ? "m" : "r";
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
    void write(const Bar& bar, Point start, Color color) {
        const Stroke stroke{color, kBarWidth, Dash::Solid};
        const double y = start.y - bar.rise;
        out_ +=
            fmt::format("<path class=\"{}\"{}{} d=\"M{}L{}\"/>\n",
                        classes("overbar", stroke, std::nullopt), filled(std::nullopt), pen(stroke),
                        point({start.x + bar.left, y}), point({start.x + bar.right, y}));
    }

    Theme theme_ = Theme::Paper;
    Font font_ = Font::None;
    int digits_ = 2;
    bool is_part_ = false;
    std::string out_;
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
        number(std::ceil(canvas.width * kPixelsInPoint)),
        number(std::ceil(canvas.height * kPixelsInPoint)), number(canvas.width),
        number(canvas.height), attribute("data-step", canvas.step));
    if (!canvas.title.empty()) text += "<title>" + escaped(canvas.title) + "</title>\n";
    if (!canvas.description.empty()) text += "<desc>" + escaped(canvas.description) + "</desc>\n";
    const std::string page = writer.page();
    text += "<style>" + writer.style() + "</style>\n" + page;
    return text + writer.body() + "</svg>\n";
}

std::string render_svg_part(const Canvas& canvas) {
    SvgWriter writer;
    for (const Operation& operation : canvas.operations) writer.write(operation);
    for (const Element& element : canvas.elements) writer.write(element);
    return fmt::format(
        "<svg viewBox=\"0 0 {} {}\" "
        "role=\"img\"{}>\n<title>{}</title>\n<desc>{}</desc>\n{}</svg>\n",
        number(canvas.width), number(canvas.height), attribute("data-step", canvas.step),
        escaped(canvas.title), escaped(canvas.description), writer.body());
}

std::string svg_rules() {
    std::string text = font_face(Face::Roman) + font_face(Face::Italic);
    text += kTextRules;
    text += "path,polygon,circle{fill:none;stroke-width:" + number(kWireWidth) + "}";
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
