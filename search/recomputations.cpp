#include "search/recomputations.h"

#include <algorithm>
#include <map>

#include "diagrams/contains.h"
#include "search/kernels.h"
#include "search/regions.h"

namespace napkin {
namespace {

/// So many lists at most, those that compute most again.
constexpr std::size_t kMostLists = 2;
/// Each list is a search of its own, which takes half a minute and more from here on.
constexpr std::size_t kMostRegions = 8;

double values_of(const Diagram& diagram, ArrayId array) {
    double values = 1;
    for (const AxisId axis : diagram[array].axes)
        values *= static_cast<double>(diagram[axis].extent);
    return values;
}

class Recomputing {
public:
    explicit Recomputing(const State& plain)
        : plain_(plain),
          diagram_(plain.diagram),
          regions_(plain.relabelling.regions),
          graph_(box_graph(plain)),
          large_(graph_.none()) {
        for (std::uint32_t i = 0; i < diagram_.arrays.size(); ++i) {
            const ArrayRole role = diagram_.arrays[i].role;
            if (role == ArrayRole::Input || role == ArrayRole::Output)
                given_ = std::max(given_, values_of(diagram_, ArrayId{i}));
        }
        for (std::size_t r = 0; r < regions_.size(); ++r) large_[r] = is_large(regions_[r]);
    }

    std::vector<std::vector<Command>> run() {
        if (regions_.size() > kMostRegions) return {};
        for (std::size_t r = 0; r < regions_.size(); ++r)
            if (!large_.test(r)) note(r);
        std::vector<std::vector<Command>> lists;
        for (const auto& [kept, readers] : readers_) {
            if (readers.size() > 1 && add(readers, lists)) continue;
            for (const Reader& reader : readers) add({reader}, lists);
        }
        std::stable_sort(lists.begin(), lists.end(), [](const auto& a, const auto& b) {
            return a.back().names.size() > b.back().names.size();
        });
        lists.resize(std::min(lists.size(), kMostLists));
        return lists;
    }

private:
    /// A region that reads large arrays, with the boxes that make them.
    struct Reader {
        std::size_t region = 0;
        BoxSet makes;
    };

    [[nodiscard]] bool is_large(const Region& region) const {
        const std::vector<ArrayId> saved = saves_of(diagram_, region);
        return std::all_of(saved.begin(), saved.end(), [&](ArrayId array) {
            return diagram_[array].named && values_of(diagram_, array) > given_;
        });
    }

    /// Large boxes that a region depends on through large ones alone.
    void collect(std::size_t region, BoxSet& makes) const {
        const BoxSet sources = graph_.before[region] & graph_.beside[region] & large_;
        for (std::size_t box = sources.find_first(); box != BoxSet::npos;
             box = sources.find_next(box)) {
            if (makes.test(box)) continue;
            makes.set(box);
            collect(box, makes);
        }
    }

    void note(std::size_t region) {
        BoxSet makes = graph_.none();
        collect(region, makes);
        if (makes.any()) readers_[kept_by(region, makes)].push_back({region, std::move(makes)});
    }

    /// Axes of large arrays that a region's results have.
    [[nodiscard]] std::vector<AxisId> kept_by(std::size_t region, const BoxSet& makes) const {
        std::vector<AxisId> kept;
        const auto& own = diagram_[saves_of(diagram_, regions_[region]).front()].axes;
        const Region& made = regions_[makes.find_first()];
        for (const AxisId axis : diagram_[saves_of(diagram_, made).front()].axes)
            if (contains(own, axis)) kept.push_back(axis);
        return kept;
    }

    /// Whether a region that is none of these reads what they recompute; else nothing is made
    /// twice.
    [[nodiscard]] bool is_shared(const std::vector<Reader>& readers, const BoxSet& makes) const {
        for (const auto& [kept, others] : readers_)
            for (const Reader& other : others)
                if (other.makes.intersects(makes) &&
                    std::none_of(readers.begin(), readers.end(), [&](const Reader& reader) {
                        return reader.region == other.region;
                    }))
                    return true;
        return false;
    }

    bool add(const std::vector<Reader>& readers, std::vector<std::vector<Command>>& lists) const {
        BoxSet makes = graph_.none();
        std::vector<Command> commands(1);
        commands.front().rule = "fuse";
        for (const Reader& reader : readers) {
            makes |= reader.makes;
            commands.front().names.push_back(region_name(diagram_, regions_[reader.region]));
        }
        if (!is_shared(readers, makes)) return false;
        Command recompute;
        recompute.rule = "recompute";
        for (std::size_t box = makes.find_first(); box != BoxSet::npos; box = makes.find_next(box))
            for (const ArrayId array : saves_of(diagram_, regions_[box]))
                recompute.names.push_back(diagram_[array].name);
        recompute.in = commands.front().names.back();
        if (readers.size() == 1) commands.clear();
        commands.push_back(std::move(recompute));
        if (!after(plain_, commands)) return false;
        lists.push_back(std::move(commands));
        return true;
    }

    const State& plain_;
    const Diagram& diagram_;
    const std::vector<Region>& regions_;
    BoxGraph graph_;
    double given_ = 0;  ///< values of the largest array that is an input or an output
    BoxSet large_;
    std::map<std::vector<AxisId>, std::vector<Reader>> readers_;  ///< by the axes that they keep
};

}  // namespace

std::vector<std::vector<Command>> recomputations(const State& plain) {
    return Recomputing(plain).run();
}

}  // namespace napkin
