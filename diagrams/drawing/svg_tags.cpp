#include "diagrams/drawing/svg_tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace napkin::drawing {

namespace {

constexpr double kSteps = 10;  // in a point

Point rounded(const Point& p) {
    return {std::round(p.x * kSteps) / kSteps, std::round(p.y * kSteps) / kSteps};
}

/// Numbers with nothing between them that a sign parts.
std::string joined(const std::vector<Point>& points) {
    std::string text;
    for (const Point& p : points)
        for (const double value : {p.x, p.y}) {
            const std::string next = svg_number(value, 1);
            text += (text.empty() || next.front() == '-' ? "" : " ") + next;
        }
    return text;
}

std::string step_of(const Point& by) {
    if (by.x == 0 && by.y == 0) return "";
    if (by.y == 0) return "h" + svg_number(by.x, 1);
    if (by.x == 0) return "v" + svg_number(by.y, 1);
    return "l" + joined({by});
}

std::string element_of(std::string_view name, const std::string& attributes,
                       const std::string& inside) {
    if (inside.empty()) return fmt::format("<{}{}/>\n", name, attributes);
    return fmt::format("<{0}{1}>{2}</{0}>\n", name, attributes, inside);
}

}  // namespace

std::string xml_escaped(std::string_view text) {
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

std::string svg_number(double value, int digits) {
    std::string text = fmt::format("{:.{}f}", value, digits);
    while (digits > 0 && text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string attribute(std::string_view name, std::string_view value) {
    return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, xml_escaped(value));
}

std::string attributes_of(const Meaning& meaning) {
    return attribute("data-axis", meaning.axis) + attribute("data-array", meaning.array) +
           attribute("data-level", meaning.level) + attribute("data-source", meaning.source);
}

std::string short_path(const Line& line) {
    Point at = rounded(line.points[0]);
    std::string path = fmt::format("M{},{}", svg_number(at.x, 1), svg_number(at.y, 1));
    const auto from_here = [&](const Point& p) {
        return Point{rounded(p).x - at.x, rounded(p).y - at.y};
    };
    if (line.smooth) {
        for (std::size_t i = 1; i < line.points.size(); i += 3) {
            path += "c" + joined({from_here(line.points[i]), from_here(line.points[i + 1]),
                                  from_here(line.points[i + 2])});
            at = rounded(line.points[i + 2]);
        }
        return path;
    }
    Point step;
    for (const Point& point : line.points) {
        const Point next = from_here(point);
        at = rounded(point);
        if (step.y == 0 && next.y == 0 && step.x * next.x >= 0) {
            step.x += next.x;
            continue;
        }
        path += step_of(step);
        step = next;
    }
    return path + step_of(step);
}

std::string text_of(const Tag& tag, const std::string& meaning) {
    return element_of(tag.name, tag.paint + meaning + tag.own + attribute("d", tag.path),
                      tag.inside);
}

bool TagGroup::takes(const Tag& tag, const Meaning& meaning) const {
    return arrays_.empty() || tag.paint + attribute("data-level", meaning.level) == shared_;
}

void TagGroup::add(Tag tag, const Meaning& meaning) {
    shared_ = std::exchange(tag.paint, "") + attribute("data-level", meaning.level);
    const auto the = [](auto& those, const auto& is) -> auto& {
        const auto at = std::find_if(those.begin(), those.end(), is);
        return at == those.end() ? those.emplace_back() : *at;
    };
    const std::string attributes =
        attribute("data-array", meaning.array) + attribute("data-source", meaning.source);
    OfArray& array =
        the(arrays_, [&](const OfArray& each) { return each.attributes == attributes; });
    array.attributes = attributes;
    const std::string axis = attribute("data-axis", meaning.axis);
    Member& member = the(array.members, [&](const Member& each) {
        return !tag.path.empty() && !each.tag.path.empty() && each.axis == axis;
    });
    tag.path = member.tag.path + tag.path;
    member = {axis, std::move(tag)};
}

std::string TagGroup::take() {
    const auto grouped = [](const std::string& attributes, const std::string& inside) {
        if (attributes.empty() || inside.empty()) return inside;
        return element_of("g", attributes, "\n" + inside);
    };
    const bool alone = arrays_.size() == 1 && arrays_.front().members.size() == 1;
    std::string all;
    for (OfArray& array : arrays_) {
        const bool single = array.members.size() == 1;
        std::string inside;
        for (Member& member : array.members) {
            if (alone) member.tag.paint = shared_;
            inside += text_of(member.tag, member.axis + (single ? array.attributes : ""));
        }
        all += single ? inside : grouped(array.attributes, inside);
    }
    arrays_.clear();
    return alone ? all : grouped(shared_, all);
}

}  // namespace napkin::drawing
