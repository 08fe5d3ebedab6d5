// Elements already computed of one array, in pages, so that an array far too large for memory costs
// only what was asked of it.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace napkin::evaluation {

/// Whether Memo::get found nothing: one NaN that no computation yields stands for absence.
[[nodiscard]] bool is_absent(double value);

class Memo {
public:
    explicit Memo(std::int64_t size);

    /// The element, or the absent NaN.
    [[nodiscard]] double get(std::int64_t offset) const;
    /// Returns the number of pages that had to be added.
    std::int64_t set(std::int64_t offset, double value);
    void clear();

    static constexpr std::int64_t kPage = 512;

private:
    using Page = std::unique_ptr<double[]>;
    [[nodiscard]] const Page* find(std::int64_t page) const;

    std::int64_t size_ = 0;
    bool dense_ = true;  ///< a table of all pages, for arrays that are not immense
    std::vector<Page> table_;
    std::unordered_map<std::int64_t, Page> map_;
};

}  // namespace napkin::evaluation
