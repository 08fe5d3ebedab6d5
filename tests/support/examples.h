// The derivations under examples/, as texts.
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

}  // namespace napkin::test
