#include "codegen/run/compile_ahead.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace napkin {
namespace {

/// A process that compiles one kernel; negative where there can be none.
pid_t start(const EmittedKernel& kernel, const CompileOptions& options) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    try {
        static_cast<void>(compile(kernel, options));
    } catch (...) {  // whoever needs the kernel compiles it again, and hears of it
        ::_exit(1);
    }
    ::_exit(0);
}

/// Waits for one of these processes and forgets it.
void wait_for_any(std::vector<pid_t>& children) {
    const auto is_over = [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) != 0; };
    while (true) {
        const auto over = std::find_if(children.begin(), children.end(), is_over);
        if (over != children.end()) {
            children.erase(over);
            return;
        }
        constexpr useconds_t kPause = 5000;
        ::usleep(kPause);
    }
}

void stop(std::vector<pid_t>& children) {
    for (const pid_t child : children) ::kill(child, SIGTERM);
    while (!children.empty()) wait_for_any(children);
}

}  // namespace

void compile_ahead(const std::vector<const EmittedKernel*>& kernels, const CompileOptions& options,
                   std::size_t jobs, const CompileProceed& proceed) {
    std::vector<pid_t> children;
    std::size_t started = 0;
    while (started < kernels.size() || !children.empty()) {
        if (proceed && !proceed(started - children.size())) return stop(children);
        if (started < kernels.size() && children.size() < std::max<std::size_t>(jobs, 1)) {
            const pid_t child = start(*kernels[started], options);
            if (child < 0) return stop(children);
            children.push_back(child);
            ++started;
        } else {
            wait_for_any(children);
        }
    }
}

}  // namespace napkin
