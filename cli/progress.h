// How far a long command is, where somebody watches.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <thread>

namespace napkin::cli {

/// A bar on standard error while it lives; nothing where that is no terminal.
class Progress {
public:
    enum class Shown {
        WhenTold,
        EverySecond,  ///< for stages that tell nothing for long; what is over before shows nothing
    };
    explicit Progress(Shown shown = Shown::WhenTold);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// `[#####---------------] 2 of 8 timed, best 512 us, 14 s`.
    void tell(std::size_t done, std::size_t all, const std::string& what);

private:
    void draw();
    void draw_every_second(const std::stop_token& stop);

    std::chrono::steady_clock::time_point start_;
    bool is_watched_ = false;
    Shown shown_;
    std::string told_;
    std::size_t width_ = 0;  ///< of what stands there
    std::mutex mutex_;       ///< of the two above
    std::jthread clock_;
};

}  // namespace napkin::cli
