// A scheduled program run for given numbers of chunks, event by event.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/program.h"

namespace napkin::schedule {

/// A place before an item: the body, counted in the order of the text, and the item's index there
/// among those that are no Sync.
struct Site {
    std::size_t body = 0;
    std::size_t item = 0;
    auto operator<=>(const Site&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// What happens, or, where there is no item, a place where a Sync could stand.
struct Event {
    const Item* item = nullptr;  ///< an operation, a Sync or a Commit
    /// Where it is in each body around it, outermost first, and in which turn of that body. The
    /// region's turns are tiles; a loop's turns before its first chunk are negative.
    std::vector<Site> sites;
    std::vector<std::int64_t> turns;
    std::int64_t chunk = 0;  ///< of the innermost loop, on which an operation works
};

/// The body in which each buffer is written, as sites count them: a ring turns with its loop. The
/// region's own where nothing writes it.
[[nodiscard]] std::vector<std::size_t> owners_of(const Program& program);
/// The chunk of the owner's loop on which an event works.
[[nodiscard]] std::int64_t chunk_of(const Event& event, std::size_t owner);

/// The largest lead of a body's copies and of its other operations.
struct Leads {
    std::int64_t copies = 0;
    std::int64_t others = 0;
};
[[nodiscard]] Leads leads_of(const Program& program, const Body& body);

/// How many chunks loops have in a run.
struct Trips {
    std::int64_t chunks = 0;
    std::int64_t inner = 0;  ///< of loops inside others
};
/// Every event of a run, for two tiles where a block takes several. Before a loop's first turn the
/// kernel makes the copies that lead it, then whole turns of the other operations that do.
[[nodiscard]] std::vector<Event> trace(const Program& program, Trips trips);

}  // namespace napkin::schedule
