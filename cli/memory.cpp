#include "cli/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace napkin::cli {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kKibibyte = 1024;

/// The number after a word in a file of the kernel's, or its first where the word is empty.
double number_in(const char* path, const std::string& word, double otherwise) {
    std::ifstream file(path);
    double value = 0;
    for (std::string each; !word.empty() && each != word;)
        if (!(file >> each)) return otherwise;
    return file >> value ? value : otherwise;
}

}  // namespace

double memory_left() {
    double left = number_in("/proc/meminfo", "MemAvailable:", kUnlimited) * kKibibyte;
    const double most = number_in("/sys/fs/cgroup/memory.max", "", kUnlimited);
    if (most < kUnlimited)
        left = std::min(left, most - number_in("/sys/fs/cgroup/memory.stat", "anon", 0));
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        left = std::min(left, static_cast<double>(limit.rlim_cur) -
                                  number_in("/proc/self/status", "VmSize:", 0) * kKibibyte);
    return left;
}

}  // namespace napkin::cli
