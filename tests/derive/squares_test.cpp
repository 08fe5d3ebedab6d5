// distribute on squares and products of sums: what comes out of distances, what is refused, and
// that any such form is proved.
#include <random>
#include <sstream>

#include "diagrams/compare.h"
#include "tests/derive/programs.h"
#include "tests/support/trial.h"

namespace napkin::test {

namespace {

constexpr const char* kDistances = R"(diagram distances {
  axis i = 6, j = 5, d = 7, l = i, n = 2
  input X[i, d], Y[j, d], w[d], h : f32
  input u[i], v[j] : f32
  input A[n, i, d], B[n, j, d] : bf16
  input a[i, d], b[j, d] : i8
  input p[i, d], q[j, d] : i32
  m[i] = (sum(d) X[i, d]) / size(d)
  k[i] = max(d) if d < i then X[i, d] else -inf
  T[i, j, d] = X[i, d] - Y[j, d]
  R[i, j, d] : bf16 = X[i, d] - Y[j, d]
  output D[i, j] = sum(d) (X[i, d] - Y[j, d]) ^ 2
  output Named[i, j] = sum(d) T[i, j, d] * T[i, j, d]
  output Weighed[i, j] = sum(d) w[d] * (X[i, d] - Y[j, d]) ^ 2
  output Batched[n, i, j] = sum(d) (A[n, i, d] - B[n, j, d]) ^ 2
  output Self[i, l] = sum(d) (X[i, d] - X[l, d]) ^ 2
  output Scaled[i, j] = sum(d) (X[i, d] - h * Y[j, d]) ^ 2
  output Shifted[i, j] = sum(d) (X[i, d] - Y[j, d] + 3) ^ 2
  output Halved[i, j] = sum(d) ((X[i, d] - Y[j, d]) / 4) ^ 2
  output Product[i, j] = sum(d) (X[i, d] + u[i]) * (Y[j, d] - v[j])
  output Signs[i, j] = sum(d) (X[i, d] + Y[j, d]) * (X[i, d] - Y[j, d])
  output All = sum(i, j, d) (X[i, d] - Y[j, d]) ^ 2
  output Whole[i, j] = sum(d) (a[i, d] - b[j, d]) ^ 2
  output Mixed[i, j] = sum(d) (X[i, d] - b[j, d]) ^ 2
  output Prefix[i, j, d] = scan[d] sum (X[i, d] - Y[j, d]) ^ 2
  output Positive[i, j] = sum(d) (exp(X[i, d]) + exp(Y[j, d])) ^ 2
  output Root[i, j] = sqrt(sum(d) (X[i, d] - Y[j, d]) ^ 2)
  output Nearest[i] = argmin(j) sum(d) (X[i, d] - Y[j, d]) ^ 2
  output Square[i, j] = (u[i] - v[j]) ^ 2
  output Rounded[i, j] = sum(d) R[i, j, d] ^ 2
  output Variance[i] = sum(d) (X[i, d] - m[i]) ^ 2
  output Moved[i] = sum(d) (X[i, d] - 3) ^ 2
  output Cube[i, j] = sum(d) (X[i, d] - Y[j, d]) ^ 3
  output Absolute[i, j] = sum(d) abs(X[i, d] - Y[j, d])
  output Masked[i, j] = sum(d) (k[i] - Y[j, d]) ^ 2
  output Endless[i, j] = sum(d) ((if d < i then X[i, d] else inf) - Y[j, d]) ^ 2
  output Wide[i, j] = sum(d) (p[i, d] - q[j, d]) ^ 2
  output Shared[i, j] = sum(d) (u[i] * X[i, d] - v[j] * X[i, d] + Y[j, d]) ^ 2
  output Most[i, j] = sum(d) (X[i, d] + Y[j, d] + w[d] + u[i] + v[j] + h + 1 + exp(X[i, d]) + exp(Y[j, d])) ^ 2
})";

/// What defines an array and what `distribute` made of it, a line each, types but f32 with it.
std::string lines_about(const State& state, const std::string& name) {
    std::istringstream text(print(state.diagram));
    std::string found = "\n";
    for (std::string line; std::getline(text, line);) {
        if (line.rfind("output ", 0) == 0) line = line.substr(7);
        const std::string array = line.substr(0, line.find_first_of("[ "));
        if (array != name && array.rfind(name + "_", 0) != 0) continue;
        if (const std::size_t type = line.find(" : f32"); type != std::string::npos)
            line.erase(type, 6);
        found += line + "\n";
    }
    return found;
}

struct Multiplied {
    const char* name;
    const char* text;
    bool cancels = true;
};

const std::vector<Multiplied> kMultiplied = {
    {"D", R"(
D_1[i] = sum(d) X[i, d] ^ 2
D_2[i, j] = sum(d) X[i, d] * Y[j, d]
D_3[j] = sum(d) Y[j, d] ^ 2
D[i, j] = D_1[i] - D_2[i, j] * 2 + D_3[j]
)"},
    {"Named", R"(
Named_1[i] = sum(d) X[i, d] ^ 2
Named_2[i, j] = sum(d) X[i, d] * Y[j, d]
Named_3[j] = sum(d) Y[j, d] ^ 2
Named[i, j] = Named_1[i] - Named_2[i, j] * 2 + Named_3[j]
)"},
    {"Weighed", R"(
Weighed_1[i] = sum(d) w[d] * X[i, d] ^ 2
Weighed_2[i, j] = sum(d) w[d] * X[i, d] * Y[j, d]
Weighed_3[j] = sum(d) w[d] * Y[j, d] ^ 2
Weighed[i, j] = Weighed_1[i] - Weighed_2[i, j] * 2 + Weighed_3[j]
)"},
    {"Batched", R"(
Batched_1[n, i] = sum(d) A[n, i, d] ^ 2
Batched_2[n, i, j] = sum(d) A[n, i, d] * B[n, j, d]
Batched_3[n, j] = sum(d) B[n, j, d] ^ 2
Batched[n, i, j] = Batched_1[n, i] - Batched_2[n, i, j] * 2 + Batched_3[n, j]
)"},
    {"Self", R"(
Self_1[i] = sum(d) X[i, d] ^ 2
Self_2[i, l] = sum(d) X[i, d] * X[l, d]
Self_3[l] = sum(d) X[l, d] ^ 2
Self[i, l] = Self_1[i] - Self_2[i, l] * 2 + Self_3[l]
)"},
    {"Scaled", R"(
Scaled_1[i] = sum(d) X[i, d] ^ 2
Scaled_2[i, j] = sum(d) X[i, d] * Y[j, d]
Scaled_3[j] = sum(d) Y[j, d] ^ 2
Scaled[i, j] = Scaled_1[i] - h * Scaled_2[i, j] * 2 + h ^ 2 * Scaled_3[j]
)"},
    {"Shifted", R"(
Shifted_1[i] = sum(d) X[i, d] ^ 2
Shifted_2[i, j] = sum(d) X[i, d] * Y[j, d]
Shifted_3[i] = sum(d) X[i, d]
Shifted_4[j] = sum(d) Y[j, d] ^ 2
Shifted_5[j] = sum(d) Y[j, d]
Shifted[i, j] = Shifted_1[i] - Shifted_2[i, j] * 2 + Shifted_3[i] * 6 + Shifted_4[j] - Shifted_5[j] * 6 + size(d) * 9
)"},
    {"Halved", R"(
Halved_1[i] = sum(d) X[i, d] ^ 2
Halved_2[i, j] = sum(d) X[i, d] * Y[j, d]
Halved_3[j] = sum(d) Y[j, d] ^ 2
Halved[i, j] = Halved_1[i] * 0.0625 - Halved_2[i, j] * 0.125 + Halved_3[j] * 0.0625
)"},
    {"Product", R"(
Product_1[i, j] = sum(d) X[i, d] * Y[j, d]
Product_2[i] = sum(d) X[i, d]
Product_3[j] = sum(d) Y[j, d]
Product[i, j] = Product_1[i, j] - v[j] * Product_2[i] + u[i] * Product_3[j] - u[i] * v[j] * size(d)
)"},
    {"Signs", R"(
Signs_1[i] = sum(d) X[i, d] ^ 2
Signs_2[j] = sum(d) Y[j, d] ^ 2
Signs[i, j] = Signs_1[i] - Signs_2[j]
)"},
    {"All", R"(
All_1 = sum(i, d) X[i, d] ^ 2
All_2 = sum(i, j, d) X[i, d] * Y[j, d]
All_3 = sum(j, d) Y[j, d] ^ 2
All = size(j) * All_1 - All_2 * 2 + size(i) * All_3
)"},
    {"Whole", R"(
Whole_1[i] : i64 = sum(d) a[i, d] ^ 2
Whole_2[i, j] : i64 = sum(d) a[i, d] * b[j, d]
Whole_3[j] : i64 = sum(d) b[j, d] ^ 2
Whole[i, j] : i32 = Whole_1[i] - Whole_2[i, j] * 2 + Whole_3[j]
)",
     false},
    {"Mixed", R"(
Mixed_1[i] = sum(d) X[i, d] ^ 2
Mixed_2[i, j] = sum(d) X[i, d] * b[j, d]
Mixed_3[j] : i64 = sum(d) b[j, d] ^ 2
Mixed[i, j] = Mixed_1[i] - Mixed_2[i, j] * 2 + Mixed_3[j]
)"},
    {"Prefix", R"(
Prefix_1[i, d] = scan[d] sum X[i, d] ^ 2
Prefix_2[i, j, d] = scan[d] sum X[i, d] * Y[j, d]
Prefix_3[j, d] = scan[d] sum Y[j, d] ^ 2
Prefix[i, j, d] = Prefix_1[i, d] - Prefix_2[i, j, d] * 2 + Prefix_3[j, d]
)"},
    {"Positive", R"(
Positive_1[i] = sum(d) exp(X[i, d]) ^ 2
Positive_2[i, j] = sum(d) exp(X[i, d]) * exp(Y[j, d])
Positive_3[j] = sum(d) exp(Y[j, d]) ^ 2
Positive[i, j] = Positive_1[i] + Positive_2[i, j] * 2 + Positive_3[j]
)",
     false},
    {"Root.1", R"(
Root.1_1[i] = sum(d) X[i, d] ^ 2
Root.1_2[i, j] = sum(d) X[i, d] * Y[j, d]
Root.1_3[j] = sum(d) Y[j, d] ^ 2
Root.1[i, j] = max(Root.1_1[i] - Root.1_2[i, j] * 2 + Root.1_3[j], 0)
)"},
    {"Nearest.1", R"(
Nearest.1_1[i] = sum(d) X[i, d] ^ 2
Nearest.1_2[i, j] = sum(d) X[i, d] * Y[j, d]
Nearest.1_3[j] = sum(d) Y[j, d] ^ 2
Nearest.1[i, j] = Nearest.1_1[i] - Nearest.1_2[i, j] * 2 + Nearest.1_3[j]
)"},
    {"Square", R"(
Square[i, j] = u[i] ^ 2 - u[i] * v[j] * 2 + v[j] ^ 2
)"},
    {"Shared", R"(
Shared_1[i] = sum(d) X[i, d] ^ 2
Shared_2[i, j] = sum(d) X[i, d] * Y[j, d]
Shared_3[j] = sum(d) Y[j, d] ^ 2
Shared[i, j] = u[i] ^ 2 * Shared_1[i] - u[i] * v[j] * Shared_1[i] * 2 + u[i] * Shared_2[i, j] * 2 + v[j] ^ 2 * Shared_1[i] - v[j] * Shared_2[i, j] * 2 + Shared_3[j]
)"},
};

}  // namespace

TEST_CASE("distribute: squares and products of sums leave sums of fewer axes") {
    const Diagram diagram = load(kDistances);
    for (const Multiplied& each : kMultiplied) {
        INFO(each.name);
        const State state = derive(diagram, std::string("distribute ") + each.name);
        CHECK_EQ(lines_about(state, each.name), each.text);
        CHECK_EQ(!state.steps.front().hazards.empty(), each.cancels);
        check_same_meaning(diagram, state);
        check_against_reference(state);
    }
}

TEST_CASE("distribute: squares that stay as they are, and why") {
    const Diagram diagram = load(kDistances);
    const std::vector<std::pair<const char*, const char*>> table = {
        {"Rounded", "`Rounded` is a sum of one product"},
        {"Variance",
         "`(X[i, d] - m[i]) ^ 2` has terms that cancel, and each of them has every "
         "axis of `Variance`: none is summed once"},
        {"Moved", "none is summed once"},
        {"Cube", "`(X[i, d] - Y[j, d]) ^ 3` is no square"},
        {"Absolute", "`Absolute` is a sum of one product"},
        {"Masked", "`k[i] - Y[j, d]` may be infinite"},
        {"Endless", "may be infinite"},
        {"Wide", "`p[i, d] ^ 2`, summed, may be more than 2^53"},
        {"Most", "has more than 64 terms"},
    };
    for (const auto& [name, reason] : table) {
        const std::string got = refusal(diagram, std::string("distribute ") + name);
        INFO(name, " said: ", got);
        CHECK(got.find(reason) != std::string::npos);
    }
}

TEST_CASE("distribute: what cancels is kept in f32, and its tolerance is that of its terms") {
    // Of bf16 inputs arrays would be kept in bf16, and a norm of 64 has an error of 1/8 there.
    const Diagram diagram = load(kDistances);
    const State state = derive(diagram, "distribute Batched\nunfuse Batched");
    for (const char* name : {"Batched_1", "Batched_3"})
        CHECK_EQ(state.relabelling.wire_types.at(find_array(state.diagram, name).value()),
                 ElementType::F32);
    // Points that are near each other, far from 0: all digits of their distance cancel.
    Tensors inputs = random_inputs(diagram, 1);
    for (const char* name : {"X", "Y"})
        for (double& value : inputs.at(find_array(diagram, name).value()).values)
            value = 1000 + value / 1000;
    const State apart = derive(diagram, "distribute D\nunfuse D");
    const ArrayId distance = find_array(diagram, "D").value();
    const std::vector<std::int64_t> all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    Reference direct(diagram, inputs, precision_of(diagram, {}));
    Reference expanded(diagram, inputs, apart.diagram,
                       precision_of(apart.diagram, apart.relabelling));
    const Reference::Elements narrow = direct.elements(distance, all);
    const Reference::Elements wide = expanded.elements(distance, all);
    CHECK_EQ(narrow.values, wide.values);
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK_LT(narrow.tolerances[i], 1e-2 * narrow.values[i] + 1e-6);
        CHECK_GT(wide.tolerances[i], 0.1);  // some ulps of 7 * 1000^2
    }
}

TEST_CASE("distribute: no root of what rounding makes negative") {
    const Diagram diagram = load(kDistances);
    const State state = derive(diagram, "distribute Root.1");
    CHECK_EQ(state.steps.front().conditions.back(), "no root of what rounding makes negative");
    CHECK(derive(diagram, "distribute D").steps.front().conditions.size() == 1);
}

/// Sums of products and squares of random sums, of elements that lack some of the axes.
std::string random_squares(std::mt19937_64& random) {
    const auto below = [&](std::size_t bound) { return random() % bound; };
    const auto pick = [&](const std::vector<std::string>& of) { return of[below(of.size())]; };
    const auto sum = [&] {
        std::string text;
        for (std::size_t left = 1 + below(3); left > 0; --left)
            text += pick({"X[i, d]", "Y[j, d]", "X[i, d]", "Y[j, d]", "u[i]", "w[d]", "2 * Y[j, d]",
                          "X[i, d] * w[d]", "0.5", "max(X[i, d], 0)", "T[i, d]", "S[i, j, d]"}) +
                    (left > 1 ? pick({" + ", " - "}) : "");
        return "(" + text + ")";
    };
    const std::string square = pick({sum() + " ^ 2", sum() + " * " + sum()});
    const std::string factor = pick({"", "", "w[d] * ", "0.5 * ", "(-w[d]) * ", "u[i] * "});
    const std::string over = pick({"d", "d", "j, d", "i, j, d"});
    const std::string axes = over == "d" ? "[i, j]" : over == "j, d" ? "[i]" : "";
    const std::string value = "sum(" + over + ") " + factor + square;
    return "diagram squares {\n  axis i = 3, j = 4, d = 3\n  input X[i, d], Y[j, d], u[i], w[d]\n"
           "  T[i, d] = X[i, d] - u[i]\n  S[i, j, d] = X[i, d] - Y[j, d]\n  output Z" +
           axes + " = " + (below(4) == 0 ? "exp(-0.1 * (" + value + "))" : value) + "\n}\n";
}

TEST_CASE("distribute: any products of sums are proved, with what follows") {
    std::mt19937_64 random(20261128);
    int multiplied = 0;
    for (int trial = 0; trial < 100; ++trial) {
        const std::string text = random_squares(random);
        const Diagram diagram = load(text);
        std::vector<std::string> steps = {"distribute Z", "distribute Z.1", "unfuse Z"};
        const Outcome outcome = apply(initial_state(diagram), commands(steps[0]).front());
        const State* state = std::get_if<State>(&outcome);
        if (state != nullptr && !state->steps.front().hazards.empty()) ++multiplied;
        if (trial % 3 == 0) steps.insert(steps.end(), {"fuse all", "stream d by 2"});
        if (trial % 3 == 1) steps.insert(steps.end(), {"fuse all", "stream j by 2 as written"});
        INFO(text);
        CHECK_EQ(failure_of(Trial{text, steps, 1}, Depth::Verify), std::nullopt);
    }
    CHECK_GT(multiplied, 20);
}

}  // namespace napkin::test
