// How often wires cross, counted on what is drawn and not by what orders it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagrams/drawing/stage_builder.h"

namespace napkin::test {

/// The ends of wires that go up or down between the same two places.
using Heights = std::vector<std::pair<double, double>>;

/// How many of the others each wire crosses.
inline std::vector<std::size_t> crossed_by_each(const Heights& wires, const Heights& others) {
    std::vector<std::size_t> counts;
    for (const auto& [from, to] : wires) {
        std::size_t& count = counts.emplace_back(0);
        for (const auto& [other_from, other_to] : others)
            count += (from - other_from) * (to - other_to) < 0 ? 1 : 0;
    }
    return counts;
}

/// A wire that goes up or down, and how many others it crosses.
struct Crossing {
    drawing::Point from;
    drawing::Point to;
    std::size_t crossed = 0;
};

inline std::vector<Crossing> crossings_of(const drawing::Canvas& canvas) {
    std::vector<const drawing::Line*> wires;
    for (const drawing::Operation& operation : canvas.operations)
        if (const drawing::Line* line = std::get_if<drawing::Line>(&operation.shape))
            if (line->part == drawing::Part::Wire) wires.push_back(line);
    std::vector<Crossing> crossings;
    for (const drawing::Line* wire : wires) {
        const drawing::Point from = wire->points.front();
        const drawing::Point to = wire->points.back();
        if (from.y == to.y) continue;
        Heights beside;
        for (const drawing::Line* other : wires)
            if (other->points.front().x < to.x && from.x < other->points.back().x)
                beside.emplace_back(other->points.front().y, other->points.back().y);
        crossings.push_back({from, to, crossed_by_each({{from.y, to.y}}, beside).front()});
    }
    return crossings;
}

/// The most wires that one wire crosses at once.
inline std::size_t most_crossed_at_once(const drawing::Canvas& canvas) {
    std::size_t most = 0;
    for (const Crossing& each : crossings_of(canvas)) most = std::max(most, each.crossed);
    return most;
}

/// Wires that cross several at once in less room than a reader follows them in.
inline std::vector<std::string> cramped_crossings(const drawing::Canvas& canvas) {
    constexpr double kRoom = 16;  // in points, for each that is crossed
    constexpr double kSteepest = 90;
    std::vector<std::string> found;
    for (const Crossing& each : crossings_of(canvas)) {
        const double rise = std::min(std::abs(each.to.y - each.from.y), kSteepest);
        const double run = each.to.x - each.from.x;
        if (each.crossed > 1 && run < kRoom * static_cast<double>(each.crossed) + 0.4 * rise - 1e-6)
            found.push_back("a wire crosses " + std::to_string(each.crossed) + " others within " +
                            std::to_string(run) + " points");
    }
    return found;
}

/// What is unpleasant of an order of wires.
struct Tangle {
    std::size_t crossings = 0;  ///< each further one that a wire crosses counts one more
    std::size_t plunges = 0;    ///< wires beyond two that one crosses at once, of all wires
};

inline Tangle tangle_of(drawing::StageList list) {
    place_vertically(list);
    Tangle tangle;
    std::map<drawing::Key, double> before;
    for (const drawing::Stage& stage : list.stages) {
        for (const std::vector<std::size_t>& cup : stage.cups)
            for (std::size_t i = cup.front(); i < cup.back(); ++i)
                tangle.crossings += stage.tracks[i].dead ? 0 : 2;
        Heights links;
        for (const drawing::Track& track : stage.tracks)
            for (const drawing::Key& source : track.sources)
                if (const auto found = before.find(source); found != before.end())
                    links.emplace_back(found->second, track.y);
        for (std::size_t crossed : crossed_by_each(links, links)) {
            tangle.crossings += crossed * (crossed + 1) / 2;
            tangle.plunges += crossed > 2 ? crossed - 2 : 0;
        }
        before.clear();
        for (const drawing::Track& track : stage.tracks)
            if (!track.dead) before[track.key] = track.y;
    }
    return tangle;
}

/// Orders in which one array or one result stands elsewhere.
inline std::vector<drawing::StageOrder> orders_next_to(const drawing::StageList& list) {
    drawing::StageOrder as_drawn{list.entered, {}};
    for (std::size_t unit = 0; unit < list.gaps.size(); ++unit)
        as_drawn.gaps[unit] = list.gaps[unit];
    std::vector<drawing::StageOrder> orders;
    for (std::size_t from = 0; from < list.entered.size(); ++from)
        for (std::size_t to = 0; to < list.entered.size(); ++to) {
            drawing::StageOrder order = as_drawn;
            const auto moved = order.entering.begin() + static_cast<std::ptrdiff_t>(from);
            order.entering.erase(moved);
            order.entering.insert(order.entering.begin() + static_cast<std::ptrdiff_t>(to),
                                  list.entered[from]);
            orders.push_back(order);
            order.gaps.clear();  // results near what they come from
            orders.push_back(std::move(order));
        }
    for (std::size_t unit = 0; unit < list.gaps.size(); ++unit)
        for (std::size_t gap = 1; gap <= list.lives[unit]; ++gap) {
            orders.push_back(as_drawn);
            orders.back().gaps[unit] = gap;
        }
    return orders;
}

/// A wire crosses more than two others at once only where that costs crossings elsewhere to avoid.
inline void check_plunges(const drawing::Contents& contents, const drawing::DrawOptions& options,
                          std::optional<std::size_t> kernel = std::nullopt) {
    const drawing::StageList list = drawing::build_stages(contents, options, kernel);
    const Tangle drawn = tangle_of(list);
    if (drawn.plunges == 0) return;
    const drawing::Scene scene = scene_of(contents, options, kernel);
    for (const drawing::StageOrder& order : orders_next_to(list)) {
        const Tangle other =
            tangle_of(drawing::StageBuilder(scene, order, drawing::Detail::Wires).build());
        if (other.crossings > drawn.crossings) continue;
        CHECK_GE(other.plunges, drawn.plunges);
    }
}

}  // namespace napkin::test
