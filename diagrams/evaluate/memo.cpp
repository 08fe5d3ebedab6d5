#include "diagrams/evaluate/memo.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace napkin::evaluation {
namespace {

constexpr std::uint64_t kAbsentBits = 0x7ff8'6e61'706b'696e;
constexpr std::int64_t kMostTablePages = std::int64_t{1} << 22;

}  // namespace

bool is_absent(double value) {
    return std::bit_cast<std::uint64_t>(value) == kAbsentBits;
}

Memo::Memo(std::int64_t size) : size_(size), dense_(size / kPage < kMostTablePages) {}

const Memo::Page* Memo::find(std::int64_t page) const {
    if (dense_) {
        const auto at = static_cast<std::size_t>(page);
        return at < table_.size() && table_[at] != nullptr ? &table_[at] : nullptr;
    }
    const auto found = map_.find(page);
    return found == map_.end() ? nullptr : &found->second;
}

double Memo::get(std::int64_t offset) const {
    const Page* page = find(offset / kPage);
    return page == nullptr ? std::bit_cast<double>(kAbsentBits)
                           : (*page)[static_cast<std::size_t>(offset % kPage)];
}

std::int64_t Memo::set(std::int64_t offset, double value) {
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
    if (dense_ && table_.empty()) table_.resize(static_cast<std::size_t>(size_ / kPage + 1));
    const std::int64_t at = offset / kPage;
    Page& page = dense_ ? table_[static_cast<std::size_t>(at)] : map_[at];
    const bool added = page == nullptr;
    if (added) {
        const std::int64_t length = std::min(kPage, size_ - at * kPage);
        page = std::make_unique<double[]>(static_cast<std::size_t>(length));
        std::fill_n(page.get(), length, std::bit_cast<double>(kAbsentBits));
    }
    page[static_cast<std::size_t>(offset % kPage)] = value;
    return added ? 1 : 0;
}

void Memo::clear() {
    table_.clear();
    map_.clear();
}

}  // namespace napkin::evaluation
