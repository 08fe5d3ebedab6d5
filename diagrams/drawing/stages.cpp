#include "diagrams/drawing/stages.h"

#include <algorithm>

#include "diagrams/contains.h"
#include "diagrams/drawing/glyphs.h"
#include "diagrams/drawing/stage_builder.h"

namespace napkin::drawing {

namespace {

// Short diagrams show every input from the left; longer ones let an array in where it is needed.
constexpr std::size_t kShort = 6;
constexpr std::size_t kEarly = 2;

}  // namespace

Scene scene_of(const Contents& contents, const DrawOptions& options,
               std::optional<std::size_t> kernel) {
    Scene scene{contents, options, kernel, {contents.diagram, contents.relabelling, options}};
    for (const Unit& unit : contents.units)
        if (!kernel || unit.region == *kernel) scene.units.push_back(unit);
    scene.common = common_axes(contents, scene.units);
    for (const Column& column : contents.columns)
        scene.first_column += kernel && column.region < *kernel ? 1 : 0;
    return scene;
}

StageBuilder::StageBuilder(const Scene& scene, const StageOrder& order, Detail detail)
    : scene_(scene),
      diagram_(scene.contents.diagram),
      options_(scene.options),
      order_(order),
      labelled_(detail == Detail::All),
      columns_(scene.first_column) {
    list_.units = scene.units;
    list_.common = scene.common;
}

Slot StageBuilder::make_slot(ArrayId array) {
    Slot slot;
    slot.id = next_slot_++;
    slot.array = array;
    const std::vector<AxisId>& axes = diagram_[array].axes;
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (std::find(list_.common.begin(), list_.common.end(), axes[i]) == list_.common.end())
            slot.wires.push_back({axes[i], i, ""});
    if (slot.wires.empty()) slot.wires.push_back({std::nullopt, 0, ""});
    return slot;
}

std::size_t StageBuilder::find_live(ArrayId array, bool inside) {
    for (std::size_t i = 0; i < live_.size(); ++i)
        if (!live_[i].common && live_[i].array == array && live_[i].inside == inside) return i;
    return live_.size();
}

bool StageBuilder::needed_inside(ArrayId array, std::size_t after_unit) const {
    for (std::size_t u = after_unit + 1; u < list_.units.size(); ++u) {
        if (list_.units[u].region != region_) break;
        for (const UnitInput& input : list_.units[u].inputs)
            if (input.array == array) return true;
    }
    return contains(scene_.contents.saves[region_], array);
}

bool StageBuilder::needed_outside(ArrayId array, std::size_t after_region) const {
    if (scene_.kernel) return contains(scene_.contents.saves[*scene_.kernel], array);
    if (diagram_[array].role == ArrayRole::Output) return true;
    for (std::size_t r = after_region + 1; r < scene_.contents.loads.size(); ++r)
        if (contains(scene_.contents.loads[r], array)) return true;
    return false;
}

void StageBuilder::bring_in_common() {
    if (list_.common.empty()) return;
    Slot common;
    common.id = next_slot_++;
    common.common = true;
    for (AxisId axis : list_.common) common.wires.push_back({axis, 0, ""});
    live_.push_back(common);
}

/// Brings arrays in from the left, in the order that is chosen.
void StageBuilder::enter_at(std::size_t place, std::vector<ArrayId> arrays) {
    const auto rank = [&](ArrayId array) {
        return std::find(order_.entering.begin(), order_.entering.end(), array);
    };
    std::stable_sort(arrays.begin(), arrays.end(),
                     [&](ArrayId a, ArrayId b) { return rank(a) < rank(b); });
    for (ArrayId array : arrays) {
        Slot slot = make_slot(array);
        slot.fresh = true;
        live_.insert(live_.begin() + static_cast<std::ptrdiff_t>(place++), slot);
        entered_.insert(array);
        list_.entered.push_back(array);
    }
}

void StageBuilder::choose_early_inputs() {
    std::set<ArrayId> early;
    const bool all = list_.units.size() <= kShort;
    for (std::size_t r = 0; r < scene_.contents.loads.size() && (all || r < kEarly); ++r)
        early.insert(scene_.contents.loads[r].begin(), scene_.contents.loads[r].end());
    std::vector<ArrayId> inputs;
    for (std::uint32_t i = 0; i < diagram_.arrays.size(); ++i)
        if (diagram_.arrays[i].role == ArrayRole::Input && early.count(ArrayId{i}) != 0)
            inputs.push_back(ArrayId{i});
    enter_at(live_.size(), std::move(inputs));
}

void StageBuilder::bring_in_loads(std::size_t region) {
    std::size_t after = live_.size();
    const std::vector<ArrayId>& loads = scene_.contents.loads[region];
    for (ArrayId array : loads)
        if (const std::size_t at = find_live(array, false); at < live_.size()) after = at + 1;
    std::vector<ArrayId> entering;
    for (ArrayId array : loads) {
        const ArrayRole role = diagram_[array].role;
        if (role == ArrayRole::Parameter || (!scene_.kernel && role != ArrayRole::Input)) continue;
        if (!entered_.contains(array)) entering.push_back(array);
    }
    enter_at(after, std::move(entering));
}

AxisId StageBuilder::read_along(const Slot& slot, const Slot::Wire& wire) const {
    if (slot.common || !contains(scene_.contents.loads[region_], slot.array)) return *wire.axis;
    std::optional<AxisId> only;
    for (const Unit& unit : list_.units) {
        if (unit.region != region_) continue;
        for (const UnitInput& input : unit.inputs) {
            if (input.array != slot.array) continue;
            const std::optional<AxisId>& axis = input.index[wire.dimension];
            if (!axis || (only && *only != *axis)) return *wire.axis;
            only = axis;
        }
    }
    return only.value_or(*wire.axis);
}

MathText StageBuilder::label_of(const Slot& slot, const Slot::Wire& wire) const {
    if (!wire.axis || !labelled_) return {};
    const AxisId axis = read_along(slot, wire);
    return slot.inside ? scene_.labels.inner(axis, region_, level_)
                       : scene_.labels.outer(*wire.axis, axis, region_);
}

void StageBuilder::label_tracks(Stage& stage, Slot& slot, Labelling labelling) {
    if (!labelled_) return;
    const std::size_t first = stage.tracks.size() - slot.wires.size();
    for (std::size_t i = 0; i < slot.wires.size(); ++i) {
        Track& track = stage.tracks[first + i];
        Slot::Wire& wire = slot.wires[i];
        track.name = label_of(slot, wire);
        const std::string text = to_unicode(track.name);
        if (labelling == Labelling::None || wire.shown == text) continue;
        wire.shown = text;
        track.label = track.name;
    }
}

double StageBuilder::gap_above(const std::vector<Entry>& entries) const {
    return entries.empty() ? 0 : kArrayGap;
}

void StageBuilder::add_separators(Stage& stage, const std::vector<Entry>& entries) {
    for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
        const Entry& upper = entries[i];
        const Entry& lower = entries[i + 1];
        if (upper.common) continue;
        stage.separators.push_back({{upper.left_bottom, lower.left_top},
                                    {upper.right_bottom, lower.right_top},
                                    upper.last_track,
                                    lower.first_track,
                                    0,
                                    {}});
    }
}

Stage& StageBuilder::data_stage(StageKind kind, Labelling labelling) {
    Stage stage;
    stage.kind = kind;
    std::vector<Entry> entries;
    for (Slot& slot : live_) {
        Block block;
        block.first = stage.tracks.size();
        block.count = slot.wires.size();
        block.height = kPitch * static_cast<double>(slot.wires.size() - 1);
        block.gap = gap_above(entries);
        block.weight = slot.common ? 1000 : 100;
        block.flexible = true;
        if (!slot.common) block.array = slot.array;
        for (std::size_t i = 0; i < slot.wires.size(); ++i) {
            Track track;
            track.key = {slot.id, static_cast<int>(i)};
            track.sources = {track.key};
            if (!slot.common) track.array = slot.array;
            if (const auto found = output_sources_.find(track.key);
                found != output_sources_.end()) {
                track.sources = found->second;
                block.weight = 1;
                block.flexible = list_.stages.back().kind == StageKind::Leave;
            }
            track.offset = kPitch * static_cast<double>(i);
            track.place_in = track.place_out = slot.place;
            track.axis = slot.wires[i].axis;
            track.scalar = !track.axis.has_value();
            stage.tracks.push_back(std::move(track));
        }
        const std::size_t last = stage.tracks.size() - 1;
        if (slot.fresh) {
            block.weight = 1;
            if (options_.names) stage.names.push_back({block.first, last, slot.array, true});
        }
        slot.fresh = false;
        label_tracks(stage, slot, labelling);
        entries.push_back({slot.id, slot.id, slot.id, slot.id, block.first, last, slot.common});
        stage.blocks.push_back(block);
    }
    output_sources_.clear();
    add_separators(stage, entries);
    list_.stages.push_back(std::move(stage));
    return list_.stages.back();
}

void StageBuilder::load(std::size_t region, Level level, Level outer) {
    const std::vector<ArrayId>& loads = scene_.contents.loads[region];
    const Place place{level, false};
    const bool first = outer == Level::Device;
    std::map<int, Place> before;
    std::map<int, int> fork;
    for (std::size_t i = 0; i < live_.size(); ++i) {
        const bool moves =
            live_[i].common ||
            (first ? contains(loads, live_[i].array) && !live_[i].inside : live_[i].inside);
        if (!moves) continue;
        if (first && !live_[i].common && needed_outside(live_[i].array, region)) {
            Slot copy = live_[i];
            copy.id = next_slot_++;
            fork[copy.id] = live_[i].id;
            ++i;
            live_.insert(live_.begin() + static_cast<std::ptrdiff_t>(i), copy);
        }
        before[live_[i].id] = live_[i].place;
        live_[i].place = place;
    }
    // Labels inside the border name what crosses it, in the words of the outer level.
    Stage& stage = data_stage(StageKind::Load, Labelling::None);
    stage.level = level;
    stage.outer = outer;
    stage.column = columns_++;
    for (Track& track : stage.tracks) {
        if (const auto source = fork.find(track.key.slot); source != fork.end())
            track.sources = {{source->second, track.key.wire}};
        if (const auto found = before.find(track.key.slot); found != before.end()) {
            track.place_in = found->second;
            track.changes = true;
        }
    }
    std::size_t track = 0;
    for (Slot& slot : live_)
        for (Slot::Wire& wire : slot.wires) {
            Track& shown = stage.tracks[track++];
            if (titled_labels_) continue;
            const MathText label = label_of(slot, wire);
            if (!shown.changes && wire.shown == to_unicode(label)) continue;
            shown.label = label;
            wire.shown = to_unicode(label);
        }
    for (Slot& slot : live_)
        if (before.count(slot.id) != 0) {
            slot.inside = true;
            for (Slot::Wire& wire : slot.wires)
                if (titled_labels_) wire.shown.clear();
        }
    level_ = level;
    data_stage(StageKind::Data, titled_labels_ ? Labelling::Changed : Labelling::None);
}

void StageBuilder::save(std::size_t region, Level level, Level outer) {
    const std::vector<ArrayId>& saves = scene_.contents.saves[region];
    const Place place{outer, false};
    live_.erase(std::remove_if(live_.begin(), live_.end(),
                               [&](const Slot& slot) {
                                   return slot.inside && !slot.common &&
                                          !contains(saves, slot.array);
                               }),
                live_.end());
    std::map<int, Place> before;
    for (Slot& slot : live_) {
        if (!slot.inside) continue;
        before[slot.id] = slot.place;
        slot.place = place;
        if (outer == Level::Device) slot.inside = false;
    }
    Stage& stage = data_stage(StageKind::Save, Labelling::None);
    stage.level = level;
    stage.outer = outer;
    stage.column = columns_++;
    for (Track& track : stage.tracks)
        if (const auto found = before.find(track.key.slot); found != before.end()) {
            track.place_in = found->second;
            track.changes = true;
        }
    level_ = outer;
    std::size_t track = 0;
    for (Slot& slot : live_)
        for (Slot::Wire& wire : slot.wires) {
            Track& shown = stage.tracks[track++];
            if (titled_labels_ || !shown.changes) continue;
            shown.label = label_of(slot, wire);
            wire.shown = to_unicode(shown.label);
        }
}

/// Whether the wire bears its name where it ends: here or at the save just before.
bool StageBuilder::is_labelled_at_end(const Key& wire) const {
    const std::size_t before = list_.stages.size() < 2 ? 0 : list_.stages.size() - 2;
    return std::any_of(list_.stages.begin() + static_cast<std::ptrdiff_t>(before),
                       list_.stages.end(), [&](const Stage& stage) {
                           return std::any_of(
                               stage.tracks.begin(), stage.tracks.end(), [&](const Track& track) {
                                   return track.key == wire && !track.label.runs.empty();
                               });
                       });
}

void StageBuilder::name_outputs() {
    Stage& stage = list_.stages.back();
    std::size_t first = 0;
    for (const Slot& slot : live_) {
        const std::size_t end = first + slot.wires.size();
        for (std::size_t t = first; t < end; ++t)
            if (!is_labelled_at_end(stage.tracks[t].key))
                stage.tracks[t].label = stage.tracks[t].name;
        if (!slot.common && options_.names)
            stage.names.push_back({first, end - 1, slot.array, false});
        first = end;
    }
}

bool StageBuilder::build_region(std::size_t region,
                                const std::function<bool(const StageList&)>& is_worth) {
    region_ = region;
    titled_labels_ = scene_.labels.relabels(region);
    bring_in_loads(region);
    // The stage after a save serves the next region's load too, unless something enters there.
    const bool fresh =
        std::any_of(live_.begin(), live_.end(), [](const Slot& s) { return s.fresh; });
    if (list_.stages.empty() || fresh || list_.stages.back().kind != StageKind::Data ||
        titled_labels_)
        data_stage(StageKind::Data, titled_labels_ ? Labelling::Changed : Labelling::None);
    const std::vector<Level> levels = levels_of(scene_.contents.relabelling.regions[region]);
    Level outer = Level::Device;
    for (Level level : levels) {
        load(region, level, outer);
        outer = level;
    }
    for (std::size_t u = 0; u < list_.units.size(); ++u) {
        if (list_.units[u].region != region) continue;
        run_unit(u);
        if (is_worth && !is_worth(list_)) return false;
    }
    for (std::size_t i = levels.size(); i-- > 0;) {
        save(region, levels[i], i == 0 ? Level::Device : levels[i - 1]);
        if (i > 0) data_stage(StageKind::Data, Labelling::None);
    }
    live_.erase(std::remove_if(live_.begin(), live_.end(),
                               [&](const Slot& slot) {
                                   return !slot.common && !needed_outside(slot.array, region);
                               }),
                live_.end());
    data_stage(StageKind::Data, titled_labels_ ? Labelling::Changed : Labelling::None);
    return true;
}

StageList StageBuilder::build(const std::function<bool(const StageList&)>& is_worth) {
    bring_in_common();
    if (!scene_.kernel) choose_early_inputs();
    const std::size_t regions = scene_.contents.relabelling.regions.size();
    const std::size_t first = scene_.kernel.value_or(0);
    const std::size_t end = scene_.kernel ? first + 1 : regions;
    for (std::size_t r = first; r < end; ++r)
        if (!build_region(r, is_worth)) return std::move(list_);
    if (list_.stages.empty()) data_stage(StageKind::Data, Labelling::Changed);
    if (labelled_) name_outputs();
    return std::move(list_);
}

}  // namespace napkin::drawing
