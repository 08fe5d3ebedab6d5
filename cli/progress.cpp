#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/console.h"
#include "cli/numbers.h"

namespace napkin::cli {
Progress::Progress()
    : start_(std::chrono::steady_clock::now()), is_watched_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
    if (width_ > 0) print_talk("\n");
}

void Progress::tell(std::size_t done, std::size_t all, const std::string& what) {
    constexpr std::size_t kWidth = 20;
    if (!is_watched_) return;
    const std::size_t full = all == 0 ? kWidth : std::min(kWidth, kWidth * done / all);
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const std::string line = fmt::format("[{}{}] {} of {} {}, {:.0f} s", std::string(full, '#'),
                                         std::string(kWidth - full, '-'), done, all, what, spent);
    print_talk("\r" + padded(line, width_));
    width_ = line.size();
}

}  // namespace napkin::cli
