// Paints placed stages: one system (a row of the picture) at a time, as music is set in staves.
#pragma once

#include <string>
#include <vector>

#include "diagrams/drawing/break_rows.h"
#include "diagrams/drawing/labels.h"

namespace napkin::drawing {

/// One row, in coordinates of its own: wires, glyphs, regions and labels, by layers.
class SystemPainter {
public:
    SystemPainter(const Diagram& diagram, const System& system, const DrawOptions& options);
    [[nodiscard]] Canvas paint();

private:
    [[nodiscard]] const Stage& stage(std::size_t s) const { return list_.stages[s]; }
    [[nodiscard]] double left_of(std::size_t s) const;
    [[nodiscard]] bool shows(const Track& track, std::size_t s) const;
    [[nodiscard]] double set_back(const Track& track, std::size_t s) const;

    // Wires (paint_wires.cpp)
    [[nodiscard]] Meaning meaning_of(const Track& track, const Place& place) const;
    void paint_levels(std::size_t s);
    void paint_links(std::size_t s);
    void paint_cups(std::size_t s);
    void paint_separators();
    // Glyphs and texts (paint_glyphs.cpp)
    void paint_glyph(std::size_t s);
    void paint_triangle(std::size_t s);
    void paint_box(std::size_t s);
    void paint_marks(const Stage& enter, const Block& block, const Unit& unit);
    void paint_factor(std::size_t s);
    void paint_regions(std::size_t s);
    [[nodiscard]] bool is_free(const Box2& box) const;
    struct Border {
        Box2 box;
        MathText title;
        Color fill = kWhite;
        bool topmost = false;
        bool lowest = false;
    };
    struct TitlePlace {
        const Border* border = nullptr;
        Box2 box;
    };
    [[nodiscard]] TitlePlace place_title(const std::vector<const Border*>& borders,
                                         double width) const;
    void paint_titles();
    void paint_labels(std::size_t s);
    void paint_names(std::size_t s);
    void add_handle(const Unit& unit, const Box2& bounds);

    const Diagram& diagram_;
    const System& system_;
    const StageList& list_;
    const DrawOptions& options_;
    Canvas regions_;
    Canvas lines_;
    Canvas wires_;
    Canvas glyphs_;
    Canvas texts_;
    double top_ = 0;  ///< of all wires in the row
    double bottom_ = 0;
    std::vector<Border> borders_;
};

/// The resource table above a row.
[[nodiscard]] Canvas paint_table(const System& system, const DrawOptions& options,
                                 const std::vector<Column>& columns);

}  // namespace napkin::drawing
