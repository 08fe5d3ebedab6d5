// Elements of an SVG as text. Those of a page stand in groups that say once what neighbours have in
// common:
//
//   <g class="wire s-block" data-level="block">
//   <g data-array="Q"><path data-axis="b" d="M8,9h30"/>...</g>...
//   </g>
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagrams/drawing/canvas.h"

namespace napkin::drawing {

[[nodiscard]] std::string xml_escaped(std::string_view text);
/// At most so many digits after the point, and none that say nothing.
[[nodiscard]] std::string svg_number(double value, int digits = 2);
/// ` name="value"`; empty where the value is.
[[nodiscard]] std::string attribute(std::string_view name, std::string_view value);
/// Axis, array, level and source.
[[nodiscard]] std::string attributes_of(const Meaning& meaning);

/// The line from its first point in steps between rounded ones, one for all that are level.
[[nodiscard]] std::string short_path(const Line& line);

struct Tag {
    std::string_view name;
    std::string paint{};   ///< attributes: class, fill and pen
    std::string own{};     ///< attributes: where it is
    std::string path{};    ///< of a `path`, its `d`
    std::string inside{};  ///< of text
};
/// The element, with further attributes.
[[nodiscard]] std::string text_of(const Tag& tag, const std::string& meaning);

/// Consecutive elements of one paint and level. What they are in front of does not change: those of
/// an array stand together, and paths of an axis are one.
class TagGroup {
public:
    [[nodiscard]] bool takes(const Tag& tag, const Meaning& meaning) const;
    void add(Tag tag, const Meaning& meaning);
    /// All of it, which is no longer there.
    [[nodiscard]] std::string take();

private:
    struct Member {
        std::string axis;
        Tag tag;
    };
    struct OfArray {
        std::string attributes;
        std::vector<Member> members;
    };
    std::string shared_;
    std::vector<OfArray> arrays_;
};

}  // namespace napkin::drawing
