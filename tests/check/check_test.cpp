// Checked diagrams of whole files, as text.
#include "diagrams/check.h"

#include <doctest/doctest.h>

#include "tests/golden.h"

namespace napkin {

TEST_CASE("the attention example checks to five primitive statements") {
    SourceMap sources;
    const Result<Checked> checked =
        load_diagram(sources, "attention.ncd",
                     test::read_text(std::filesystem::path(NAPKIN_EXAMPLES_DIR) / "attention.ncd"));
    REQUIRE(checked.has_value());
    CHECK(checked->warnings.list.empty());
    verify(checked->diagram);
    test::check_golden("check/attention.txt", print(checked->diagram));
}

TEST_CASE("of a condition that nobody wrote there is no warning") {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "scan.ncd", R"(diagram before {
  axis t = 1, c = 4
  input X[t, c] : f32
  output Y[t, c] : f32 = exclusive_scan[t] sum X[t, c]
})");
    REQUIRE(checked.has_value());
    CHECK(checked->warnings.list.empty());
}

TEST_CASE("integers that are inferred are as wide as inputs may make them") {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(
        sources, "wide.ncd", R"(monoid pair(n, s; m, t) = (n + m, s + t) identity (0, 0)
diagram wide {
  axis i = 8, j = 4, r = 2, z = 3 dynamic
  input A[i, j] : i32, B[i, j] : i8, R[z] : i8, L[i, j] : i64
  output sum32[i] = sum(j) A[i, j]
  output sum8[i] = sum(j) B[i, j]
  output most[i] = max(j) A[i, j]
  output part[i, j] = A[i, j] // 4
  output next[i, j] = A[i, j] + 1
  output count[i] = sum(j) if A[i, j] > 3 then 1 else 0
  output place[i, j] = i * size(j) + j
  output product8[i] = prod(j) B[i, j]
  output said[i] : i32 = sum(j) A[i, j]
  output any_size[z, i] = z * size(i) + i
  output any_count = sum(z) R[z]
  output of_any_size[z, i] = any_size[z, i] // 1000
  output best[i, r], at[i, r] = topk[j](L[i, j])
  output pairs[i], sums[i] = pair(j) (1, A[i, j])
})");
    REQUIRE(checked.has_value());
    for (const auto& [name, type] : {std::pair("sum32", ElementType::I64),
                                     {"sum8", ElementType::I32},
                                     {"most", ElementType::I32},
                                     {"part", ElementType::I32},
                                     {"next", ElementType::I64},
                                     {"count", ElementType::I32},
                                     {"place", ElementType::I32},
                                     {"product8", ElementType::I64},
                                     {"any_size", ElementType::I64},
                                     {"any_count", ElementType::I64},
                                     {"of_any_size", ElementType::I32},
                                     {"best", ElementType::I64},
                                     {"at", ElementType::I32},
                                     {"sums", ElementType::I64},
                                     {"said", ElementType::I32}}) {
        INFO(std::string(name));
        CHECK_EQ(checked->diagram[*find_array(checked->diagram, name)].type, type);
    }
}

}  // namespace napkin
