#include "diagrams/evaluate/memo.h"

#include <bit>
#include <cmath>
#include <limits>

namespace napkin::evaluation {
namespace {

constexpr std::uint64_t kAbsentBits = 0x7ff8'6e61'706b'696e;
constexpr std::int64_t kMostTableBlocks = std::int64_t{1} << 22;

}  // namespace

bool is_absent(double value) {
    return std::bit_cast<std::uint64_t>(value) == kAbsentBits;
}

Memo::Memo(std::int64_t size) : size_(size), dense_(size / (kPage * kBlock) < kMostTableBlocks) {}

const Memo::Page* Memo::find(std::int64_t page) const {
    const std::int64_t at = page / kBlock;
    const Block* block = nullptr;
    if (dense_) {
        if (static_cast<std::size_t>(at) < table_.size())
            block = &table_[static_cast<std::size_t>(at)];
    } else {
        const auto found = map_.find(at);
        if (found != map_.end()) block = &found->second;
    }
    if (block == nullptr || *block == nullptr) return nullptr;
    const Page& found = (**block)[static_cast<std::size_t>(page % kBlock)];
    return found == nullptr ? nullptr : &found;
}

double Memo::get(std::int64_t offset) const {
    const Page* page = find(offset / kPage);
    return page == nullptr ? std::bit_cast<double>(kAbsentBits)
                           : (**page)[static_cast<std::size_t>(offset % kPage)];
}

Memo::Block& Memo::block(std::int64_t at) {
    if (!dense_) return map_[at];
    if (table_.empty()) table_.resize(static_cast<std::size_t>(size_ / (kPage * kBlock) + 1));
    return table_[static_cast<std::size_t>(at)];
}

std::int64_t Memo::set(std::int64_t offset, double value) {
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
    const std::int64_t at = offset / kPage;
    Block& pages = block(at / kBlock);
    std::int64_t added = 0;
    if (pages == nullptr) {
        pages = std::make_unique<std::array<Page, kBlock>>();
        added += static_cast<std::int64_t>(sizeof(*pages));
    }
    Page& page = (*pages)[static_cast<std::size_t>(at % kBlock)];
    if (page == nullptr) {
        page = std::make_unique<std::array<double, kPage>>();
        page->fill(std::bit_cast<double>(kAbsentBits));
        added += static_cast<std::int64_t>(sizeof(*page));
    }
    (*page)[static_cast<std::size_t>(offset % kPage)] = value;
    return added;
}

void Memo::clear() {
    table_.clear();
    map_.clear();
}

}  // namespace napkin::evaluation
