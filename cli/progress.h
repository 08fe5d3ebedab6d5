// How far a long command is, where somebody watches.
#pragma once

#include <chrono>
#include <string>

namespace napkin::cli {

/// A bar on standard error while it lives; nothing where that is no terminal.
class Progress {
public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// `[#####---------------] 2 of 8 timed, best 512 us, 14 s`.
    void tell(std::size_t done, std::size_t all, const std::string& what);

private:
    std::chrono::steady_clock::time_point start_;
    bool is_watched_ = false;
    std::size_t width_ = 0;  ///< of what stands there
};

}  // namespace napkin::cli
