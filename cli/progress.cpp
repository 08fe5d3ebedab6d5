#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>

#include "cli/console.h"
#include "cli/numbers.h"

namespace napkin::cli {
Progress::Progress(Shown shown)
    : start_(std::chrono::steady_clock::now()),
      is_watched_(::isatty(STDERR_FILENO) != 0),
      shown_(shown) {
    if (is_watched_ && shown == Shown::EverySecond)
        clock_ = std::jthread([this](const std::stop_token& stop) { draw_every_second(stop); });
}

Progress::~Progress() {
    clock_ = {};
    if (width_ > 0) print_talk("\n");
}

void Progress::tell(std::size_t done, std::size_t all, const std::string& what) {
    constexpr std::size_t kWidth = 20;
    if (!is_watched_) return;
    const std::size_t full = all == 0 ? kWidth : std::min(kWidth, kWidth * done / all);
    const std::lock_guard lock(mutex_);
    told_ = fmt::format("[{}{}] {} of {} {}", std::string(full, '#'),
                        std::string(kWidth - full, '-'), done, all, what);
    if (shown_ == Shown::WhenTold) draw();
}

void Progress::draw() {
    if (told_.empty()) return;
    const double spent =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const std::string line = fmt::format("{}, {:.0f} s", told_, spent);
    print_talk("\r" + padded(line, width_));
    width_ = line.size();
}

void Progress::draw_every_second(const std::stop_token& stop) {
    std::condition_variable_any ended;
    std::unique_lock lock(mutex_);
    const auto is_over = [&] { return stop.stop_requested(); };
    while (!ended.wait_for(lock, stop, std::chrono::seconds(1), is_over)) draw();
}

}  // namespace napkin::cli
