// Elements already computed of one array, so that an array far too large for memory costs only what
// was asked of it: pages small enough for a column of a matrix, found through blocks of pages.
#pragma once

#include <array>
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
    /// Returns the number of bytes that had to be added.
    std::int64_t set(std::int64_t offset, double value);
    void clear();

private:
    static constexpr std::int64_t kPage = 64;    // elements
    static constexpr std::int64_t kBlock = 512;  // pages

    using Page = std::unique_ptr<std::array<double, kPage>>;
    using Block = std::unique_ptr<std::array<Page, kBlock>>;
    [[nodiscard]] const Page* find(std::int64_t page) const;
    [[nodiscard]] Block& block(std::int64_t at);

    std::int64_t size_ = 0;
    bool dense_ = true;  ///< a table of all blocks, for arrays that are not immense
    std::vector<Block> table_;
    std::unordered_map<std::int64_t, Block> map_;
};

}  // namespace napkin::evaluation
