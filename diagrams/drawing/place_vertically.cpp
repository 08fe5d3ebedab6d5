// Heights. Every block would like to be level with the wires it comes from; blocks keep their order
// and their distances. The sum of weighted distances from the wishes is least: pooled neighbours
// that want to cross move together to the weighted median of their wishes, which keeps most wires
// exactly straight (a mean would bend all of them a little).

#include <algorithm>
#include <map>

#include "diagrams/drawing/stages.h"

namespace napkin::drawing {

namespace {

constexpr double kSeparatorDrop = 8;   // of a dashed line under the wire above it
constexpr double kGlyphClearance = 5;  // of a dashed line from a glyph

struct Wish {
    double value = 0;
    double weight = 1;
};

/// Neighbouring blocks that move as one, and where they want to be.
struct Pool {
    std::size_t first = 0;
    std::vector<Wish> wishes;
    double position = 0;
};

double median(std::vector<Wish> wishes) {
    std::sort(wishes.begin(), wishes.end(),
              [](const Wish& a, const Wish& b) { return a.value < b.value; });
    double total = 0;
    for (const Wish& wish : wishes) total += wish.weight;
    double seen = 0;
    for (const Wish& wish : wishes) {
        seen += wish.weight;
        if (seen * 2 >= total) return wish.value;
    }
    return wishes.back().value;
}

/// Tops of the blocks, given where each wants its top.
void solve(std::vector<Block>& blocks, const std::vector<double>& wanted) {
    std::vector<double> shift(blocks.size(), 0);
    for (std::size_t i = 1; i < blocks.size(); ++i)
        shift[i] = shift[i - 1] + blocks[i - 1].height + blocks[i].gap;
    std::vector<Pool> pools;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        pools.push_back({i, {{wanted[i] - shift[i], blocks[i].weight}}, wanted[i] - shift[i]});
        while (pools.size() > 1 && pools[pools.size() - 2].position > pools.back().position) {
            Pool last = std::move(pools.back());
            pools.pop_back();
            Pool& merged = pools.back();
            merged.wishes.insert(merged.wishes.end(), last.wishes.begin(), last.wishes.end());
            merged.position = median(merged.wishes);
        }
    }
    for (std::size_t p = 0; p < pools.size(); ++p) {
        const std::size_t end = p + 1 < pools.size() ? pools[p + 1].first : blocks.size();
        for (std::size_t i = pools[p].first; i < end; ++i)
            blocks[i].top = pools[p].position + shift[i];
    }
}

/// Lets the wires of a block stand as far apart as they came, where all came from one stage in
/// order.
void relax(Stage& stage, Block& block, const std::map<Key, double>& before) {
    if (!block.flexible || block.count < 2) return;
    std::vector<double> heights;
    for (std::size_t i = block.first; i < block.first + block.count; ++i) {
        const std::vector<Key>& sources = stage.tracks[i].sources;
        const auto found = sources.size() == 1 ? before.find(sources[0]) : before.end();
        if (found == before.end()) return;
        if (!heights.empty() && found->second < heights.back() + kPitch) return;
        heights.push_back(found->second);
    }
    for (std::size_t i = 0; i < block.count; ++i)
        stage.tracks[block.first + i].offset = heights[i] - heights[0];
    block.height = heights.back() - heights[0];
}

/// The top that keeps most of the block's wires straight; among equals the lowest where results
/// sink, else the highest.
std::optional<double> wish_of(const Stage& stage, const Block& block,
                              const std::map<Key, double>& before) {
    std::map<double, int> votes;
    for (std::size_t i = block.first; i < block.first + block.count; ++i)
        for (const Key& source : stage.tracks[i].sources)
            if (const auto found = before.find(source); found != before.end())
                ++votes[found->second - stage.tracks[i].offset];
    std::optional<double> best;
    for (const auto& [top, count] : votes)
        if (!best || count > votes[*best] || (count == votes[*best] && stage.sinks)) best = top;
    return best;
}

void place_separators(const StageList& list, Stage& stage, const Stage* before) {
    for (Separator& line : stage.separators) {
        if (line.copied && before != nullptr) {
            line.y = before->separators[*line.copied].y;
            continue;
        }
        const double above = stage.tracks[line.above].y;
        const double below = stage.tracks[line.below].y;
        line.y = std::max(above + kSeparatorDrop,
                          (above + below) / 2 - (kArrayGap / 2 - kSeparatorDrop));
        if (stage.kind != StageKind::Enter) continue;
        if (list.units[*stage.unit].glyph == GlyphKind::Contraction) continue;
        // A glyph reaches beyond its wires; the lines next to it give way.
        const auto in_glyph = [&](std::size_t track) { return stage.tracks[track].dead; };
        if (in_glyph(line.above) && !in_glyph(line.below))
            line.y = std::max(line.y, above + kGlyphReach + kGlyphClearance);
        if (in_glyph(line.below) && !in_glyph(line.above))
            line.y = std::min(line.y, below - kGlyphReach - kGlyphClearance);
    }
}

void place_stage(Stage& stage, const Stage* before) {
    std::map<Key, double> heights;
    if (before != nullptr)
        for (const Track& track : before->tracks) heights[track.key] = track.y;
    for (Block& block : stage.blocks) relax(stage, block, heights);
    std::vector<std::optional<double>> wishes;
    for (const Block& block : stage.blocks) wishes.push_back(wish_of(stage, block, heights));
    // A block that comes from nowhere wants to be right under its neighbour, or over the next one.
    std::vector<double> wanted(stage.blocks.size(), 0);
    for (std::size_t i = 0; i < stage.blocks.size(); ++i) {
        if (wishes[i]) {
            wanted[i] = *wishes[i];
        } else if (i > 0) {
            wanted[i] = wanted[i - 1] + stage.blocks[i - 1].height + stage.blocks[i].gap;
            stage.blocks[i].weight = 0.5;
        } else if (stage.blocks.size() > 1 && wishes[1]) {
            wanted[i] = *wishes[1] - stage.blocks[1].gap - stage.blocks[0].height;
            stage.blocks[i].weight = 0.5;
        }
    }
    solve(stage.blocks, wanted);
    for (const Block& block : stage.blocks)
        for (std::size_t i = block.first; i < block.first + block.count; ++i)
            stage.tracks[i].y = block.top + stage.tracks[i].offset;
}

}  // namespace

void place_vertically(StageList& list) {
    const Stage* before = nullptr;
    for (Stage& stage : list.stages) {
        if (stage.kind == StageKind::Leave && before != nullptr) {
            for (std::size_t i = 0; i < stage.blocks.size(); ++i) {
                Block& block = stage.blocks[i];
                const Block& entered = before->blocks[i];
                block.top = entered.top;
                for (std::size_t t = 0; t < block.count; ++t) {
                    Track& track = stage.tracks[block.first + t];
                    track.y = block.is_box ? block.top + track.offset
                                           : before->tracks[entered.first + t].y;
                }
            }
        } else {
            place_stage(stage, before);
        }
        place_separators(list, stage, before);
        before = &stage;
    }
}

std::size_t most_crossed(const Stage& from, const Stage& to) {
    std::map<Key, double> heights;
    for (const Track& track : from.tracks) heights[track.key] = track.y;
    std::vector<std::pair<double, double>> links;
    for (const Track& track : to.tracks)
        for (const Key& source : track.sources)
            if (const auto found = heights.find(source); found != heights.end())
                links.emplace_back(found->second, track.y);
    std::size_t most = 0;
    for (const auto& [start, end] : links) {
        std::size_t crossed = 0;
        for (const auto& [other_start, other_end] : links)
            crossed += (start - other_start) * (end - other_end) < 0 ? 1 : 0;
        most = std::max(most, crossed);
    }
    return most;
}

std::size_t most_crossed(const StageList& list) {
    std::size_t most = 0;
    for (std::size_t s = 0; s + 1 < list.stages.size(); ++s)
        most = std::max(most, most_crossed(list.stages[s], list.stages[s + 1]));
    return most;
}

}  // namespace napkin::drawing
