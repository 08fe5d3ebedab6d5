#include "schedule/kept_ends.h"

#include <set>

#include "diagrams/checked.h"
#include "diagrams/rounding.h"

namespace napkin::schedule {

std::int64_t KeptEnds::OfRead::entries() const {
    std::int64_t entries = chunks;
    for (const BlockGroups& group : groups) entries = saturating_multiply(entries, group.count);
    return entries;
}

std::int64_t KeptEnds::entries() const {
    return reads.empty() ? 0 : saturating_add(reads.back().first, reads.back().entries());
}

std::optional<KeptEnds> ends_to_keep(const RegionProgram& region, const Loop& loop, bool any_size) {
    constexpr std::int64_t kMost = 1024;
    const std::optional<std::vector<BlockGroups>> groups = block_groups(region);
    const Axis& axis = region.axes[loop.axis.index()];
    if (!groups || any_size || axis.dynamic) return std::nullopt;
    KeptEnds kept;
    for (const Read& read : reads_along_chunks(loop)) {
        std::set<AxisId> used;
        for (const Expression& index : read.index) used.merge(axes_used(index));
        KeptEnds::OfRead of = {read, kept.entries(), ceil_quotient(axis.extent, loop.size), {}};
        for (const BlockGroups& group : *groups) {
            if (!used.contains(group.axis)) continue;
            if (group.axis == loop.axis || region.axes[group.axis.index()].dynamic)
                return std::nullopt;
            of.groups.push_back(group);
        }
        kept.reads.push_back(std::move(of));
    }
    return kept.entries() <= kMost ? std::optional(std::move(kept)) : std::nullopt;
}

}  // namespace napkin::schedule
