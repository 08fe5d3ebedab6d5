#include "diagrams/drawing/changes.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "diagrams/drawing/stages.h"

namespace napkin::drawing {

namespace {

constexpr double kHaloReach = 1.5;
constexpr double kCostSize = 12;
constexpr double kCostStep = 18;
constexpr double kCostGap = 14;
constexpr double kStrikeRise = 0.28;  // over the baseline, in sizes

using Said = std::tuple<std::string, std::string, std::string>;

Said said_by(const Text& text, const Meaning& meaning) {
    return {to_unicode(text.text), meaning.axis, meaning.array};
}

std::set<Said> all_said(const Canvas& canvas) {
    std::set<Said> all;
    for (const Operation& operation : canvas.operations)
        if (const Text* text = std::get_if<Text>(&operation.shape))
            all.insert(said_by(*text, operation.meaning));
    return all;
}

/// The axes of which parts are taken: each is named under a bar.
std::set<std::string> axes_taken_apart(const Canvas& canvas) {
    std::set<std::string> axes;
    for (const Operation& operation : canvas.operations)
        if (const Text* text = std::get_if<Text>(&operation.shape);
            text != nullptr && std::any_of(text->text.runs.begin(), text->text.runs.end(),
                                           [](const Run& run) { return run.overbar; }))
            axes.insert(operation.meaning.axis);
    return axes;
}

Operation halo_of(const Text& text) {
    const Box2 box = bounds_of(text);
    const double left = box.left - kHaloReach;
    const double right = box.right + kHaloReach;
    return {Polygon{{{left, box.top}, {right, box.top}, {right, box.bottom}, {left, box.bottom}},
                    kSubAlgorithmFill,
                    {kSubAlgorithmFill, 0.5, Dash::Solid},
                    Part::Tint},
            {}};
}

/// Line by line below the picture.
class Changes {
public:
    Changes(Canvas& canvas, double max_width)
        : canvas_(canvas), right_(std::max(canvas.width, max_width) - kMargin) {}

    void set(const CostChange& cost) {
        double x = kMargin;
        begin_line();
        for (const MathText& line : lines_of(cost.before)) {
            if (x > kMargin) begin_line();
            x = set_text(line, kMargin, kGrey) + kCostGap;
            const double y = canvas_.height - kMargin - kStrikeRise * kCostSize;
            canvas_.line({kMargin, y}, {x - kCostGap, y}, {kGrey, 0.9, Dash::Solid}, Part::Rule);
        }
        const std::vector<MathText> after = lines_of(cost.after);
        const bool beside = after.size() == 1 && x + width_of(after[0], kCostSize) <= right_;
        for (const MathText& line : after) {
            if (!beside) begin_line();
            set_text(line, beside ? x : kMargin, kBlack);
        }
    }

private:
    [[nodiscard]] std::vector<MathText> lines_of(const std::string& cost) const {
        if (cost.empty()) return {};
        return wrap_sum(cost, right_ - kMargin, kCostSize, Medium::Page);
    }
    void begin_line() { canvas_.height += kCostStep; }
    /// Where it ends.
    double set_text(const MathText& text, double x, Color color) {
        canvas_.text(text, {x, canvas_.height - kMargin}, Anchor::Left, kCostSize, color);
        const double end = x + width_of(text, kCostSize);
        canvas_.width = std::max(canvas_.width, end + kMargin);
        return end;
    }

    Canvas& canvas_;
    double right_;
};

}  // namespace

void mark_changes(Canvas& canvas, const Canvas& before, const std::vector<CostChange>& costs,
                  double max_width) {
    const std::set<Said> known = all_said(before);
    const std::set<std::string> apart = axes_taken_apart(before);
    // The bar said before that an axis goes one by one, whether there was room for the 1 or not.
    const auto is_known = [&](const Text& text, const Meaning& meaning) {
        return known.contains(said_by(text, meaning)) ||
               (to_unicode(text.text) == "1" && apart.contains(meaning.axis));
    };
    std::vector<Operation> marked;
    for (Operation& operation : canvas.operations) {
        const Text* text = std::get_if<Text>(&operation.shape);
        if (text != nullptr && !is_known(*text, operation.meaning))
            marked.push_back(halo_of(*text));
        marked.push_back(std::move(operation));
    }
    canvas.operations = std::move(marked);
    Changes changes(canvas, max_width);
    for (const CostChange& cost : costs) changes.set(cost);
}

void share_size(std::vector<Canvas>& canvases) {
    double width = 0;
    double height = 0;
    for (const Canvas& canvas : canvases) {
        width = std::max(width, canvas.width);
        height = std::max(height, canvas.height);
    }
    for (Canvas& canvas : canvases) {
        canvas.width = width;
        canvas.height = height;
    }
}

}  // namespace napkin::drawing
