// Work that may fail or be stopped, and must not take everything with it.
#pragma once

#include <functional>

namespace napkin::cli {

/// The exit code of some work; a bug of ours and a lack of memory are reported.
[[nodiscard]] int guarded(const std::function<int()>& work);

/// The same in a process of its own, so that ^C, or a crash, ends the work alone: nothing that it
/// changes in memory is kept. The exit code, or minus the signal that ended it.
[[nodiscard]] int guarded_apart(const std::function<int()>& work);

}  // namespace napkin::cli
