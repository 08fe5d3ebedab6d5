// What the safety claim says of arrays and exponents holds for inputs drawn from its range, those
// at its ends among them.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "derive/interpret/tile_machine.h"
#include "derive/proof/safety.h"
#include "derive/proof/shapes.h"
#include "diagrams/infinity.h"
#include "tests/derive/programs.h"
#include "tests/support/derivations.h"
#include "tests/support/forms.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"

namespace napkin::test {
namespace {

/// Extremes of what was seen.
struct Seen {
    double low = kInfinity;
    double high = -kInfinity;
    void take(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

/// Arrays that start as an infinity, as a minimum does.
void collect_infinite_starts(const RegionProgram& region, const std::vector<TileStatement>& body,
                             std::set<const Array*>& arrays) {
    for (const TileStatement& statement : body)
        std::visit(
            overloaded{
                [&](const Parallel& node) { collect_infinite_starts(region, node.body, arrays); },
                [&](const Loop& node) { collect_infinite_starts(region, node.body, arrays); },
                [&](const Compute& node) {
                    const Map* map = std::get_if<Map>(&node.statement.body);
                    const Number* value =
                        map == nullptr ? nullptr : std::get_if<Number>(&map->value.node);
                    if (value != nullptr && std::isinf(value->value))
                        arrays.insert(&region.arrays[node.statement.targets[0].index()]);
                },
                [](const auto&) {},
            },
            statement.node);
}

/// Real numbers that note what is written to every array and what is exponentiated. Elements that
/// a mask excludes are -inf and no value.
class WatchingDomain : public RealDomain {
public:
    double apply(Function function, std::span<const double> arguments) {
        if (function == Function::Exp && !std::isinf(arguments[0])) exponents.take(arguments[0]);
        return apply_function(function, arguments);
    }
    double written(const Array& array, ElementType tile, double value) {
        const double kept = RealDomain::written(array, tile, value);
        if (kept != -kInfinity && !(std::isinf(kept) && infinite.contains(&array)))
            arrays[&array].take(kept);
        return kept;
    }
    std::set<const Array*> infinite;
    Seen exponents;
    std::map<const Array*, Seen> arrays;
};

/// Inputs within [-range, range]: drawn, or each at one end.
Grids<double> inputs_within(const Diagram& diagram, double range, std::uint64_t seed, bool ends) {
    Grids<double> grids;
    for (auto& [id, tensor] : random_inputs(diagram, seed, range / 2)) {
        const Array& array = diagram[id];
        for (double& value : tensor.values) {
            const bool any = !is_floating(array.type) && array.type != ElementType::Bool;
            if (array.role == ArrayRole::Parameter || array.indexes ||
                (!any && !is_floating(array.type)))
                continue;
            if (any && ends) value = round_to(array.type, std::copysign(0x1p53, value));
            if (any) continue;
            value = ends ? std::copysign(range, value) : std::clamp(value, -range, range);
            value = round_to(array.type, value);
        }
        grids[id] = {tensor.extents, tensor.values};
    }
    return grids;
}

std::string text_of(const Seen& seen) {
    return std::to_string(seen.low) + " to " + std::to_string(seen.high);
}

/// The first value outside of what is claimed; where nothing is claimed, nothing is wrong.
std::optional<std::string> broken_claim(const Diagram& diagram, const TileProgram& program,
                                        double range, std::uint64_t seed, bool ends) {
    constexpr double kRounding = 1e-9;
    const proof::Safety safety = proof::check_safety(diagram, program, range);
    WatchingDomain domain;
    for (const RegionProgram& region : program.regions)
        collect_infinite_starts(region, region.body, domain.infinite);
    const Run<double> run =
        run_program(domain, diagram, program, inputs_within(diagram, range, seed, ends));
    std::map<std::pair<std::string, std::string>, proof::ArrayRange> claims;
    for (const proof::ArrayRange& claim : safety.arrays)
        claims[{claim.region, claim.array}] = claim;
    for (const RegionProgram& region : program.regions)
        for (const Array& array : region.arrays) {
            const auto seen = domain.arrays.find(&array);
            const auto claim = claims.find({region.name, array.name});
            if (seen == domain.arrays.end() || claim == claims.end()) continue;
            const auto [low, high] = std::pair(claim->second.low, claim->second.high);
            const double slack = kRounding * (1 + std::abs(low) + std::abs(high));
            if (seen->second.low < low - slack || seen->second.high > high + slack)
                return "`" + array.name + "` in region `" + region.name + "` is " +
                       text_of(seen->second) + ", claimed " + std::to_string(low) + " to " +
                       std::to_string(high);
        }
    double most = -kInfinity;
    for (const proof::ExponentBound& bound : safety.exponents) most = std::max(most, bound.most);
    if (domain.exponents.high > most + kRounding * (1 + std::abs(most)))
        return "an exponent is " + std::to_string(domain.exponents.high) + ", claimed at most " +
               std::to_string(most);
    return std::nullopt;
}

/// Every operation in float32, without subnormal numbers; notes which arrays hold what is no
/// finite number. A mask's -inf is none of these.
class SingleDomain : public RealDomain {
public:
    static double single(double value) {
        const double kept = round_to(ElementType::F32, value);
        return std::abs(kept) < std::numeric_limits<float>::min() ? 0 : kept;
    }
    double apply(Function function, std::span<const double> arguments) {
        return single(apply_function(function, arguments));
    }
    double written(const Array& array, ElementType tile, double value) {
        const double kept = round_to(tile, RealDomain::written(array, tile, single(value)));
        if (std::isnan(kept) || (kept == kInfinity && !infinite.contains(&array)))
            broken.insert(&array);
        return kept;
    }
    std::set<const Array*> infinite;
    std::set<const Array*> broken;
};

/// An array that is claimed to be finite and is not, computed in float32.
std::optional<std::string> overflow_in_single(const Diagram& diagram, const TileProgram& program,
                                              double range, bool ends) {
    const proof::Safety safety = proof::check_safety(diagram, program, range);
    SingleDomain domain;
    for (const RegionProgram& region : program.regions)
        collect_infinite_starts(region, region.body, domain.infinite);
    const Run<double> run =
        run_program(domain, diagram, program, inputs_within(diagram, range, 5, ends));
    for (const RegionProgram& region : program.regions)
        for (const Array& array : region.arrays)
            for (const proof::ArrayRange& claim : safety.arrays)
                if (domain.broken.contains(&array) && claim.region == region.name &&
                    claim.array == array.name && claim.safe())
                    return "`" + array.name + "` overflows in region `" + region.name + "`";
    return std::nullopt;
}

void check_claims(const Diagram& diagram, const TileProgram& program, const std::string& name) {
    for (const double range : {1.0, 32.0, 1024.0})
        for (const bool ends : {false, true}) {
            CAPTURE(name);
            CAPTURE(range);
            const std::optional<std::string> broken =
                broken_claim(diagram, program, range, 7, ends);
            CHECK_MESSAGE(!broken, broken.value_or(""));
            const std::optional<std::string> overflow =
                overflow_in_single(diagram, program, range, ends);
            CHECK_MESSAGE(!overflow, overflow.value_or(""));
        }
}

TEST_CASE("safety: the ranges claimed of the examples hold") {
    for (const ExampleDerivation& each : example_derivations()) {
        SourceMap sources;
        sources.add("test.drv", "");
        const Result<State> state = replay(each.diagram, each.commands);
        if (!state) FAIL(each.name << ": " << rendered(state.error(), sources));
        check_claims(state->diagram, program_of(*state), each.name);
    }
}

/// A form streamed in chunks of 5.
State streamed(const Form& form) {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, form.name, form.text, {});
    if (!checked) FAIL(form.name << ": " << rendered(checked.error(), sources));
    std::variant<State, std::string> state = state_of(checked->diagram, commands_of(form, 5));
    if (const std::string* why = std::get_if<std::string>(&state)) FAIL(form.name << ": " << *why);
    return std::get<State>(std::move(state));
}

TEST_CASE("safety: the ranges claimed of the forms hold") {
    for (const Form& form : all_forms()) {
        const State state = streamed(form);
        check_claims(state.diagram, program_of(state), form.name);
    }
}

TEST_CASE("safety: exponents relative to a maximum, and multiples of them, are claimed") {
    const std::set<std::string> wanted = {"attention", "log_sum_exp", "powers_of_probabilities",
                                          "sink_in_maximum", "two_exponentials"};
    std::size_t found = 0;
    for (const Form& form : all_forms()) {
        if (!wanted.contains(form.name)) continue;
        ++found;
        const State state = streamed(form);
        const proof::Safety safety = proof::check_safety(state.diagram, program_of(state), 1000);
        for (const proof::ExponentBound& bound : safety.exponents)
            CHECK_MESSAGE(bound.most <= 0, form.name << ": " << bound.exponent);
    }
    CHECK_EQ(found, wanted.size());
}

/// Statements over inputs X[q] and Z[q, x].
State state_of_lines(const std::string& lines, const std::string& derivation) {
    const std::string text =
        "diagram lines {\n  axis q = 7, x = 9\n  input X[q], Z[q, x] : f32\n" + lines + "\n}\n";
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "lines", text, {});
    if (!checked) FAIL(lines << ": " << rendered(checked.error(), sources));
    std::variant<State, std::string> state = state_of(checked->diagram, derivation);
    if (const std::string* why = std::get_if<std::string>(&state)) FAIL(lines << ": " << *why);
    return std::get<State>(std::move(state));
}

bool claims(const proof::Safety& safety, const std::string& array) {
    return std::all_of(
        safety.arrays.begin(), safety.arrays.end(),
        [&](const proof::ArrayRange& each) { return each.array != array || each.safe(); });
}

struct Lines {
    std::string text;
    std::string array;  ///< of which is asked
    std::string derivation = "";
};

TEST_CASE("safety: an overflow on the way is not shown, whatever becomes of it") {
    const std::vector<Lines> all = {
        // Only that occurrence saturates which is a term of the divisor of something finite.
        {"output Y[q] = exp(X[q]) / (1 + exp(X[q]))", "Y"},
        {"output Y[q] = 1 / (1 + exp(X[q]))\noutput W[q] = exp(X[q])", "W", "fuse Y, W"},
        {"Y[q] = 1 / (1 + exp(X[q]))\noutput W[q] = exp(X[q]) * Y[q]", "W", "fuse all"},
        {"D[q] = 1 + exp(X[q])\noutput Y[q] = 1 / D[q]", "D", "fuse all"},
        {"output Y[q] = 1 / (1 - exp(X[q]))", "Y"},
        {"output Y[q] = 1 / (1 + exp(X[q]) * 2)", "Y"},
        // Between the operations of one expression.
        {"output Y[q] = X[q] ^ 20 * 1e-30", "Y"},
        {"output Y[q] = sqrt(X[q] ^ 16)", "Y"},
        {"output Y[q] = (X[q] ^ 14 + 1) ^ 0.05", "Y"},
        {"output Y[q] = tanh(X[q] ^ 20 - X[q] ^ 20)", "Y"},
        {"output Y[q] = if X[q] ^ 20 < 1 then 1 else 0", "Y"},
        {"output Y[q] = log(X[q])", "Y"},
        {"output Y[q] = tanh(sqrt(X[q]))", "Y"},
        // What is too small for float32 may be divided by.
        {"output Y[q] = 1e-20 / exp(-(X[q] * 0.01) ^ 2 * 1.1)", "Y"},
        {"output Y[q] = 1 / (1e-20 * exp(-abs(X[q]) * 0.05))", "Y"},
        // A row may have nothing visible.
        {"T[q, x] = if Z[q, x] > 0 then Z[q, x] else -inf\nm[q] = max(x) T[q, x]\n"
         "output Y[q] = X[q] / (sum(x) exp(T[q, x] - m[q]))",
         "Y", "fuse all\nstream x by 4"},
        // Types narrower than float32.
        {"output Y[q] = f16(X[q] * 1000)", "Y"},
        {"output Y[q] = tanh(f16(X[q] * 1000))", "Y"},
        {"output Y[q] = 1 / f16(1e-5 + abs(X[q]) * 1e-9 - 1e-5 * 0.999999)", "Y"},
        {"output Y[q] : i32 = X[q] ^ 4", "Y"},
        {"output Y[q] : i8 = X[q]", "Y"},
        {"output Y[q] = i8(X[q]) * 0.5", "Y"},
    };
    for (const Lines& each : all) {
        CAPTURE(each.text);
        const State state = state_of_lines(each.text, each.derivation);
        CHECK(!claims(proof::check_safety(state.diagram, program_of(state), 1000), each.array));
    }
}

TEST_CASE("safety: integer inputs are of any value that their types have") {
    const std::string head =
        "diagram d { axis n = 8, m = 5\ninput y[n] : i32, w[n] : i64, b[n] : i8, p[n] : i32, T[m], "
        "X[n] : f32\nkeep[n] = T[p[n]]\n";
    const auto claimed = [&](const std::string& output) {
        const Diagram diagram = load(head + "output Y[n] " + output + " }");
        const State state = initial_state(diagram);
        const proof::Safety safety = proof::check_safety(diagram, program_of(state), 1000);
        CHECK(safety.any_integers);
        return claims(safety, "Y");
    };
    for (const char* overflows :
         {": i32 = y[n] + 1", ": f32 = y[n] * 1e30", ": f16 = y[n] * 2", ": i32 = w[n]",
          ": i8 = b[n] - 1", ": i32 = -y[n]", ": f16 = b[n] * 1000", ": i64 = w[n] * w[n]",
          ": f32 = min(max(w[n] * w[n], 0), 5)"}) {
        INFO(overflows);
        CHECK(!claimed(overflows));
    }
    for (const char* holds :
         {": i64 = y[n] + 1", ": f32 = y[n] * 1e20", ": i32 = y[n]", ": i64 = w[n] + 1",
          ": i64 = y[n] * y[n]", ": i8 = b[n]", ": f16 = b[n] * 100",
          ": f16 = if y[n] > 3 then 1 else 0", ": f32 = keep[n] + p[n]", ": f32 = X[n] * b[n]"}) {
        INFO(holds);
        CHECK(claimed(holds));
    }
}

TEST_CASE("safety: a maximum that is rounded bounds nothing") {
    const std::string rest = "output L[q] = sum(x) exp(T[q, x] - m[q])";
    const std::vector<Lines> all = {
        {"T[q, x] = 1000 * Z[q, x]\nm[q] : bf16 = max(x) T[q, x]\n" + rest, "L", "fuse all"},
        {"T[q, x] = 1000 * Z[q, x]\nm[q] = max(x) T[q, x]\n" + rest, "L",
         "fuse all\nretype m to bf16"},
    };
    for (const Lines& each : all) {
        CAPTURE(each.text);
        const State state = state_of_lines(each.text, each.derivation);
        CHECK(!claims(proof::check_safety(state.diagram, program_of(state), 1000), each.array));
    }
    // Of values of its own type it is one of them.
    const State same = state_of_lines(
        "T[q, x] : bf16 = 1000 * Z[q, x]\nm[q] : bf16 = max(x) T[q, x]\n" + rest, "fuse all");
    CHECK(claims(proof::check_safety(same.diagram, program_of(same), 1000), "L"));
}

TEST_CASE(
    "safety: what a kernel stores or multiplies in a type that does not hold it is not claimed") {
    const auto claimed = [](const std::string& lines, const std::string& derivation) {
        const State state = state_of_lines(lines, derivation);
        return proof::check_safety(state.diagram, program_of(state), 1000).arrays_safe();
    };
    // A type without infinity has its largest number in place of what is larger.
    const std::string stored = "T[q, x] = 2 * Z[q, x]\noutput Y[q] = sum(x) T[q, x]";
    CHECK(claimed(stored, "fuse all"));
    CHECK_FALSE(claimed(stored, "retype T to e4m3"));
    CHECK(claimed(stored, "retype T to e5m2"));
    // A factor beside one of f16 is rounded to f16.
    const auto squared = [](const char* type) {
        return "S[q, x] : " + std::string(type) +
               " = Z[q, x] / 1000\noutput Y[q] = sum(x) S[q, x] * (Z[q, x] * Z[q, x])";
    };
    CHECK(claimed(squared("bf16"), "fuse all"));
    CHECK_FALSE(claimed(squared("f16"), "fuse all"));
}

TEST_CASE("safety: what float32 holds on the way is claimed") {
    const std::vector<Lines> all = {
        {"output Y[q] = 1 / (1 + exp(X[q]))", "Y"},
        {"output Y[q] = X[q] / (1 + exp(-X[q]))", "Y"},
        {"output Y[q] = X[q] / (exp(X[q]) + 1 + exp(-X[q]))", "Y"},
        {"output Y[q] = X[q] ^ 12 * 1e-30", "Y"},
        {"output Y[q] = f16(X[q] * 60)", "Y"},
        {"output Y[q] = e4m3(X[q] * 1000)", "Y"},
        {"output Y[q] : i32 = X[q] ^ 3", "Y"},
        {"output Y[q] = sum(x) softmax[x](Z[q, x]) * Z[q, x]", "Y"},
        {"output Y[q] = max(x) exp(Z[q, x] - max(x) Z[q, x])", "Y"},
        {"T[q, x] = if Z[q, x] > 0 then Z[q, x] else -inf\nP[q, x] = softmax[x](T[q, x])\n"
         "output Y[q] = sum(x) P[q, x] * Z[q, x]",
         "Y", "fuse all\nstream x by 4"},
    };
    for (const Lines& each : all) {
        CAPTURE(each.text);
        const State state = state_of_lines(each.text, each.derivation);
        const proof::Safety safety = proof::check_safety(state.diagram, program_of(state), 1000);
        CHECK(safety.arrays_safe());
        CHECK(safety.exponents_safe());
        check_claims(state.diagram, program_of(state), each.text);
    }
}

TEST_CASE("safety: the ranges claimed of random derivations hold") {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        SourceMap sources;
        const Result<Checked> checked = load_diagram(sources, "test.ncd", random_diagram(seed), {});
        if (!checked) continue;
        std::mt19937_64 random(seed);
        const State state = random_derivation(checked->diagram, random, 8);
        check_claims(state.diagram, program_of(state), "seed " + std::to_string(seed));
    }
}

}  // namespace
}  // namespace napkin::test
