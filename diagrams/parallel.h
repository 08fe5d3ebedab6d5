// Ranges of a long loop, on all processors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace napkin {

/// Calls `work(begin, end)` for ranges that together are 0 to `count`, several at a time where
/// there are more than `least` elements for each. `work` must not throw, and what it writes for
/// one element must not be written for another.
template <class Work>
void for_ranges(std::int64_t count, std::int64_t least, const Work& work) {
    const std::int64_t most = std::max<std::int64_t>(std::thread::hardware_concurrency(), 1);
    const std::int64_t ranges = std::clamp<std::int64_t>(count / least, 1, most);
    std::vector<std::thread> threads;
    for (std::int64_t i = 1; i < ranges; ++i)
        threads.emplace_back([&work, begin = count * i / ranges, end = count * (i + 1) / ranges] {
            work(begin, end);
        });
    work(std::int64_t{0}, count / ranges);
    for (std::thread& thread : threads) thread.join();
}

}  // namespace napkin
