// Which elements of a large result are compared.
#include <algorithm>
#include <set>

#include "diagrams/compare.h"
#include "diagrams/compare/demand.h"
#include "diagrams/random.h"

namespace napkin {
namespace {

/// Elements taken of each sampled row at least, where the reference shares its work within a row.
constexpr std::int64_t kColumns = 16;

/// Where elements are so expensive that the budget allows fewer than these, it is stretched.
constexpr std::int64_t kFewest = 4;
constexpr double kStretch = 8;

struct Dimension {
    std::int64_t extent = 1;
    std::vector<std::int64_t> corners;
    bool cheap = false;  ///< moving along it repeats little work
};

/// A corner every second time, else anything.
std::int64_t draw(const Dimension& dimension, Random& random) {
    if (random.below(2) == 0) return random.below(dimension.extent);
    const auto count = static_cast<std::int64_t>(dimension.corners.size());
    return dimension.corners[static_cast<std::size_t>(random.below(count))];
}

class Sampler {
public:
    Sampler(const Diagram& diagram, ArrayId array, const Sampling& sampling)
        : sampling_(sampling), ledger_(diagram, array), random_(sampling.seed) {
        for (const AxisId axis : diagram[array].axes) {
            const std::set<std::int64_t> corners = corners_of(diagram, axis, sampling.tiles);
            const double moving = ledger_.of_moving(dimensions_.size());
            dimensions_.push_back({diagram[axis].extent,
                                   {corners.begin(), corners.end()},
                                   moving * kColumns <= ledger_.of_one()});
            total_ *= diagram[axis].extent;
        }
    }

    std::vector<std::int64_t> run() {
        if (total_ <= sampling_.most && all_affordable()) {
            std::vector<std::int64_t> all(static_cast<std::size_t>(total_));
            for (std::size_t at = 0; at < all.size(); ++at) all[at] = static_cast<std::int64_t>(at);
            return all;
        }
        add_edges();
        const std::int64_t columns = columns_of_a_row();
        // Misses are bounded, for a count close to the total.
        for (std::int64_t tries = 0; tries < 2 * sampling_.most && !is_full(); tries += columns)
            add_row(columns);
        return {offsets_.begin(), offsets_.end()};
    }

private:
    [[nodiscard]] bool is_full() const {
        const auto count = static_cast<std::int64_t>(offsets_.size());
        const double budget = sampling_.budget * (count < kFewest ? kStretch : 1);
        return count >= sampling_.most || (count > 0 && ledger_.spent() >= budget);
    }
    [[nodiscard]] bool all_affordable() const {
        return ledger_.of_one() * static_cast<double>(total_) <= sampling_.budget;
    }
    void add(std::int64_t offset) {
        if (!is_full() && offsets_.insert(offset).second) ledger_.add(offset);
    }

    /// Every corner of one axis with every other axis at its first and last, so that no edge
    /// depends on chance.
    void add_edges() {
        for (const bool last : {false, true})
            for (std::size_t moved = 0; moved < dimensions_.size(); ++moved)
                for (const std::int64_t corner : dimensions_[moved].corners) {
                    std::int64_t offset = 0;
                    for (std::size_t at = 0; at < dimensions_.size(); ++at) {
                        const std::int64_t end = last ? dimensions_[at].extent - 1 : 0;
                        offset = offset * dimensions_[at].extent + (at == moved ? corner : end);
                    }
                    add(offset);
                }
    }

    /// As many as it takes to reach the most elements with the rows that the budget allows.
    [[nodiscard]] std::int64_t columns_of_a_row() const {
        double inside = 1;
        for (const Dimension& dimension : dimensions_)
            if (dimension.cheap) inside *= static_cast<double>(dimension.extent);
        const double rows = (sampling_.budget - ledger_.spent()) / ledger_.of_one();
        const double columns = static_cast<double>(sampling_.most) / std::max(rows, 1.0);
        return static_cast<std::int64_t>(
            std::min(inside, std::max(columns, static_cast<double>(kColumns))));
    }

    /// A row with as many elements of it.
    void add_row(std::int64_t columns) {
        std::vector<std::int64_t> index;
        for (const Dimension& dimension : dimensions_) index.push_back(draw(dimension, random_));
        const std::size_t wanted = offsets_.size() + static_cast<std::size_t>(columns);
        // Corners are few, so many draws are repetitions.
        for (std::int64_t tries = 0; tries < 3 * columns && offsets_.size() < wanted; ++tries) {
            std::int64_t offset = 0;
            for (std::size_t at = 0; at < dimensions_.size(); ++at) {
                if (dimensions_[at].cheap) index[at] = draw(dimensions_[at], random_);
                offset = offset * dimensions_[at].extent + index[at];
            }
            add(offset);
        }
    }

    const Sampling& sampling_;
    DemandLedger ledger_;
    Random random_;
    std::vector<Dimension> dimensions_;
    std::int64_t total_ = 1;
    std::set<std::int64_t> offsets_;
};

}  // namespace

std::vector<std::int64_t> sample_offsets(const Diagram& diagram, ArrayId array,
                                         const Sampling& sampling) {
    return Sampler(diagram, array, sampling).run();
}

double visits_of_one(const Diagram& diagram, ArrayId array) {
    return DemandLedger(diagram, array).of_one();
}

}  // namespace napkin
