// Measurements of derivations on a GPU, as they are recorded under bench/results, with what the
// model knows of their kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "perfmodel/work.h"

namespace napkin::test {

struct Recorded {
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

/// The latest record of every workload and its sizes: of `bench/peers.py` (*-sm_80-h200.jsonl), and
/// of `bench/examples-on-gpu` (*-examples-h200.jsonl).
[[nodiscard]] std::vector<Recorded> recorded_on_h200();

}  // namespace napkin::test
