// How much of a result is compared, and how.
#include "cli/validation.h"

#include <doctest/doctest.h>

#include "diagrams/check.h"
#include "diagrams/evaluate_whole.h"

using namespace napkin;

namespace {

struct Case {
    Diagram diagram;
    Tensors inputs;
    Tensors outputs;
};

Case load(const std::string& text) {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "case.ncd", text);
    REQUIRE(checked.has_value());
    Case result{checked->diagram, random_inputs(checked->diagram, 1), {}};
    for (const ArrayId output : outputs_of(result.diagram))
        result.outputs[output] = make_tensor(result.diagram, output);
    return result;
}

cli::Validation judged(const Case& from) {
    return cli::validate(from.diagram, initial_state(from.diagram), from.inputs, from.outputs,
                         Precision{}, 1, 60);
}

}  // namespace

TEST_CASE("validation: a large product is compared whole, and one wrong element is found") {
    Case product = load(R"(diagram product {
  axis i = 400, j = 400, k = 400
  input A[i, k], B[k, j] : bf16
  output C[i, j] = sum(k) A[i, k] * B[k, j]
})");
    const ArrayId output = outputs_of(product.diagram).front();
    product.outputs = evaluate_whole(product.diagram, product.inputs, {output});
    const cli::Validation right = judged(product);
    CHECK(right.ok());
    CHECK_FALSE(right.sampled());
    CHECK_EQ(right.outputs.front().compared, 400 * 400);
    product.outputs.at(output).values[123457] += 1;
    const cli::Validation wrong = judged(product);
    CHECK_EQ(wrong.outputs.front().failed, 1);
    CHECK_EQ(wrong.outputs.front().worst_index, std::vector<std::int64_t>{308, 257});
}

TEST_CASE("validation: what is too large for every reference is left unchecked") {
    const Case large = load(R"(diagram large {
  axis i = 1000000, j = i
  input A[i], B[j]
  output C = sum(i, j) tanh(A[i] * B[j])
})");
    const cli::Validation validation = judged(large);
    CHECK(validation.unchecked());
    CHECK(validation.ok());
    CHECK_FALSE(validation.judged());
    CHECK_EQ(describe(validation.outputs.front()),
             "C: one element takes the reference 1.0e+12 visits");
}
