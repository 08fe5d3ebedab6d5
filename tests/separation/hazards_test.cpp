// Forms that lose their digits or their range as they are written. The tool says so with numbers
// and derives the safe form: on inputs that spoil the one, computed in float32 as it is written,
// the other stays within a small error.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

struct Unsafe {
    std::string form;  ///< a file of tests/separation/forms/
    std::string safe;  ///< the form whose value is the reference
    std::string input;
    double factor = 1;
    double offset = 0;
    double lost = 0.1;  ///< the least error of the form as it is written
};

const std::vector<Unsafe>& unsafe_forms() {
    static const std::vector<Unsafe> kForms = {
        {"variance_single_pass", "variance_two_pass", "X", 1, 1e4},
        {"variance_single_pass", "variance_two_pass", "X", 1, -1e4},
        {"third_moment_single_pass", "third_moment_two_pass", "X", 1, 1e4},
        {"covariance_single_pass", "covariance_two_pass", "X", 1, 1e6},
        {"layernorm_linear_raw", "layernorm_linear", "X", 1, 1e4},
        {"attention_backward_queries_raw", "attention_backward_queries", "V", 1, 1e5, 0.01},
        {"attention_backward_queries_raw", "attention_backward_queries", "V", 1, -1e5, 0.01},
        {"entropy_through_log_sum_exp", "entropy", "S", 1, 1e6, 0.02},
        {"sink_share", "sink_share_in_maximum", "z", 1e4, 0},
        {"sink_share", "sink_share_in_maximum", "z", -1e4, 0},
        {"gaussian_regression", "gaussian_regression_by_softmax", "Q", 1, 20},
        {"gaussian_regression_moments", "gaussian_regression_moments_by_softmax", "Q", 1, 20},
    };
    return kForms;
}

Diagram form_of(const std::string& name) {
    return load(read_text(std::filesystem::path(NAPKIN_FORMS_DIR) / (name + ".ncd")));
}

/// The largest error relative to the largest value; infinite where something is no number.
double error_of(const Diagram& from, const Tensors& expected, const Diagram& to,
                const Tensors& got) {
    double worst = 0;
    for (const auto& [array, want] : expected) {
        const Tensor& found = got.at(find_array(to, from[array].name).value());
        double largest = 1e-6;
        for (const double value : want.values) largest = std::max(largest, std::abs(value));
        for (std::size_t i = 0; i < want.values.size(); ++i) {
            const double error = std::abs(found.values[i] - want.values[i]) / largest;
            worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
        }
    }
    return worst;
}

Tensors in_float32(const State& state, const Tensors& inputs) {
    const Result<Interpretation> run =
        interpret(state.diagram, program_of(state), inputs, Arithmetic::Storage);
    REQUIRE(run.has_value());
    return run->outputs;
}

}  // namespace

TEST_CASE("hazards: what is flagged is lost as it is written, and kept as it is streamed") {
    for (const Unsafe& each : unsafe_forms()) {
        const Diagram diagram = form_of(each.form);
        const Diagram safe = form_of(each.safe);
        const std::string axis = diagram[diagram.axes.size() > 1 ? AxisId{1} : AxisId{0}].name;
        Tensors inputs = random_inputs(diagram, 5);
        for (double& value : inputs.at(find_array(diagram, each.input).value()).values)
            value = static_cast<float>(value * each.factor + each.offset);
        Tensors there;
        for (const auto& [array, tensor] : inputs)
            there[find_array(safe, diagram[array].name).value()] = tensor;
        const Tensors expected = evaluate_outputs(safe, there).value();
        const State plain = derive(diagram, "fuse all");
        const State streamed = derive(diagram, "fuse all\nstream " + axis + " by 4");
        const double lost = error_of(safe, expected, diagram, in_float32(plain, inputs));
        const double kept = error_of(safe, expected, diagram, in_float32(streamed, inputs));
        CAPTURE(each.form);
        CAPTURE(each.offset);
        CAPTURE(each.factor);
        // A sink far below the maximum does no harm; one far above it does.
        if (each.factor > 0) CHECK(lost > each.lost);
        CHECK(kept < 0.005);
    }
}

TEST_CASE("hazards: their messages") {
    std::string text;
    std::string last;
    for (const Unsafe& each : unsafe_forms()) {
        if (each.form == last) continue;
        last = each.form;
        const Diagram diagram = form_of(each.form);
        const std::string axis = diagram[AxisId{1}].name;
        const State state = derive(diagram, "fuse all\nstream " + axis + " by 4");
        text += "== " + each.form + "\n";
        for (const RegionProgram& region : program_of(state).regions)
            for (const Obligation& obligation : region.accumulator->obligations)
                text += print(obligation) + "\n";
    }
    check_golden("separation/hazards.txt", text);
}

TEST_CASE("hazards: a divisor that rounding or a quotient hides from the accumulator") {
    const std::vector<std::string> bodies = {
        "W[i, x] : f32 = exp(-(X[i] - Z[x]) ^ 2)\n"
        "output O[i] = (sum(x) W[i, x] * V[x]) / sum(x) W[i, x]",
        "W[i, x] = exp(-(X[i] - Z[x]) ^ 2)\nn[i] : f32 = sum(x) W[i, x]\n"
        "output O[i] = (sum(x) W[i, x] * V[x]) / n[i]",
        "W[i, x] = exp(-(X[i] - Z[x]) ^ 2)\nn[i] : f32 = 1 + sum(x) W[i, x]\n"
        "output O[i] = (sum(x) W[i, x] * V[x]) / n[i]",
        "W[i, x] = 1 / (1 + exp(-X[i] * Z[x]))\n"
        "output O[i] = (sum(x) W[i, x] * V[x]) / sum(x) W[i, x]",
        "W[i, x] = 1 / (1 + exp(-(X[i] - Z[x]) ^ 2))\n"
        "output O[i] = (sum(x) W[i, x] * V[x]) / sum(x) W[i, x]",
    };
    std::string text;
    for (const std::string& body : bodies) {
        const Diagram diagram =
            load("diagram d {\naxis i = 3, x = 12\ninput X[i], Z[x], V[x]\n" + body + "\n}");
        const State state = derive(diagram, "fuse all\nstream x by 4");
        text += "== " + body + "\n";
        const TileProgram program = program_of(state);
        for (const Obligation& each : program.regions.front().accumulator->obligations)
            if (each.hazard == Hazard::Underflow) text += print(each) + "\n";
    }
    check_golden("separation/hidden_divisors.txt", text);
}

TEST_CASE("hazards: a weight beside a sum of exponentials may be 0") {
    const std::vector<std::string> divisors = {
        "1", "eps", "exp(w[q])", "1 + w[q] ^ 2", "w[q]", "w[q] * exp(w[q])", "sum(x) V[x]"};
    std::string text;
    for (const std::string& divisor : divisors) {
        const Diagram diagram = load(
            "diagram d {\naxis q = 3, x = 12\ninput S[q, x], V[x], w[q]\nparam eps : f32 = 1e-5\n"
            "output O[q] = (sum(x) exp(S[q, x]) * V[x]) / (" +
            divisor + " + sum(x) exp(S[q, x]))\n}");
        text += "== " + divisor + "\n";
        const TileProgram program = program_of(derive(diagram, "stream x by 4"));
        for (const Obligation& each : program.regions.front().accumulator->obligations)
            if (each.hazard == Hazard::Underflow) text += print(each) + "\n";
    }
    check_golden("separation/weights_beside.txt", text);
}

TEST_CASE("hazards: high powers of a mean do not overflow where those of the values do not") {
    const Diagram diagram = load(R"(diagram moments {
  axis q = 2, x = 4096
  input X[q, x]
  mu[q] = mean[x](X[q, x])
  output O[q] = mean[x]((X[q, x] - mu[q]) ^ 6)
})");
    Tensors inputs = random_inputs(diagram, 5);
    // The mean of the first chunk is 1000, that of all is 4.
    std::vector<double>& values = inputs.begin()->second.values;
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = i % 4096 < 8 || i % 2 == 0 ? 2000 : -2000;
    const Tensors expected = evaluate_outputs(diagram, inputs).value();
    const State streamed = derive(diagram, "fuse all\nstream x by 16");
    CHECK(error_of(diagram, expected, diagram, in_float32(streamed, inputs)) < 1e-3);
}

TEST_CASE("hazards: a quotient of one value at two places comes before what it multiplies") {
    const Diagram diagram = load(R"(diagram decay {
  axis t = 23, u = t, c = 3
  input P[t], X[t, c]
  output H[t, c] = sum(u) (if u <= t then P[t] / P[u] else 0) * X[u, c]
})");
    Tensors inputs = random_inputs(diagram, 5);
    std::vector<double>& product = inputs.at(find_array(diagram, "P").value()).values;
    for (std::size_t t = 0; t < product.size(); ++t)
        product[t] = static_cast<float>(std::pow(10, -1.5 * static_cast<double>(t)));
    for (double& value : inputs.at(find_array(diagram, "X").value()).values) value *= 1e10;
    const Tensors expected = evaluate_outputs(diagram, inputs).value();
    const State streamed = derive(diagram, "stream u by 4");
    CHECK(error_of(diagram, expected, diagram, in_float32(streamed, inputs)) < 1e-6);
}

}  // namespace napkin::test
