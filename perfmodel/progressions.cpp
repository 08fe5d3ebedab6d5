#include "perfmodel/progressions.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace napkin {

namespace {

using Columns = std::span<const std::int64_t>;

/// The longest progression at the beginning.
Progression longest_at_front(Columns columns) {
    if (columns.size() == 1) return {1, columns[0], 1};
    const std::int64_t stride = columns[1] - columns[0];
    std::size_t count = 2;
    while (count < columns.size() && columns[count] - columns[count - 1] == stride) ++count;
    return {stride, columns[0], static_cast<std::int64_t>(count)};
}

/// The longest nested progression at the beginning, and how many columns it takes.
std::pair<NestedProgression, std::size_t> longest_nested(Columns columns) {
    const Progression inner = longest_at_front(columns);
    const auto width = static_cast<std::size_t>(inner.count);
    NestedProgression nested{inner, 0, 1};
    std::size_t taken = width;
    for (; taken + width <= columns.size(); taken += width) {
        const std::int64_t stride = columns[taken] - columns[taken - width];
        if (nested.count > 1 && stride != nested.stride) break;
        if (longest_at_front(columns.subspan(taken, width)) !=
            Progression{width == 1 ? 1 : inner.stride, columns[taken], inner.count})
            break;
        nested.stride = stride;
        ++nested.count;
    }
    return {nested, taken};
}

std::optional<NestedProgression> whole(Columns columns) {
    const auto [nested, taken] = longest_nested(columns);
    return taken == columns.size() ? std::optional(nested) : std::nullopt;
}

/// As long as each comes after the other.
std::optional<std::vector<NestedProgression>> in_order(const std::vector<std::int64_t>& columns) {
    if (columns.empty()) return std::vector<NestedProgression>{};
    if (const std::optional<NestedProgression> one = whole(columns)) return std::vector{*one};
    // Two, one after the other: as many as possible in one progression before or after.
    const Columns all(columns);
    for (const std::size_t split :
         {static_cast<std::size_t>(longest_at_front(all).count), longest_nested(all).second}) {
        if (const auto rest = whole(all.subspan(split)))
            return std::vector{*whole(all.first(split)), *rest};
    }
    std::size_t tail = 1;
    while (tail < all.size() && (tail == 1 || all[all.size() - tail] - all[all.size() - tail - 1] ==
                                                  all[all.size() - 1] - all[all.size() - 2]))
        ++tail;
    for (; tail > 0; --tail) {
        const auto first = whole(all.first(all.size() - tail));
        const auto rest = whole(all.last(tail));
        if (first && rest) return std::vector{*first, *rest};
    }
    return std::nullopt;
}

/// A union whose parts may lie in each other. A part may as well begin at the first column that the
/// others leave, and go on as far as there are columns, so that few are to be tried.
class UnionSearch {
public:
    explicit UnionSearch(const std::vector<std::int64_t>& columns)
        : columns_(columns),
          base_(columns.front()),
          has_(static_cast<std::size_t>(columns.back() - base_ + 1), false) {
        for (const std::int64_t column : columns) has_[at(column)] = true;
    }

    /// Of so many parts, the columns in `open`.
    std::optional<std::vector<NestedProgression>> cover(const std::vector<std::int64_t>& open,
                                                        std::size_t parts) {
        if (open.empty()) return std::vector<NestedProgression>{};
        if (parts == 0 || steps_ > kMostSteps) return std::nullopt;
        if (parts == 1)
            if (const auto one = progression_over(open)) return std::vector{*one};
        for (const NestedProgression& part : candidates(open)) {
            auto rest = cover(without(open, part), parts - 1);
            if (!rest) continue;
            rest->insert(rest->begin(), part);
            return rest;
        }
        return std::nullopt;
    }

private:
    static constexpr std::size_t kMostSteps = 4'000'000;  // some 10 ms
    static constexpr std::size_t kMostStrides = 12;       // of what is repeated
    static constexpr std::int64_t kMostCounts = 16;

    [[nodiscard]] std::size_t at(std::int64_t column) const {
        return static_cast<std::size_t>(column - base_);
    }
    [[nodiscard]] bool has(std::int64_t column) const {
        return column <= columns_.back() && has_[at(column)];
    }
    /// The progression through all of them with as few others as there can be.
    std::optional<NestedProgression> progression_over(const std::vector<std::int64_t>& open) {
        std::int64_t stride = 0;
        for (const std::int64_t column : open) stride = std::gcd(stride, column - open.front());
        if (stride == 0) return NestedProgression{{1, open.front(), 1}, 0, 1};
        const std::int64_t count = (open.back() - open.front()) / stride + 1;
        const NestedProgression one{{stride, open.front(), count}, 0, 1};
        return count_in(open.front(), stride) >= count ? std::optional(one) : std::nullopt;
    }
    std::int64_t count_in(std::int64_t first, std::int64_t stride) {
        std::int64_t count = 0;
        for (std::int64_t column = first; has(column); column += stride) ++count;
        steps_ += static_cast<std::size_t>(count) + 1;
        return count;
    }
    template <class Visit>
    static void for_each(const NestedProgression& part, const Visit& visit) {
        for (std::int64_t k = 0; k < part.count; ++k)
            for (std::int64_t t = 0; t < part.inner.count; ++t)
                visit(part.inner.first + part.inner.stride * t + part.stride * k);
    }
    std::vector<std::int64_t> without(const std::vector<std::int64_t>& open,
                                      const NestedProgression& part) {
        std::vector<bool> taken(has_.size(), false);
        for_each(part, [&](std::int64_t column) { taken[at(column)] = true; });
        steps_ += has_.size() / 64 + open.size();
        std::vector<std::int64_t> rest;
        for (const std::int64_t column : open)
            if (!taken[at(column)]) rest.push_back(column);
        return rest;
    }
    /// As often as it comes again.
    std::optional<NestedProgression> repeated(const Progression& inner, std::int64_t stride) {
        NestedProgression part{inner, stride, 1};
        const auto whole_at = [&](std::int64_t first) {
            steps_ += static_cast<std::size_t>(inner.count);
            for (std::int64_t t = 0; t < inner.count; ++t)
                if (!has(first + inner.stride * t)) return false;
            return true;
        };
        while (whole_at(inner.first + stride * part.count)) ++part.count;
        return part.count > 1 ? std::optional(part) : std::nullopt;
    }
    /// Those that begin with the first open column, the longest first.
    std::vector<NestedProgression> candidates(const std::vector<std::int64_t>& open) {
        const std::int64_t first = open.front();
        std::vector<NestedProgression> found{{{1, first, 1}, 0, 1}};
        const auto later = std::upper_bound(columns_.begin(), columns_.end(), first);
        std::size_t strides = 0;
        for (auto next = later; next != columns_.end() && steps_ <= kMostSteps; ++next, ++strides) {
            const std::int64_t stride = *next - first;
            const std::int64_t longest = count_in(first, stride);
            found.push_back({{stride, first, longest}, 0, 1});
            if (strides >= kMostStrides) continue;
            for (std::int64_t count = std::min(longest, kMostCounts); count > 1; --count)
                for (std::size_t k = 0; k < std::min(open.size(), 2 * kMostStrides); ++k)
                    if (open[k] - first > stride * (count - 1))
                        if (const auto part = repeated({stride, first, count}, open[k] - first))
                            found.push_back(*part);
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const NestedProgression& a, const NestedProgression& b) {
                             return a.inner.count * a.count > b.inner.count * b.count;
                         });
        return found;
    }

    const std::vector<std::int64_t>& columns_;
    std::int64_t base_;
    std::vector<bool> has_;
    std::size_t steps_ = 0;
};

}  // namespace

std::optional<std::vector<NestedProgression>> compressed(const std::vector<std::int64_t>& columns) {
    if (const auto rows = in_order(columns)) return rows;
    for (std::size_t parts = 2; parts <= kMostProgressions; ++parts)
        if (const auto rows = UnionSearch(columns).cover(columns, parts)) return rows;
    return std::nullopt;
}

std::optional<std::vector<NestedProgression>> compressed_runs(const std::vector<ColumnRun>& runs) {
    if (runs.size() == 1)
        return std::vector{NestedProgression{{1, runs[0].first, runs[0].count}, 0, 1}};
    std::vector<std::int64_t> columns;
    for (const ColumnRun& run : runs)
        for (std::int64_t k = 0; k < run.count; ++k) columns.push_back(run.first + k);
    return compressed(columns);
}

void add_run(std::vector<ColumnRun>& runs, const ColumnRun& run) {
    if (!runs.empty() && runs.back().first + runs.back().count == run.first)
        runs.back().count += run.count;
    else
        runs.push_back(run);
}

}  // namespace napkin
