#include "diagrams/drawing/group_equivalence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "diagrams/contains.h"
#include "diagrams/drawing/glyphs.h"
#include "diagrams/drawing/stages.h"

namespace napkin::drawing {

namespace {

constexpr double kStub = 34;
constexpr double kFan = 58;   // of the curves between a split and the sub-algorithms
constexpr double kLead = 30;  // of wires inside a sub-algorithm, with room for labels
constexpr double kLeastBoxWidth = 30;
constexpr double kCell = 10;  // a terminal's row
constexpr double kTitleMargin = 12;
constexpr double kSubGap = 38;
constexpr double kOpenRadius = 5;
constexpr double kPointRadius = 3;

/// A wire of a stack: its height under the top of the stack and whether it is the weaved axis.
struct Row {
    double y = 0;
    std::string name;
    bool weaved = false;
    bool starts_array = false;
};

/// The weaved axis once, above all arrays; then what else each of them has.
std::vector<Row> rows_of(const std::vector<std::vector<std::string>>& arrays,
                         const std::string& axis) {
    std::vector<Row> rows;
    if (std::any_of(arrays.begin(), arrays.end(),
                    [&](const std::vector<std::string>& array) { return contains(array, axis); }))
        rows.push_back({0, axis, true, false});
    bool first_array = true;
    for (const std::vector<std::string>& array : arrays) {
        bool starts = !first_array;
        for (const std::string& name : array) {
            if (name == axis) continue;
            const double y = rows.empty() ? 0 : rows.back().y + (starts ? kArrayGap : kPitch);
            rows.push_back({y, name, false, std::exchange(starts, false)});
            first_array = false;
        }
    }
    return rows;
}

double height_of(const std::vector<Row>& rows) {
    return rows.empty() ? 0 : rows.back().y;
}

class Drawer {
public:
    explicit Drawer(const WeavedAlgorithm& algorithm)
        : algorithm_(algorithm),
          in_(rows_of(algorithm.inputs, algorithm.axis)),
          out_(rows_of(algorithm.outputs, algorithm.axis)),
          box_width_(std::max(kLeastBoxWidth, width_of(title(), title_size()) + kTitleMargin)) {
        height_ = std::max({height_of(in_), height_of(out_), kPitch}) + kPitch;
        // Outputs that are not weaved leave the middle of the box.
        const double spare = (box_top() + box_bottom()) / 2 - middle_of_plain(out_);
        for (Row& row : out_)
            if (!row.weaved) row.y += spare;
    }

    Canvas draw() {
        const double span = 2 * kCell * std::ceil((height_ + kSubGap) / (2 * kCell));
        whole({0, span / 2});
        const double sign = 2 * kLead + box_width_ + 2 * kStub + 18;
        canvas_.text(plain_text("≡"), {sign, span / 2 + height_ / 2}, Anchor::Middle, 24);
        parts(sign + 24, span);
        // Wires stay on the rows of a terminal.
        const double above = kMargin - bounds_of(canvas_).top;
        const double spare = kCell * std::ceil(above / kCell) - above;
        fit(canvas_, kMargin);
        translate(canvas_, 0, spare);
        canvas_.height += spare;
        return std::move(canvas_);
    }

private:
    [[nodiscard]] bool is_letter() const { return columns_in(algorithm_.name) == 1; }
    [[nodiscard]] MathText title() const {
        return is_letter() ? parse_math(algorithm_.name) : plain_text(algorithm_.name);
    }
    [[nodiscard]] double title_size() const {
        return is_letter() ? kLabelSize + 4 : kLabelSize - 3;
    }
    /// The box spans the wires that enter it.
    [[nodiscard]] double box_top() const {
        double top = 1e9;
        for (const Row& row : in_)
            if (!row.weaved) top = std::min(top, row.y);
        return (top > 1e8 ? kPitch : top) - kGlyphReach;
    }
    [[nodiscard]] double box_bottom() const {
        double bottom = -1e9;
        for (const Row& row : in_)
            if (!row.weaved) bottom = std::max(bottom, row.y);
        return (bottom < -1e8 ? kPitch : bottom) + kGlyphReach;
    }
    static double middle_of_plain(const std::vector<Row>& rows) {
        double low = 1e9;
        double high = -1e9;
        for (const Row& row : rows) {
            if (row.weaved) continue;
            low = std::min(low, row.y);
            high = std::max(high, row.y);
        }
        return low > high ? 0 : (low + high) / 2;
    }
    void label(const std::string& name, Point on_wire) {
        const MathText text = parse_math(name);
        canvas_.text(text, {on_wire.x, on_wire.y - label_rise(text, Medium::Page)}, Anchor::Middle,
                     kLabelSize);
    }
    void dashes(const std::vector<Row>& rows, double left, double right, double top) {
        for (std::size_t i = 1; i < rows.size(); ++i)
            if (rows[i].starts_array)
                canvas_.line({left, top + rows[i - 1].y + 8}, {right, top + rows[i - 1].y + 8},
                             {kBlack, 0.8, Dash::Dashed}, Part::Separator);
    }
    /// The box with its wires between two verticals; the weaved axis is called `axis` here. Returns
    /// nothing: ends are at the rows' heights.
    void inside(double left, double top, const std::string& axis) {
        const double box = left + kLead;
        const double right = box + box_width_ + kLead;
        for (const Row& row : in_) {
            const double y = top + row.y;
            canvas_.line({left, y}, {row.weaved ? right : box, y}, wire(kBlockColor), Part::Wire);
            label(row.weaved ? axis : row.name, {left + kLead / 2, y});
        }
        for (const Row& row : out_) {
            if (row.weaved) continue;
            canvas_.line({box + box_width_, top + row.y}, {right, top + row.y}, wire(kBlockColor),
                         Part::Wire);
            label(row.name, {box + box_width_ + kLead / 2, top + row.y});
        }
        dashes(in_, left, box, top);
        const Box2 frame{box, top + box_top(), box + box_width_, top + box_bottom()};
        canvas_.rectangle(frame, kWhite, wire(kBlack), Part::Glyph);
        canvas_.text(title(), {box + box_width_ / 2, (frame.top + frame.bottom) / 2 + 5},
                     Anchor::Middle, title_size());
    }
    /// Where the weaved wire leaves: at the height where it came in.
    [[nodiscard]] double leaving(const Row& row) const {
        if (!row.weaved) return row.y;
        for (const Row& entering : in_)
            if (entering.weaved) return entering.y;
        return row.y;
    }
    void whole(Point at) {
        inside(at.x + kStub, at.y, algorithm_.axis);
        const double right = at.x + kStub + 2 * kLead + box_width_;
        for (const Row& row : in_) {
            canvas_.line({at.x, at.y + row.y}, {at.x + kStub, at.y + row.y}, wire(kBlack),
                         Part::Wire);
            label(row.name, {at.x + kStub / 2, at.y + row.y});
        }
        dashes(in_, at.x, at.x + kStub, at.y);
        for (const Row& row : out_) {
            const double y = at.y + leaving(row);
            canvas_.line({right, y}, {right + kStub, y}, wire(kBlack), Part::Wire);
            if (row.weaved) label(row.name, {right + kStub / 2, y});
        }
    }
    void joint(Point at, bool weaved) {
        if (weaved)
            canvas_.dot(at, kOpenRadius, std::nullopt, kBlack);
        else
            canvas_.dot(at, kPointRadius, kBlack, kBlack);
    }
    void parts(double x, double span) {
        const double split = x + kStub;
        const double left = split + kFan;
        const double right = left + 2 * kLead + box_width_;
        const double join = right + kFan;
        const double outer = span / 2;
        const double tops[] = {0, span};
        for (const double top : tops)
            canvas_.rectangle({left - 6, top - 18, right + 6, top + height_ - 2}, kSubAlgorithmFill,
                              {kBlack, 0.7, Dash::Dotted}, Part::Region);
        for (const double top : tops) {
            for (const Row& row : in_)
                canvas_.curve({split, outer + row.y}, {left, top + row.y}, wire(kBlack),
                              Part::Wire);
            for (const Row& row : out_)
                canvas_.curve({right, top + leaving(row)}, {join, outer + leaving(row)},
                              wire(kBlack), Part::Wire);
            inside(left, top, top == 0 ? "g_" + algorithm_.axis : algorithm_.axis + "′");
        }
        for (const Row& row : in_) {
            canvas_.line({x, outer + row.y}, {split, outer + row.y}, wire(kBlack), Part::Wire);
            label(row.name, {x + kStub / 2 - 4, outer + row.y});
            joint({split, outer + row.y}, row.weaved);
        }
        dashes(in_, x, split, outer);
        canvas_.line({split + 20, (span + height_ - 20) / 2},
                     {join - 20, (span + height_ - 20) / 2}, {kBlack, 0.8, Dash::Dashed},
                     Part::Separator);
        for (const Row& row : out_) {
            const double y = outer + leaving(row);
            canvas_.line({join, y}, {join + kStub, y}, wire(kBlack), Part::Wire);
            label(row.name, {join + kStub / 2 + 4, y});
            joint({join, y}, row.weaved);
        }
    }

    const WeavedAlgorithm& algorithm_;
    std::vector<Row> in_;
    std::vector<Row> out_;
    double box_width_ = 0;
    double height_ = 0;
    Canvas canvas_;
};

/// Axes of an array, but for woven ones of which a processor has one index.
std::vector<std::string> names_of(const Diagram& diagram, const Region& region, ArrayId array,
                                  AxisId weaved) {
    std::vector<std::string> names;
    for (const AxisId axis : diagram[array].axes)
        if (axis == weaved || !diagram[axis].woven ||
            std::none_of(region.groups.begin(), region.groups.end(),
                         [&](const Group& group) { return group.axis == axis && group.size == 1; }))
            names.push_back(diagram[axis].name);
    return names;
}

}  // namespace

WeavedAlgorithm weaved_algorithm(const Diagram& diagram, const Region& region, AxisId axis) {
    WeavedAlgorithm algorithm;
    algorithm.axis = diagram[axis].name;
    for (ArrayId array : loads_of(diagram, region))
        if (diagram[array].role != ArrayRole::Parameter)
            algorithm.inputs.push_back(names_of(diagram, region, array, axis));
    for (ArrayId array : saves_of(diagram, region))
        algorithm.outputs.push_back(names_of(diagram, region, array, axis));
    algorithm.name = region_name(diagram, region);
    if (!region.statements.empty())
        if (const Opaque* box = std::get_if<Opaque>(&diagram[region.statements.back()].body))
            algorithm.name = box->name;
    return algorithm;
}

Canvas draw_group_equivalence(const WeavedAlgorithm& algorithm) {
    return Drawer(algorithm).draw();
}

}  // namespace napkin::drawing
