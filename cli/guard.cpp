#include "cli/guard.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "cli/console.h"

namespace napkin::cli {

int guarded(const std::function<int()>& work) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        print_talk("napkin: out of memory; `--set` makes a diagram smaller\n");
        return kUserInput;
    } catch (const std::exception& bug) {
        print_talk(std::string("napkin: internal error: ") + bug.what() +
                   "\nThis is a bug of napkin, not of your input. Please report it with the "
                   "command line and the files that lead here.\n");
        return kBug;
    }
}

int guarded_apart(const std::function<int()>& work) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child < 0) return guarded(work);
    if (child == 0) {
        std::signal(SIGINT, SIG_DFL);
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        const int code = guarded(work);
        std::fflush(stdout);
        ::_exit(code);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace napkin::cli
