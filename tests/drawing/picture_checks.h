// What every picture owes its reader.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "diagrams/drawing/canvas.h"

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

}  // namespace napkin::test
