// Scores that are hidden by a large finite number, as models write it: no weight is infinite or no
// number, however the multiply-adds of a kernel are rounded, and what is hidden counts for nothing.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "codegen/run/execute.h"
#include "codegen/run/host_kernel.h"
#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"

namespace napkin {
namespace {

constexpr std::size_t kQueries = 64;

/// A window within the diagram, another mask of the caller's; with a factor behind the masks or
/// none.
test::TensorWorkload attention(const std::string& hidden, const std::string& factor) {
    return {"attention",
            fmt::format("diagram attention {{ axis q = {0}, x = 96, d = 32, e = d\n"
                        " input Q[q, d], K[x, d], V[x, e] : bf16\n input mask[q, x] : f32\n"
                        " S[q, x] = if q - x < 16 then sum(d) Q[q, d] * K[x, d] * rsqrt(size(d)) "
                        "else {1}\n"
                        " P[q, x] = softmax[x]((S[q, x] + mask[q, x]){2})\n"
                        " output O[q, e] : bf16 = sum(x) P[q, x] * V[x, e] }}",
                        kQueries, hidden, factor),
            {},
            "fuse all\ngroup q by 64\nstream x by 16"};
}

bool is_all_hidden(std::size_t query) {
    return query % 8 == 3;
}

/// Hides the first keys of every row, and all of some.
void hide(Tensor& mask, double hidden) {
    const std::size_t keys = mask.values.size() / kQueries;
    for (std::size_t q = 0; q < kQueries; ++q)
        for (std::size_t x = 0; x < keys; ++x)
            mask.values[q * keys + x] = x < 20 || is_all_hidden(q) ? hidden : 0;
}

/// Of a row that is hidden as a whole all scores are the same in single precision, not in double.
std::string wrong_rows(const Tensor& found, const Tensor& right) {
    constexpr double kMost = 0.02;
    const std::size_t columns = found.values.size() / kQueries;
    std::string wrong;
    for (std::size_t i = 0; i < found.values.size(); ++i) {
        const double value = found.values[i];
        const bool is_right = is_all_hidden(i / columns)
                                  ? std::abs(value) < 4
                                  : std::abs(value - right.values[i]) < kMost;
        if (!is_right)
            wrong += fmt::format("row {}: {}, not {}\n", i / columns, value, right.values[i]);
    }
    return wrong;
}

}  // namespace

TEST_CASE("scores that large finite numbers hide count for nothing, fused or not") {
    struct Form {
        const char* target;
        const char* factor;
    };
    std::vector<test::Emission> made;
    std::vector<double> hidden_by;  // each
    for (const Form& form : {Form{"sm_80", ""},
                             {"sm_80", " / 2"},
                             {"sm_80", " * 0.3"},
                             {"sm_90a", ""},
                             {"sm_90a", " * 0.3"}})
        for (const char* hidden : {"-1e9", "-1e10", "-1e20", "-1e30", "-3e38"}) {
            const std::string name = fmt::format("{}, {}{}", form.target, hidden, form.factor);
            CAPTURE(name);
            const State state = test::state_of(attention(hidden, form.factor));
            EmitOptions options;
            options.target = form.target;
            const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
            REQUIRE(program.has_value());
            made.push_back({name, state, *program});
            hidden_by.push_back(std::stod(hidden));
        }
    // Those that fuse are compiled each on its own: without optimising nothing is fused.
    CHECK_EQ(test::compile_together(made), "");
    for (std::size_t i = 0; i < made.size(); ++i) {
        CAPTURE(made[i].name);
        const Diagram& diagram = made[i].state.diagram;
        const auto array = [&](const char* name) { return *find_array(diagram, name); };
        Tensors inputs = random_inputs(diagram, 1);
        hide(inputs.at(array("mask")), hidden_by[i] / 8);
        const Result<Tensors> right = evaluate_outputs(diagram, inputs);
        REQUIRE(right.has_value());
        for (const bool fuses : {false, true}) {
            if (fuses && !host_fuses()) continue;
            CAPTURE(fuses);
            ExecuteOptions execute;
            execute.fuses = fuses;
            execute.emulator_cache = test::emulator_folder();
            const Result<Execution> run =
                execute_emulated(diagram, made[i].program, inputs, execute);
            REQUIRE(run.has_value());
            CHECK_EQ(wrong_rows(run->outputs.at(array("O")), right->at(array("O"))), "");
        }
    }
}

}  // namespace napkin
