// Selections of the largest along a streamed axis find what they find unstreamed: of elements that
// are infinite or no numbers too, of ties, and of rows with fewer finite elements than are
// selected.
#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "tests/derive/programs.h"

namespace napkin::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kLength = 4;
constexpr double kElements[] = {0, 1, kInf, -kInf, kNaN};
constexpr int kRows = 5 * 5 * 5 * 5;

/// Every row there is of four of the elements.
Tensors all_rows(const Diagram& diagram) {
    Tensors inputs = random_inputs(diagram, 1);
    std::vector<double>& values = inputs.at(find_array(diagram, "A").value()).values;
    REQUIRE_EQ(values.size(), kRows * kLength);
    for (int row = 0; row < kRows; ++row)
        for (int i = 0, rest = row; i < kLength; ++i, rest /= 5)
            values[static_cast<std::size_t>(row * kLength + i)] = kElements[rest % 5];
    return inputs;
}

bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

/// The first row in which a state's program finds another selection than the diagram says.
std::string wrong_row(const Diagram& plain, const State& state) {
    const Tensors inputs = all_rows(plain);
    const Result<Tensors> expected = evaluate_outputs(plain, inputs);
    if (!expected) FAIL(rendered(expected.error(), {}));
    const Result<Interpretation> found =
        interpret(state.diagram, program_of(state), all_rows(state.diagram));
    if (!found) FAIL(rendered(found.error(), {}));
    for (const auto& [array, tensor] : *expected) {
        const std::string& name = plain[array].name;
        const Tensor& got = found->outputs.at(find_array(state.diagram, name).value());
        const std::size_t width = tensor.values.size() / kRows;
        for (std::size_t i = 0; i < tensor.values.size(); ++i) {
            if (same(got.values[i], tensor.values[i])) continue;
            std::string row;
            for (std::size_t k = 0; k < kLength; ++k)
                row += fmt::format(
                    " {}",
                    inputs.at(find_array(plain, "A").value()).values[i / width * kLength + k]);
            return fmt::format("{}: {} and not {} at {} of{}", name, got.values[i],
                               tensor.values[i], i % width, row);
        }
    }
    return {};
}

}  // namespace

TEST_CASE("selections: what is streamed or split finds what the whole row has") {
    const std::string head = "diagram g { axis n = 625, m = 4, k = 2\n input A[n, m] : f32\n";
    for (const char* text :
         {" output v[n, k], i[n, k] = topk[m](A[n, m])", " output i[n] : i32 = argmax(m) A[n, m]",
          " output i[n] : i32 = argmin(m) A[n, m]",
          " P[n, m] = softmax[m](A[n, m])\n v[n, k], i[n, k] = topk[m](P[n, m])\n"
          " output w[n, k] = v[n, k]\n output at[n, k] : i32 = i[n, k]",
          " R[n] = sum(m) A[n, m]\n output i[n] : i32 = argmax(m) (A[n, m] + R[n])"})
        for (const char* steps : {"stream m by 1", "stream m by 2", "stream m by 3",
                                  "split-stream m by 2", "split-stream m by 3"}) {
            INFO(text << "; " << steps);
            const Diagram plain = load(head + text + " }");
            CHECK_EQ(wrong_row(plain, derive(plain, fmt::format("fuse all\n{}", steps))), "");
        }
}

TEST_CASE("selections: three of four are selected by chunks of one and two") {
    const Diagram plain = load(
        "diagram g { axis n = 625, m = 4, k = 3\n input A[n, m] : f32\n"
        " output v[n, k], i[n, k] = topk[m](A[n, m]) }");
    for (const char* steps : {"stream m by 1", "stream m by 2", "split-stream m by 3"}) {
        INFO(steps);
        CHECK_EQ(wrong_row(plain, derive(plain, steps)), "");
    }
}

TEST_CASE("selections: an element read at an index that a zero factor changes does not travel") {
    const Diagram plain = load(
        "diagram g { axis n = 4, m = 6, d = 3\n input A[n, m], X[n, d], Y[m, d] : f32\n"
        " T[n, m] = sum(d) X[n, d] * Y[m, d]\n R[n] = relu(sum(m) A[n, m])\n"
        " output b[n] = T[n, argmax(m) (A[n, m] * R[n])] }");
    CHECK_EQ(refusal(plain, "fuse all\nstream m by 2"),
             "no accumulator found: `T`: it reads an element of another chunk along `m`, or at an "
             "index that is not known beforehand; `unfuse b` gives `T` a region of its own, and b "
             "loads it where it reads it");
}

}  // namespace napkin::test
