#include "diagrams/drawing/labels.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "diagrams/contains.h"
#include "diagrams/drawing/stages.h"

namespace napkin::drawing {

Labels::Labels(const Diagram& diagram, const Relabelling& relabelling, const DrawOptions& options)
    : diagram_(diagram),
      names_(diagram.axes),
      relabelling_(relabelling),
      overbars_(options.overbars),
      kernel_(options.kernel),
      formulas_(!options.rows.empty()) {
    for (std::uint32_t i = 0; i < diagram.axes.size(); ++i)
        if (diagram.axes[i].woven) overbars_.insert(AxisId{i});
}

bool Labels::trivial(const Group& group) const {
    return group.size == 1 && diagram_[group.axis].woven;
}

MathText Labels::outer(AxisId axis, AxisId by, std::size_t region) const {
    const Region& labelled = relabelling_.regions[region];
    const auto has_part = [&](const auto& parts) {
        return std::any_of(parts.begin(), parts.end(),
                           [&](const auto& part) { return part.axis == by; });
    };
    return parse_math(diagram_[axis].name, overbars_.count(axis) != 0 ||
                                               has_part(labelled.groups) ||
                                               has_part(labelled.streams));
}

MathText Labels::inner(AxisId axis, std::size_t region, Level level) const {
    const Region& labelled = relabelling_.regions[region];
    // The nearest level that says something about the axis; a chunk of a group is a chunk.
    for (int at = static_cast<int>(level); at >= 0; --at) {
        for (const Stream& stream : labelled.streams)
            if (stream.axis == axis && stream.level == static_cast<Level>(at))
                return parse_math(names_(stream_size(axis, stream.level)));
        for (const Group& group : labelled.groups)
            if (group.axis == axis && group.level == static_cast<Level>(at))
                return trivial(group) ? parse_math("1")
                                      : parse_math(names_(group_size(axis, group.level)));
    }
    return parse_math(diagram_[axis].name);
}

bool Labels::relabels(std::size_t region) const {
    const Region& labelled = relabelling_.regions[region];
    return !labelled.streams.empty() ||
           std::any_of(labelled.groups.begin(), labelled.groups.end(),
                       [&](const Group& group) { return !trivial(group); });
}

std::vector<Labels::SizeNote> Labels::sizes_of(const Region& region) const {
    std::vector<SizeNote> notes;
    for (const Group& group : region.groups)
        if (!trivial(group))
            notes.emplace_back(names_(group_size(group.axis, group.level)), group.size);
    for (const Stream& stream : region.streams)
        notes.emplace_back(names_(stream_size(stream.axis, stream.level)), stream.size);
    return notes;
}

bool Labels::regions_differ() const {
    std::map<std::string, std::int64_t> sizes;
    for (const Region& region : relabelling_.regions)
        for (const auto& [label, size] : sizes_of(region))
            if (sizes.emplace(label, size).first->second != size) return true;
    return false;
}

std::vector<MathText> Labels::sizes_of_others() const {
    if (!formulas_) return {};
    std::set<AxisId> drawn;
    for (std::size_t r = 0; r < relabelling_.regions.size(); ++r)
        for (const StatementId id : relabelling_.regions[r].statements) {
            if (kernel_ && r != *kernel_) continue;
            std::vector<ArrayId> arrays = inputs_of(diagram_[id]);
            arrays.insert(arrays.end(), diagram_[id].targets.begin(), diagram_[id].targets.end());
            for (const ArrayId array : arrays)
                drawn.insert(diagram_[array].axes.begin(), diagram_[array].axes.end());
        }
    std::vector<MathText> sizes;
    for (const AxisId axis : drawn)
        if (!has_own_size(diagram_, axis))
            sizes.push_back(parse_math(diagram_[axis].name) + plain_text(" = ") +
                            parse_math(print(diagram_[axis].size, names_)));
    return sizes;
}

std::vector<MathText> Labels::legend() const {
    const bool by_region = !kernel_ && regions_differ();
    std::vector<SizeNote> seen;
    std::vector<MathText> legend = sizes_of_others();
    for (std::size_t r = 0; r < relabelling_.regions.size(); ++r) {
        if (kernel_ && r != *kernel_) continue;
        const Region& region = relabelling_.regions[r];
        std::string title = by_region ? region_name(diagram_, region) + ": " : "";
        for (const SizeNote& note : sizes_of(region)) {
            if (!by_region && contains(seen, note)) continue;
            seen.push_back(note);
            legend.push_back(plain_text(std::exchange(title, "")) + parse_math(note.first) +
                             plain_text(" = " + std::to_string(note.second)));
        }
    }
    return legend;
}

double label_rise(const MathText& label, Medium medium) {
    constexpr double kRise = 4.5;
    constexpr double kTail = 2;
    const bool tail = std::any_of(label.runs.begin(), label.runs.end(), [](const Run& run) {
        return run.script == Script::Below && run.text.find_first_of("gjpqy,") != std::string::npos;
    });
    return medium == Medium::Page && tail ? kRise + kTail : kRise;
}

std::string place_name(const Place& place) {
    return place.tensor_core ? "tensor-core" : std::string(name_of(place.level));
}

Color color_of(const Place& place) {
    if (place.tensor_core) return kTensorCoreColor;
    switch (place.level) {
    case Level::Device: return kBlack;
    case Level::Cache: return kCacheColor;
    case Level::Cluster: return kClusterColor;
    case Level::Block: return kBlockColor;
    case Level::Warps:
    case Level::Thread: return kThreadColor;
    }
    return kBlack;
}

}  // namespace napkin::drawing
