// What every picture owes its reader.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "diagrams/drawing/stages.h"

namespace napkin::test {

inline std::vector<std::string> overlapping_labels(const drawing::Canvas& canvas) {
    std::vector<std::pair<drawing::Box2, std::string>> labels;
    for (const drawing::Operation& operation : canvas.operations)
        if (const drawing::Text* text = std::get_if<drawing::Text>(&operation.shape))
            labels.emplace_back(bounds_of(*text), to_unicode(text->text));
    std::vector<std::string> found;
    for (std::size_t i = 0; i < labels.size(); ++i)
        for (std::size_t j = i + 1; j < labels.size(); ++j)
            if (overlap(labels[i].first, labels[j].first))
                found.push_back(labels[i].second + " over " + labels[j].second);
    return found;
}

/// No two labels overlap, nothing lies outside.
inline void check_picture(const drawing::Canvas& canvas) {
    for (const std::string& pair : overlapping_labels(canvas)) FAIL_CHECK(pair);
    const drawing::Box2 box = bounds_of(canvas);
    CHECK_GE(box.left, 0);
    CHECK_GE(box.top, 0);
    CHECK_LE(box.right, canvas.width);
    CHECK_LE(box.bottom, canvas.height);
}

/// The stages' wires: from top to bottom, those of one array in its own order.
inline void check_order(const Diagram& diagram, const Relabelling& relabelling,
                        const drawing::DrawOptions& options) {
    drawing::StageList list = drawing::build_stages(diagram, relabelling, options);
    place_vertically(list);
    for (const drawing::Stage& stage : list.stages) {
        for (std::size_t i = 1; i < stage.tracks.size(); ++i)
            CHECK_GE(stage.tracks[i].y, stage.tracks[i - 1].y + 19.9);
        for (const drawing::Block& block : stage.blocks) {
            if (!block.array) continue;
            std::vector<AxisId> drawn;
            for (std::size_t i = block.first; i < block.first + block.count; ++i)
                if (stage.tracks[i].axis) drawn.push_back(*stage.tracks[i].axis);
            std::vector<AxisId> declared;
            for (AxisId axis : diagram[*block.array].axes)
                if (std::find(list.common.begin(), list.common.end(), axis) == list.common.end())
                    declared.push_back(axis);
            CHECK_EQ(drawn, declared);
        }
    }
}

}  // namespace napkin::test
