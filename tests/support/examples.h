// The derivations under examples/ and bench/workloads/, as texts.
#pragma once

#include <string>
#include <vector>

namespace napkin::test {

/// A file of examples/ with its diagram: `attention_unfused.drv` belongs to attention.ncd, the
/// longest diagram name that its name begins with.
struct Example {
    std::string name;  ///< of the derivation's file, without its ending
    std::string diagram;
    std::string derivation;
};
/// By name.
[[nodiscard]] std::vector<Example> all_examples();
[[nodiscard]] Example example(const std::string& name);
/// Those of examples/published/, whose diagrams may stand in examples/.
[[nodiscard]] std::vector<Example> published_examples();
/// Those that bench/peers.py measures, by name; each belongs to the diagram of its own name there
/// or in examples/.
[[nodiscard]] std::vector<Example> all_benchmarks();

}  // namespace napkin::test
