// Measurements of derivations on a GPU, as they are recorded under bench/results, with what the
// model knows of their kernels. A row whose kernel is made otherwise by now is struck by a rule of
// struck.jsonl there, which says why; the newest of several rows of one kernel counts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "perfmodel/work.h"

namespace napkin::test {

struct Recorded {
    std::string file;   ///< of bench/results
    std::string group;  ///< a line of the table: `attention`, `products`, `rows`, ...
    std::string workload;
    std::map<std::string, std::int64_t> sizes;
    std::string made;         ///< target and steps, where the record gives them
    double microseconds = 0;  ///< of all kernels, in the order in which they run
    std::vector<KernelWork> kernels;
    bool held_out =
        false;  ///< by a hash of the sizes: the figures of machines were not fitted to it

    [[nodiscard]] std::string text() const;
};

struct Records {
    std::vector<Recorded> rows;
    std::size_t struck = 0;
};
/// Of the machine whose files end with its name, as `h200`: rows of `bench/model-on-gpu`, of
/// `bench/peers.py`, and of the latest run of `bench/examples-on-gpu`.
[[nodiscard]] Records recorded_on(const std::string& machine);

/// Reasons of the rules that strike no row of an H200.
[[nodiscard]] std::vector<std::string> idle_strikes();

}  // namespace napkin::test
