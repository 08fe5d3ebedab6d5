// The texts of codegen/run/benchmarks, with places `@name@` to be filled.
#pragma once

namespace napkin {

[[nodiscard]] const char* benchmark_watch();
[[nodiscard]] const char* benchmark_memory();
[[nodiscard]] const char* benchmark_units();
[[nodiscard]] const char* benchmark_products();
[[nodiscard]] const char* benchmark_group_products();
[[nodiscard]] const char* benchmark_hopper();

}  // namespace napkin
