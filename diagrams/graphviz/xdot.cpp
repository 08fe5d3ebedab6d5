// A canvas in Graphviz' drawing language. Every string carries its length in bytes, which has to be
// exact: Graphviz drops the rest of the picture without a word otherwise.

#include <fmt/format.h>

#include "diagrams/graphviz/xdot.h"
#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

// Graphviz takes a text's height for its middle, and lifts it by so much to the baseline.
constexpr double kLifted = 0.2;

class XdotWriter {
public:
    explicit XdotWriter(double height) : height_(height) {}

    void write(const Line& line) {
        pen(line.stroke);
        points(line.smooth ? 'B' : 'L', line.points);
    }
    void write(const Polygon& polygon) {
        pen(polygon.stroke);
        if (polygon.fill) text('C', color(*polygon.fill));
        points(polygon.fill ? 'P' : 'p', polygon.points);
    }
    /// One polygon, which goes from each to the next and at last all the way back, along lines
    /// that take no area.
    void write(const Boxes& boxes) {
        std::vector<Point> way;
        for (const Box2& box : boxes.boxes)
            way.insert(way.end(), {{box.left, box.top},
                                   {box.right, box.top},
                                   {box.right, box.bottom},
                                   {box.left, box.bottom},
                                   {box.left, box.top}});
        for (auto box = boxes.boxes.rbegin(); box != boxes.boxes.rend(); ++box)
            way.push_back({box->left, box->top});
        write(Polygon{std::move(way), boxes.fill, {boxes.fill, 0}, Part::Tint});
    }
    void write(const Dot& dot) {
        pen(dot.stroke);
        if (dot.fill) text('C', color(*dot.fill));
        out_ += fmt::format("{} {} {} {} {} ", dot.fill ? 'E' : 'e', number(dot.center.x),
                            number(height_ - dot.center.y), number(dot.radius), number(dot.radius));
    }
    void write(const Text& label) {
        const double start = bounds_of(label).left;
        const std::vector<PlacedRun> places = place_runs(label.text, label.size);
        for (std::size_t i = 0; i < places.size(); ++i) {
            const Run& run = label.text.runs[i];
            const PlacedRun& place = places[i];
            const double x = start + place.x;
            const double y = height_ - label.at.y + place.rise;
            text('c', color(label.color));
            // Style bits rather than a font's own italic name: the bitmap renderers know families.
            out_ += fmt::format("t {} F {} ", run.face == Face::Italic ? 2 : 0, number(place.size));
            string(run.face == Face::Mono ? "Courier New,Courier,monospace"
                                          : "Times New Roman,Times,serif");
            // Renderers drop spaces at the ends of a string.
            const std::size_t lead = run.text.find_first_not_of(' ');
            if (lead == std::string::npos) continue;
            const std::string_view kept =
                std::string_view(run.text).substr(lead, run.text.find_last_not_of(' ') - lead + 1);
            const double skip =
                units_of(std::string_view(run.text).substr(0, lead), run.face) * place.size / 1000;
            const double width = units_of(kept, run.face) * place.size / 1000;
            out_ += fmt::format("T {} {} -1 {} ", number(x + skip),
                                number(y - kLifted * place.size), number(width));
            string(kept);
        }
        for (const Bar& bar : bars_over(label.text, label.size))
            write(bar, start, height_ - label.at.y, label.color);
    }
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    static std::string number(double value) {
        std::string text = fmt::format("{:.2f}", value);
        return text == "-0.00" ? "0.00" : text;
    }
    static std::string color(Color value) { return fmt::format("#{:06x}", value); }
    void string(std::string_view value) { out_ += fmt::format("{} -{} ", value.size(), value); }
    void text(char operation, std::string_view value) {
        out_ += operation;
        out_ += ' ';
        string(value);
    }
    void pen(const Stroke& stroke) {
        if (stroke.dash == Dash::Solid) text('S', "solid");
        if (stroke.dash == Dash::Dashed) text('S', "dashed");
        if (stroke.dash == Dash::Dotted) text('S', "dotted");
        text('S', fmt::format("setlinewidth({})", number(stroke.width)));
        text('c', color(stroke.color));
    }
    void points(char operation, const std::vector<Point>& list) {
        out_ += fmt::format("{} {} ", operation, list.size());
        for (const Point& p : list) out_ += number(p.x) + " " + number(height_ - p.y) + " ";
    }
    void write(const Bar& bar, double x, double y, Color ink) {
        text('S', "solid");
        text('S', fmt::format("setlinewidth({})", number(kBarWidth)));
        text('c', color(ink));
        out_ += fmt::format("L 2 {} {} {} {} ", number(x + bar.left), number(y + bar.rise),
                            number(x + bar.right), number(y + bar.rise));
    }

    double height_;
    std::string out_;
};

}  // namespace

std::string to_xdot(const Canvas& canvas) {
    XdotWriter writer(canvas.height);
    for (const Operation& operation : canvas.operations)
        std::visit([&](const auto& shape) { writer.write(shape); }, operation.shape);
    return writer.take();
}

}  // namespace napkin::drawing
