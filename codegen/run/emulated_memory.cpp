#include "codegen/run/emulated_memory.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace napkin {
namespace {

using nk::emulator::AccessKind;
using nk::emulator::Copy;

void carry_out(const Copy& copy) {
    std::memcpy(copy.to, copy.from, static_cast<std::size_t>(copy.valid));
    std::memset(copy.to + copy.valid, 0, static_cast<std::size_t>(copy.bytes - copy.valid));
}

}  // namespace

void CopiesInFlight::start(const Copy& copy, std::mt19937_64& random) {
    last_ = open_;
    if (random() % 4 == 0)
        carry_out(copy);
    else
        started_.push_back({copy, open_});
}

void CopiesInFlight::commit() {
    groups_.push_back(open_++);
}

std::uint64_t CopiesInFlight::wait(int pending, std::mt19937_64& random) {
    std::uint64_t ended = 0;
    for (; groups_.size() > static_cast<std::size_t>(pending); groups_.pop_front())
        ended = groups_.front();
    land(ended, random);
    settled_ = std::max(settled_, ended);
    return ended;
}

std::uint64_t CopiesInFlight::announce() {
    settled_ = open_;
    return open_++;
}

void CopiesInFlight::land(std::uint64_t number, std::mt19937_64& random) {
    const auto later = std::stable_partition(started_.begin(), started_.end(),
                                             [&](const Started& s) { return s.number <= number; });
    std::shuffle(started_.begin(), later, random);
    std::for_each(started_.begin(), later, [](const Started& s) { carry_out(s.copy); });
    started_.erase(started_.begin(), later);
}

void AccessCounter::note(int thread, AccessKind kind, CallSite site, long long place, int bytes) {
    const Key key{kind, kind == AccessKind::Elements ? site : 0};
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
