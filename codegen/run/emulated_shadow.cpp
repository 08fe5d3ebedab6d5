#include "codegen/run/emulated_shadow.h"

#include <fmt/format.h>

#include <algorithm>

namespace napkin {

void ReaderSets::clear() {
    members_.clear();
    added_.fill({});
}

Readers ReaderSets::add(const std::vector<Epoch>& set) {
    const auto index = static_cast<Readers>(members_.size());
    members_.push_back(static_cast<Epoch>(set.size()));
    members_.insert(members_.end(), set.begin(), set.end());
    return kMostAgents << kCountBits | index;
}

Readers ReaderSets::with(Readers readers, Epoch reader, int thread, const Clocks& clocks) {
    const auto superseded = [&](Epoch other) {
        return agent_of(other) == agent_of(reader) || clocks.ordered(other, thread);
    };
    if (readers == 0) return reader;
    if (!is_set(readers) && superseded(readers)) return reader;
    Added& added = added_[(readers * 31 + reader * 17 + (reader >> kCountBits)) % added_.size()];
    if (added.before == readers && added.reader == reader) return added.after;
    now_.clear();
    if (is_set(readers)) {
        const Epoch* set = members_.data() + index_of(readers);
        for (Epoch i = 1; i <= set[0]; ++i) {
            if (set[i] == reader) return readers;
            if (!superseded(set[i])) now_.push_back(set[i]);
        }
    } else {
        now_.push_back(readers);
    }
    now_.push_back(reader);
    added = {readers, reader, now_.size() == 1 ? reader : add(now_)};
    return added.after;
}

template <class EachReaders>
void ReaderSets::collect(const EachReaders& each) {
    const std::vector<Epoch> old = std::move(members_);
    clear();
    std::unordered_map<Readers, Readers> names;
    each([&](Readers& readers) {
        if (!is_set(readers)) return;
        const auto [name, fresh] = names.try_emplace(readers, 0);
        if (fresh) {
            const auto first = old.begin() + static_cast<std::ptrdiff_t>(index_of(readers)) + 1;
            now_.assign(first, first + static_cast<std::ptrdiff_t>(first[-1]));
            name->second = add(now_);
        }
        readers = name->second;
    });
}

SharedShadow::SharedShadow(const Clocks& clocks, long long bytes)
    : clocks_(clocks),
      units_(static_cast<std::size_t>((bytes + kUnit - 1) / kUnit)),
      split_(units_.size()),
      bytes_(units_.size() * kUnit) {}

void SharedShadow::clear() {
    std::fill(units_.begin(), units_.end(), Cell{});
    std::fill(split_.begin(), split_.end(), false);
    sets_.clear();
    exhausted_ = false;
}

void SharedShadow::split(std::size_t unit) {
    split_[unit] = true;
    std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(unit) * kUnit, kUnit, units_[unit]);
}

void SharedShadow::collect() {
    sets_.collect([&](const auto& keep) {
        for (std::size_t unit = 0; unit < units_.size(); ++unit) {
            if (!split_[unit])
                keep(units_[unit].readers);
            else
                for (std::size_t i = 0; i < kUnit; ++i) keep(bytes_[unit * kUnit + i].readers);
        }
    });
    if (sets_.full()) exhausted_ = true;
}

std::optional<Conflict> SharedShadow::check(const Cell& cell, const SharedAccess& access) const {
    using enum Conflict::What;
    // A product is all its threads': what one of them wrote the others must know too.
    const auto ordered = [&](Epoch event) {
        return access.by == SharedAccess::By::Product ? clocks_.known(event, access.thread)
                                                      : clocks_.ordered(event, access.thread);
    };
    if (cell.written == 0 && !access.writes()) return Conflict{NeverWritten};
    if (cell.written != 0) {
        if (!ordered(cell.written)) return Conflict{Wrote, cell.written};
        if (access.asynchronous() && !clocks_.fenced(cell.written, access.thread))
            return Conflict{Unfenced, cell.written};
    }
    if (!access.writes()) return std::nullopt;
    const Epoch reader = sets_.unordered(cell.readers, ordered);
    if (reader != 0) return Conflict{Reads, reader};
    return std::nullopt;
}

std::optional<Conflict> SharedShadow::touch(Cell& cell, const SharedAccess& access) {
    if (std::optional<Conflict> conflict = check(cell, access)) return conflict;
    if (access.writes())
        cell = {access.as, 0};
    else if (cell.readers != access.as)
        cell.readers = sets_.with(cell.readers, access.as, access.thread, clocks_);
    return std::nullopt;
}

std::optional<Conflict> SharedShadow::touch(const SharedAccess& access) {
    if (sets_.full()) collect();
    const long long end = access.place + access.bytes;
    for (long long at = access.place; at < end;) {
        const auto unit = static_cast<std::size_t>(at / kUnit);
        const long long first = at % kUnit;
        const long long last = std::min(kUnit, first + end - at);
        const bool whole = last - first == kUnit;
        at += last - first;
        if (whole && !split_[unit]) {
            std::optional<Conflict> conflict = touch(units_[unit], access);
            if (conflict) conflict->place = static_cast<long long>(unit) * kUnit;
            if (conflict) return conflict;
            continue;
        }
        if (std::optional<Conflict> conflict = touch_bytes(unit, first, last, access))
            return conflict;
        if (!whole || !access.writes()) continue;
        split_[unit] = false;
        units_[unit] = bytes_[unit * kUnit];
    }
    return std::nullopt;
}

/// Neighbours are mostly alike: what was found of one holds for the next.
std::optional<Conflict> SharedShadow::touch_bytes(std::size_t unit, long long first, long long last,
                                                  const SharedAccess& access) {
    if (!split_[unit]) split(unit);
    Cell before;
    Cell after;
    for (long long i = first; i < last; ++i) {
        Cell& cell = bytes_[unit * kUnit + static_cast<std::size_t>(i)];
        if (i > first && cell == before) {
            cell = after;
            continue;
        }
        before = cell;
        std::optional<Conflict> conflict = touch(cell, access);
        if (conflict) conflict->place = static_cast<long long>(unit) * kUnit + i;
        if (conflict) return conflict;
        after = cell;
    }
    return std::nullopt;
}

std::optional<Conflict> SharedShadow::touch(const SharedAccess& access,
                                            std::span<const long long> places) {
    Cell before;
    Cell after;
    bool known = false;  // what becomes of units that are as `before`
    for (const long long place : places) {
        const auto unit = static_cast<std::size_t>(place / kUnit);
        if (known && !split_[unit] && units_[unit] == before) {
            units_[unit] = after;
            continue;
        }
        SharedAccess part = access;
        part.place = place;
        part.bytes = kUnit;
        before = units_[unit];
        known = !split_[unit];
        if (std::optional<Conflict> conflict = touch(part)) return conflict;
        after = units_[unit];
        known = known && !sets_.full();  // sets of readers keep their names
    }
    return std::nullopt;
}

Epoch SharedShadow::written(long long place) const {
    const auto unit = static_cast<std::size_t>(place / kUnit);
    return split_[unit] ? bytes_[static_cast<std::size_t>(place)].written : units_[unit].written;
}

std::string explain(const Conflict& conflict, const SharedAccess& access, const char* name,
                    long long index, const Clocks& clocks) {
    using By = SharedAccess::By;
    using What = Conflict::What;
    const auto subject = [&]() -> std::string {
        switch (access.by) {
        case By::Read: return "read of ";
        case By::Write: return "write to ";
        case By::Copy: return "write to ";
        case By::BulkLoad: return "bulk copy into ";
        case By::BulkStore: return "bulk store of ";
        case By::Product: return "a product's read of ";
        }
        return "";
    };
    const auto object = [&]() -> std::string {
        if (conflict.what == What::NeverWritten) return "shared memory that was never written";
        if (conflict.what == What::Unfenced) return "what was written without fence_async since";
        const bool wrote = conflict.what == What::Wrote;
        switch (clocks.kind(conflict.other)) {
        case AgentKind::Thread:
            return wrote ? "what another thread wrote without a barrier"
                         : "what another thread reads without a barrier";
        case AgentKind::Copies:
        case AgentKind::BulkLoads: return "what a copy in flight writes";
        case AgentKind::BulkStores: return "what a bulk store in flight reads";
        case AgentKind::Products: return "what a product in flight reads";
        }
        return "";
    };
    const bool race = conflict.other != 0 && conflict.what != What::Unfenced &&
                      clocks.kind(conflict.other) == AgentKind::Thread;
    std::string text = (race ? "race: " : "") + subject() + object();
    if (access.by == By::Product)
        text += fmt::format(": byte {} of shared memory", conflict.place);
    else if (access.asynchronous())
        text += fmt::format(": `{}`, byte {} of shared memory", name, conflict.place);
    else
        text += fmt::format(": `{}` at {}", name, index);
    if (conflict.other != 0) text += fmt::format(" ({})", clocks.name(conflict.other));
    return text;
}

void SharedOrder::note_watched(const SharedAccess& access) {
    if (watch != nullptr && watch->event == access.as && watch->place >= access.place &&
        watch->place < access.place + access.bytes)
        watch->seen = kernel_place();
}

bool SharedOrder::touch(const SharedAccess& access) {
    if (!checked) return true;
    note_watched(access);
    conflict = shadow.touch(access);
    return !conflict && !clocks.exhausted() && !shadow.exhausted();
}

bool SharedOrder::touch(const SharedAccess& access, std::span<const long long> places) {
    if (!checked) return true;
    SharedAccess part = access;
    part.bytes = 16;
    if (watch != nullptr)
        for (const long long place : places) {
            part.place = place;
            note_watched(part);
        }
    conflict = shadow.touch(access, places);
    return !conflict && !clocks.exhausted() && !shadow.exhausted();
}

std::string SharedOrder::wrong(const SharedAccess& access, const char* name,
                               long long index) const {
    if (conflict) return explain(*conflict, access, name, index, clocks);
    return "the block synchronises more often than the emulator counts";
}

}  // namespace napkin
