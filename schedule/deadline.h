// When a search has to end.
#pragma once

#include <functional>
#include <utility>

namespace napkin {

/// Asked by all that may take long, which then ends with what it has.
class Deadline {
public:
    Deadline() = default;  ///< never
    /// Past once the clock says so, and from then on.
    explicit Deadline(std::function<bool()> clock) : clock_(std::move(clock)) {}
    /// So many seconds from now.
    [[nodiscard]] static Deadline in(double seconds);
    [[nodiscard]] bool is_past() const { return clock_ && clock_(); }
    /// Whether it may ever be past.
    [[nodiscard]] bool is_set() const { return static_cast<bool>(clock_); }

private:
    std::function<bool()> clock_;
};

}  // namespace napkin
