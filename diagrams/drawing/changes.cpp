#include "diagrams/drawing/changes.h"

#include <algorithm>
#include <set>
#include <tuple>

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

void set_change(Canvas& canvas, const CostChange& cost, double baseline) {
    const double end = kMargin + width_of(cost.before, kCostSize);
    canvas.text(cost.before, {kMargin, baseline}, Anchor::Left, kCostSize, kGrey);
    const double now = end + kCostGap;
    if (!cost.after.runs.empty()) canvas.text(cost.after, {now, baseline}, Anchor::Left, kCostSize);
    const double y = baseline - kStrikeRise * kCostSize;
    canvas.line({kMargin, y}, {end, y}, {kGrey, 0.9, Dash::Solid}, Part::Rule);
    canvas.width = std::max(canvas.width, now + width_of(cost.after, kCostSize) + kMargin);
}

}  // namespace

void mark_changes(Canvas& canvas, const Canvas& before, const std::vector<CostChange>& costs) {
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
    for (const CostChange& cost : costs) {
        canvas.height += kCostStep;
        set_change(canvas, cost, canvas.height - kMargin);
    }
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
