#include <algorithm>
#include <limits>

#include "diagrams/drawing/box_label.h"
#include "diagrams/drawing/stage_builder.h"
#include "diagrams/drawing/tracks.h"

namespace napkin::drawing {

Place StageBuilder::place_in_unit(std::size_t unit) const {
    return list_.units[unit].place.value_or(Place{level_, false});
}

/// Indices into live_ of the unit's inputs, one an input, in the order of the stack; inputs are
/// sorted likewise.
std::vector<std::size_t> StageBuilder::gather(std::size_t unit) {
    std::vector<UnitInput>& inputs = list_.units[unit].inputs;
    std::vector<std::pair<std::size_t, UnitInput>> placed;
    for (UnitInput& input : inputs) {
        std::size_t at = find_live(input.array, true);
        if (at == live_.size()) at = find_live(input.array, false);
        if (at == live_.size()) live_.push_back(make_slot(input.array));
        placed.emplace_back(at, std::move(input));
    }
    std::stable_sort(placed.begin(), placed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::size_t> items;
    inputs.clear();
    for (auto& [at, input] : placed) {
        items.push_back(at);
        inputs.push_back(std::move(input));
    }
    if (!labelled_) return items;
    say_order(list_.units[unit]);
    for (UnitInput& input : inputs) input.mark = mark_beside(input.mark, options_.medium);
    return items;
}

/// The place among the live arrays where the wires of a unit's inputs cross least others on their
/// way into it.
std::size_t StageBuilder::choose_gap(std::size_t unit,
                                     const std::vector<std::size_t>& items) const {
    if (const auto chosen = order_.gaps.find(unit); chosen != order_.gaps.end())
        return std::min(chosen->second, live_.size());
    std::size_t best = std::numeric_limits<std::size_t>::max();
    std::size_t place = live_.size();
    for (std::size_t gap = 1; gap <= live_.size(); ++gap) {
        std::size_t crossed = 0;
        for (std::size_t item : items)
            for (std::size_t other = std::min(item, gap); other < std::max(item, gap); ++other) {
                const bool enters = std::find(items.begin(), items.end(), other) != items.end();
                if (other != item && (!enters || needed_inside(live_[other].array, unit)))
                    crossed += live_[item].wires.size() * live_[other].wires.size();
            }
        const bool inside = !items.empty() && gap >= items.front() && gap <= items.back() + 1;
        if (crossed < best || (crossed == best && inside)) {
            best = crossed;
            place = gap;
        }
    }
    return place;
}

void StageBuilder::add_bypass(Stage& stage, std::vector<Entry>& entries, const Slot& slot) const {
    Block block = block_at(stage, gap_above(entries));
    block.weight = slot.common ? 1000 : 100;
    block.flexible = true;
    for (std::size_t i = 0; i < slot.wires.size(); ++i) {
        Track track;
        track.key = key_of(slot, i);
        track.sources = {track.key};
        if (!slot.common) track.array = slot.array;
        track.offset = kPitch * static_cast<double>(i);
        track.place_in = track.place_out = slot.place;
        track.axis = slot.wires[i].axis;
        track.scalar = !track.axis.has_value();
        stage.tracks.push_back(std::move(track));
    }
    close_block(stage, block);
    entries.push_back(
        {slot.id, slot.id, slot.id, slot.id, block.first, stage.tracks.size() - 1, slot.common});
}

void StageBuilder::enter_contraction(Stage& stage, std::vector<Entry>& entries, std::size_t unit,
                                     const std::vector<std::size_t>& items) {
    const Unit& drawn = list_.units[unit];
    std::map<AxisId, std::size_t> kept;  // tracks
    std::map<AxisId, std::vector<std::size_t>> folded;
    for (std::size_t k = 0; k < items.size(); ++k) {
        const Slot& slot = live_[items[k]];
        const int id = next_slot_++;
        Block block = block_at(stage, gap_above(entries));
        block.flexible = true;
        for (std::size_t w = 0; w < slot.wires.size(); ++w) {
            const std::optional<AxisId> axis = read_as(drawn.inputs[k], slot.wires[w]);
            const bool ends = !axis || contains(drawn.marked, axis);
            if (!ends && kept.count(*axis) != 0) {
                stage.tracks[kept[*axis]].sources.push_back(key_of(slot, w));
                continue;
            }
            Track track;
            track.key = {id, static_cast<int>(w)};
            track.sources = {key_of(slot, w)};
            track.array = slot.array;
            track.offset = kPitch * static_cast<double>(stage.tracks.size() - block.first);
            track.place_in = track.place_out = place_in_unit(unit);
            track.axis = axis;
            track.scalar = !slot.wires[w].axis;
            track.dead = ends;
            if (ends && axis) folded[*axis].push_back(stage.tracks.size());
            if (!ends) kept[*axis] = stage.tracks.size();
            stage.tracks.push_back(std::move(track));
        }
        if (stage.tracks.size() == block.first) continue;
        close_block(stage, block);
        entries.push_back({slot.id, slot.id, -1, -1, block.first, stage.tracks.size() - 1, false});
    }
    for (auto& [axis, tracks] : folded) stage.cups.push_back(tracks);
    for (const auto& [axis, track] : kept)
        output_sources_[{-1, static_cast<int>(axis.value)}] = {stage.tracks[track].key};
}

void StageBuilder::enter_triangle(Stage& stage, std::vector<Entry>& entries, std::size_t unit,
                                  const std::vector<std::size_t>& items) {
    const Unit& drawn = list_.units[unit];
    const Slot& slot = live_[items[0]];
    const int id = next_slot_++;
    Block block = block_at(stage, gap_above(entries));
    block.flexible = true;
    for (std::size_t w = 0; w < slot.wires.size(); ++w) {
        Track track;
        track.key = {id, static_cast<int>(w)};
        track.sources = {key_of(slot, w)};
        track.array = slot.array;
        track.offset = kPitch * static_cast<double>(w);
        track.place_in = track.place_out = place_in_unit(unit);
        track.axis = read_as(drawn.inputs[0], slot.wires[w]);
        track.dead = contains(drawn.marked, track.axis);
        if (track.axis) output_sources_[{-1, static_cast<int>(track.axis->value)}] = {track.key};
        stage.tracks.push_back(std::move(track));
    }
    close_block(stage, block);
    entries.push_back({slot.id, slot.id, -1, -1, block.first, stage.tracks.size() - 1, false});
}

std::vector<Slot> StageBuilder::make_outputs(std::size_t unit) {
    std::vector<Slot> outputs;
    for (ArrayId array : list_.units[unit].outputs) {
        Slot slot = make_slot(array);
        slot.inside = true;
        slot.place = {level_, false};
        outputs.push_back(std::move(slot));
    }
    return outputs;
}

void StageBuilder::run_unit(std::size_t unit) {
    const std::vector<std::size_t> items = gather(unit);
    const std::size_t insert_at = choose_gap(unit, items);
    list_.gaps.push_back(insert_at);
    list_.lives.push_back(live_.size());
    std::vector<Slot> outputs = make_outputs(unit);
    Stage stage;
    stage.kind = StageKind::Enter;
    stage.unit = unit;
    stage.column = columns_++;
    std::vector<Entry> entries;
    std::vector<Slot> after;
    std::size_t output_at = 0;
    std::pair<std::size_t, std::size_t> group{0, 0};
    const auto add_group = [&] {
        group.first = entries.size();
        const GlyphKind glyph = list_.units[unit].glyph;
        if (glyph == GlyphKind::Contraction) enter_contraction(stage, entries, unit, items);
        if (glyph == GlyphKind::Triangle) enter_triangle(stage, entries, unit, items);
        if (glyph == GlyphKind::Box) enter_box(stage, entries, unit, items, outputs);
        group.second = entries.size();
        output_at = after.size();
    };
    for (std::size_t i = 0; i <= live_.size(); ++i) {
        if (i == insert_at) add_group();
        if (i == live_.size()) break;
        const bool consumed = std::find(items.begin(), items.end(), i) != items.end();
        if (consumed && !needed_inside(live_[i].array, unit)) continue;
        add_bypass(stage, entries, live_[i]);
        after.push_back(live_[i]);
    }
    if (group.second > group.first) {
        entries[group.first].right_top = outputs.front().id;
        entries[group.second - 1].right_bottom = outputs.back().id;
    }
    add_separators(stage, entries);
    list_.stages.push_back(std::move(stage));
    after.insert(after.begin() + static_cast<std::ptrdiff_t>(output_at), outputs.begin(),
                 outputs.end());
    const bool last = unit + 1 == list_.units.size() || list_.units[unit + 1].region != region_;
    if (list_.units[unit].glyph != GlyphKind::Contraction) leave(unit, outputs);
    for (const Slot& slot : outputs)
        for (std::size_t w = 0; w < slot.wires.size(); ++w) {
            const Key key = key_of(slot, w);
            if (output_sources_.count(key) != 0) continue;
            const auto found =
                slot.wires[w].axis
                    ? output_sources_.find({-1, static_cast<int>(slot.wires[w].axis->value)})
                    : output_sources_.end();
            output_sources_[key] =
                found == output_sources_.end() ? std::vector<Key>{} : found->second;
        }
    const bool below = output_at + outputs.size() < after.size();
    live_ = std::move(after);
    Stage& data = data_stage(StageKind::Data, last ? Labelling::None : Labelling::Changed);
    data.sinks = below || unit + 1 == list_.units.size();
}

}  // namespace napkin::drawing
