#include "codegen/run/emulated_memory.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace napkin {
namespace {

using nk::emulator::AccessKind;
using nk::emulator::Copy;
using nk::emulator::Shadow;

void land(Copy& copy) {
    std::memcpy(copy.to, copy.from, static_cast<std::size_t>(copy.valid));
    std::memset(copy.to + copy.valid, 0, static_cast<std::size_t>(copy.bytes - copy.valid));
    copy.landed = true;
}

}  // namespace

void CopiesInFlight::start(const Copy& copy, std::mt19937_64& random) {
    for (int i = 0; i < copy.bytes; ++i) copy.shadow[i].copying = 1;
    open_.push_back(copy);
    if (random() % 4 == 0) land(open_.back());
}

void CopiesInFlight::commit() {
    groups_.push_back(std::move(open_));
    open_.clear();
}

void CopiesInFlight::wait(int pending, const nk::emulator::Context& now, std::mt19937_64& random) {
    Group ended;
    for (; groups_.size() > static_cast<std::size_t>(pending); groups_.pop_front())
        ended.insert(ended.end(), groups_.front().begin(), groups_.front().end());
    std::shuffle(ended.begin(), ended.end(), random);
    for (Copy& copy : ended) {
        if (!copy.landed) land(copy);
        for (int i = 0; i < copy.bytes; ++i) {
            Shadow& cell = copy.shadow[i];
            cell.copying = 0;
            cell.write_epoch = now.epoch;
            cell.write_warp_epoch = now.warp_epoch;
            cell.writer = static_cast<unsigned short>(now.thread);
        }
    }
}

bool CopiesInFlight::none() const {
    return open_.empty() &&
           std::all_of(groups_.begin(), groups_.end(), [](const Group& g) { return g.empty(); });
}

void CopiesInFlight::clear() {
    open_.clear();
    groups_.clear();
}

void AccessCounter::note(int thread, AccessKind kind, const void* site, long long place,
                         int bytes) {
    const Key key{kind, kind == AccessKind::Elements ? site : nullptr};
    Site& known = warps_[static_cast<std::size_t>(thread / 32)][key];
    const std::size_t lane = static_cast<std::size_t>(thread % 32);
    const std::size_t turn = known.made[lane]++;
    while (known.accesses.size() <= turn) {
        known.accesses.emplace_back();
        known.accesses.back().places.fill(-1);
    }
    Access& access = known.accesses[turn];
    access.bytes = std::max(access.bytes, bytes);
    access.places[lane] = place;
}

void AccessCounter::settle(int warp, nk::emulator::Traffic* traffic) {
    std::map<Key, Site>& sites = warps_[static_cast<std::size_t>(warp)];
    for (const auto& [key, site] : sites)
        for (const Access& access : site.accesses) {
            if (access.bytes == 0) continue;
            nk::emulator::Traffic& sum = traffic[static_cast<int>(key.first)];
            ++sum.accesses;
            sum.conflicts += bank_conflicts(access.places, access.bytes);
        }
    sites.clear();
}

int bank_conflicts(const std::array<long long, 32>& places, int bytes) {
    constexpr int kBanks = 32;
    constexpr int kBankBytes = 4;
    const auto at_once = static_cast<std::size_t>(std::min(32, kBanks * kBankBytes / bytes));
    int conflicts = 0;
    for (std::size_t first = 0; first < 32; first += at_once) {
        std::array<std::set<long long>, kBanks> words;
        for (std::size_t lane = first; lane < first + at_once; ++lane)
            if (places[lane] >= 0)
                for (long long word = places[lane] / kBankBytes;
                     word <= (places[lane] + bytes - 1) / kBankBytes; ++word)
                    words[static_cast<std::size_t>(word % kBanks)].insert(word);
        std::size_t most = 1;
        for (const std::set<long long>& bank : words) most = std::max(most, bank.size());
        conflicts += static_cast<int>(most) - 1;
    }
    return conflicts;
}

}  // namespace napkin
