#include <algorithm>
#include <cmath>

#include "diagrams/drawing/stage_builder.h"
#include "diagrams/drawing/tracks.h"

namespace napkin::drawing {

namespace {

/// What it costs that the wires of an axis pass ports: those before them in a stack, where they
/// pass above the box, and those after them, where they pass below.
struct Sides {
    std::size_t above = 0;
    std::size_t below = 0;
};

/// By the axes of all wires on one side of the box from top to bottom.
Sides sides_of(const Unit& unit, AxisId axis, const std::vector<std::optional<AxisId>>& wires) {
    const auto passes = [&](const std::optional<AxisId>& wire) {
        return contains(unit.passing, wire);
    };
    const auto cost = [](std::size_t crossed) { return crossed * crossed; };
    Sides sides;
    std::size_t after =
        wires.size() - static_cast<std::size_t>(std::count_if(wires.begin(), wires.end(), passes));
    std::size_t before = 0;
    for (const std::optional<AxisId>& wire : wires)
        if (!passes(wire)) {
            ++before;
            --after;
        } else if (wire == axis) {
            sides.above += cost(before);
            sides.below += cost(after);
        }
    return sides;
}

BoxWires sort_wires(const Unit& unit, const std::vector<const Slot*>& items,
                    const std::vector<Slot>& outputs) {
    BoxWires sorted;
    std::vector<std::optional<AxisId>> entering;
    std::vector<std::optional<AxisId>> leaving;
    std::vector<BoxWires::Passing> passing;
    for (std::size_t k = 0; k < items.size(); ++k)
        for (std::size_t w = 0; w < items[k]->wires.size(); ++w) {
            const std::optional<AxisId> axis = read_as(unit.inputs[k], items[k]->wires[w]);
            entering.push_back(axis);
            if (!contains(unit.passing, axis)) {
                sorted.ports.push_back({k, w});
                continue;
            }
            const auto known = std::find_if(passing.begin(), passing.end(),
                                            [&](const auto& pass) { return pass.first == *axis; });
            if (known != passing.end())
                known->second.push_back({k, w});
            else
                passing.push_back({*axis, {{k, w}}});
        }
    for (const Slot& slot : outputs)
        for (const Slot::Wire& wire : slot.wires) leaving.push_back(wire.axis);
    for (BoxWires::Passing& pass : passing) {
        const Sides in = sides_of(unit, pass.first, entering);
        const Sides out = sides_of(unit, pass.first, leaving);
        const std::size_t above = in.above + out.above;
        const std::size_t below = in.below + out.below;
        const bool under = below < above || (below == above && in.below < in.above);
        (under ? sorted.below : sorted.above).push_back(std::move(pass));
    }
    return sorted;
}

/// Outgoing ports leave level with the axes that came in, where all came in in that order; else
/// they stand in the middle of the box.
void align_ports(std::vector<Track>& ports, const Stage& enter, const Block& box) {
    std::vector<double> offsets;
    std::size_t from = box.first;
    for (const Track& port : ports) {
        while (from < box.first + box.count && enter.tracks[from].axis != port.axis) ++from;
        if (from == box.first + box.count) break;
        offsets.push_back(enter.tracks[from++].offset);
    }
    const double span = ports.empty() ? 0 : ports.back().offset;
    for (std::size_t i = 0; i < ports.size(); ++i)
        ports[i].offset =
            offsets.size() == ports.size() ? offsets[i] : ports[i].offset + (box.height - span) / 2;
}

}  // namespace

void StageBuilder::pass_around(Stage& stage, const std::vector<const Slot*>& items, int id,
                               const BoxWires& wires, bool above, double& gap) {
    for (const auto& [axis, sources] : above ? wires.above : wires.below) {
        const Block block = block_at(stage, gap);
        Track track;
        track.key = {id, -1 - static_cast<int>(axis.value)};
        for (const BoxWires::Wire& wire : sources)
            track.sources.push_back(key_of(*items[wire.item], wire.wire));
        track.place_in = track.place_out = place_in_unit(*stage.unit);
        track.axis = axis;
        output_sources_[{-1, static_cast<int>(axis.value)}] = {track.key};
        stage.tracks.push_back(std::move(track));
        close_block(stage, block);
        gap = kPitch;
    }
}

/// The ports of a box as one block, dashed lines between arrays ending at it.
void StageBuilder::enter_ports(Stage& stage, const std::vector<const Slot*>& items, int id,
                               const BoxWires& wires, double gap,
                               const std::vector<Slot>& outputs) {
    Block box = block_at(stage, gap);
    box.is_box = true;
    box.weight = 2;
    double offset = 0;
    for (std::size_t p = 0; p < wires.ports.size(); ++p) {
        const BoxWires::Wire& port = wires.ports[p];
        const Slot& slot = *items[port.item];
        const bool next_array = p > 0 && port.item != wires.ports[p - 1].item;
        if (p > 0) offset += next_array ? kArrayGap : kPitch;
        if (next_array)
            stage.separators.push_back({{items[wires.ports[p - 1].item]->id, slot.id},
                                        {-1, -1},
                                        stage.tracks.size() - 1,
                                        stage.tracks.size(),
                                        0,
                                        {}});
        Track track;
        track.key = {id, static_cast<int>(p)};
        track.sources = {key_of(slot, port.wire)};
        track.array = slot.array;
        track.offset = offset;
        track.place_in = track.place_out = place_in_unit(*stage.unit);
        track.axis = slot.wires[port.wire].axis;
        track.scalar = !track.axis;
        track.dead = true;
        stage.tracks.push_back(std::move(track));
    }
    if (wires.ports.empty()) {
        Track none;
        none.key = {id, 0};
        none.dead = none.hidden = true;
        stage.tracks.push_back(none);
    }
    // The box is as high as its fuller side; the other side's ports stand in its middle.
    const std::vector<Track> leaving = outgoing_ports(*stage.unit, outputs, 0);
    const std::vector<MathText>& label = list_.units[*stage.unit].label;
    const double below = box_line(label, options_.medium) * (static_cast<double>(label.size()) - 1);
    box.height = std::max(
        {offset, leaving.empty() ? 0 : leaving.back().offset, kPitch * std::ceil(below / kPitch)});
    for (std::size_t i = box.first; i < stage.tracks.size(); ++i)
        stage.tracks[i].offset += (box.height - offset) / 2;
    close_block(stage, box);
}

void StageBuilder::enter_box(Stage& stage, std::vector<Entry>& entries, std::size_t unit,
                             const std::vector<std::size_t>& items,
                             const std::vector<Slot>& outputs) {
    std::vector<const Slot*> slots;
    slots.reserve(items.size());
    for (std::size_t item : items) slots.push_back(&live_[item]);
    const BoxWires wires = sort_wires(list_.units[unit], slots, outputs);
    const int id = next_slot_++;
    const std::size_t first = stage.tracks.size();
    double gap = gap_above(entries);
    pass_around(stage, slots, id, wires, true, gap);
    enter_ports(stage, slots, id, wires, gap, outputs);
    gap = kPitch;
    pass_around(stage, slots, id, wires, false, gap);
    const int top = items.empty() ? -1 : slots.front()->id;
    const int bottom = items.empty() ? -1 : slots.back()->id;
    entries.push_back({top, bottom, -1, -1, first, stage.tracks.size() - 1, false});
}

/// Outgoing ports of a box: the wires of its outputs that do not pass around it.
std::vector<Track> StageBuilder::outgoing_ports(std::size_t unit, const std::vector<Slot>& outputs,
                                                int id) {
    std::vector<Track> ports;
    double offset = 0;
    bool next_array = false;
    for (const Slot& slot : outputs) {
        for (std::size_t w = 0; w < slot.wires.size(); ++w) {
            const std::optional<AxisId> axis = slot.wires[w].axis;
            if (contains(list_.units[unit].passing, axis)) continue;
            if (!ports.empty()) offset += next_array ? kArrayGap : kPitch;
            next_array = false;
            Track track;
            track.key = {id, static_cast<int>(ports.size())};
            track.array = slot.array;
            track.offset = offset;
            track.place_in = track.place_out = place_in_unit(unit);
            track.axis = axis;
            track.scalar = !axis;
            output_sources_[key_of(slot, w)] = {track.key};
            ports.push_back(std::move(track));
        }
        next_array = true;
    }
    return ports;
}

/// The right side of a box or triangle: what bypasses stays level, outputs start at the glyph.
void StageBuilder::leave(std::size_t unit, const std::vector<Slot>& outputs) {
    const Stage& enter = list_.stages.back();
    Stage stage;
    stage.kind = StageKind::Leave;
    stage.unit = unit;
    for (const Block& block : enter.blocks) {
        Block copy = block;
        copy.first = stage.tracks.size();
        if (block.is_box) {
            std::vector<Track> ports = outgoing_ports(unit, outputs, next_slot_++);
            align_ports(ports, enter, block);
            for (Track& port : ports) stage.tracks.push_back(std::move(port));
        }
        for (std::size_t i = block.first; !block.is_box && i < block.first + block.count; ++i) {
            Track track = enter.tracks[i];
            track.sources = {track.key};
            track.dead = false;
            stage.tracks.push_back(std::move(track));
        }
        copy.count = stage.tracks.size() - copy.first;
        stage.blocks.push_back(copy);
    }
    // Dashed lines that go around the glyph go on; where they knew the box they now know what
    // leaves it.
    for (std::size_t i = 0; i < enter.separators.size(); ++i) {
        Separator line = enter.separators[i];
        if (line.right.first == -1 || line.right.second == -1) continue;
        line.left = line.right;
        line.copied = i;
        stage.separators.push_back(line);
    }
    list_.stages.push_back(std::move(stage));
}

}  // namespace napkin::drawing
