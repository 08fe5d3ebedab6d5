// Who asks whether a sum is a product of matrices gets one answer: the rule that puts it on the
// tensor core, the tile program, its cost, the plan for tensor cores and plain threads.
#include <doctest/doctest.h>

#include "codegen/emit.h"
#include "perfmodel/cost.h"
#include "schedule/plan.h"
#include "schedule/statements.h"
#include "tests/derive/programs.h"

namespace napkin {
namespace {

struct AskedSum {
    std::string output;       ///< Y and its sum
    std::string type;         ///< in which it is multiplied; empty where it is no product
    std::string before = {};  ///< a derivation
};

Diagram diagram_with(const AskedSum& tested) {
    return test::load(R"(diagram t {
  axis i = 64, j = 48, k = 32, b = 4
  input A[i, k], B[k, j], G[b, i, k], H[b, k, j] : bf16
  input E[i, k], F[j, k] : e4m3
  input C[i, j], w[k], s[i], c[j], X[i, k] : f32
  output )" + tested.output +
                      "\n}");
}

struct AnswersToAll {
    bool rule = false;
    bool program = false;
    bool threads = false;
    std::string cost;
    std::string plan;  ///< "refused" where the target does not take the region at all
};

AnswersToAll ask_all(const AskedSum& tested) {
    const State state = test::derive(diagram_with(tested), tested.before);
    const TileProgram program = test::program_of(state);
    const RegionProgram& region = program.regions.back();
    AnswersToAll answers;
    const Outcome placed = apply(state, test::commands("recolour Y at tensor-core").front());
    if (const State* next = std::get_if<State>(&placed)) {
        answers.rule = true;
        schedule::for_statements(test::program_of(*next).regions.back().body,
                                 [&](const TileStatement& statement, const Loop*) {
                                     const auto* compute = std::get_if<Compute>(&statement.node);
                                     answers.program |= compute != nullptr && compute->tensor_core;
                                 });
    }
    const Result<RegionCost> cost = quick_cost_of(region);
    REQUIRE(cost);
    for (const auto& [type, count] : cost->arithmetic.products) answers.cost += name_of(type);
    const auto plan = schedule::make_plan(schedule::with_tile_axes(region), {.warp_groups = true});
    if (const schedule::Plan* made = std::get_if<schedule::Plan>(&plan))
        for (const auto& [leaf, product] : made->products) answers.plan += name_of(product.type);
    else
        answers.plan = "refused";
    const Result<EmittedProgram> emitted = emit(state, program, {});
    REQUIRE(emitted);
    answers.threads = emitted->kernels.back().source.find("outer_product(") != std::string::npos;
    return answers;
}

}  // namespace

TEST_CASE("contractions: everything that asks gets the same answer") {
    const std::string y = "Y[i, j] : bf16 = sum(k) ";
    const std::vector<AskedSum> cases = {
        {y + "A[i, k] * B[k, j]", "bf16"},
        {y + "(-B[k, j] * A[i, k])", "bf16"},
        {y + "A[i, k] * B[k, j] / sqrt(size(k))", "bf16"},
        {y + "A[i, k] * B[k, j] * s[i] * exp(C[i, j])", "bf16"},
        {y + "A[i, k] * B[k, j] / s[i]", ""},
        // Operands that are computed, and more than two factors.
        {y + "A[i, k] * exp(w[k]) * B[k, j]", "bf16"},
        {y + "exp(A[i, k]) * (B[k, j] - c[j])", "bf16"},
        {y + "A[i, k] * B[k, j] * F[j, k]", "bf16"},
        {y + "A[i, k] * A[j, k] * w[k]", "bf16"},
        {y + "cos(i * k) * B[k, j]", "bf16"},
        // Masks that one operand can have.
        {y + "if k <= j then A[i, k] * B[k, j] else 0", "bf16"},
        {y + "if k <= j then (if i <= k then A[i, k] * B[k, j] else 0) else 0", "bf16"},
        {y + "if j <= i then A[i, k] * B[k, j] else 0", ""},
        {y + "if k <= j then A[i, k] * B[k, j] else 1", ""},
        // Types.
        {y + "E[i, k] * B[k, j]", "bf16"},
        {y + "E[i, k] * F[j, k]", "e4m3"},
        {y + "X[i, k] * B[k, j]", "f32"},
        {y + "exp(X[i, k]) * B[k, j]", "bf16"},
        // No rows or columns of its own, or both at once.
        {y + "A[i, k] * (B[k, j] + C[i, j])", ""},
        {y + "(A[i, k] + B[k, j])", ""},
        {y + "C[i, j] * A[i, k] * w[k]", ""},
        {"Y[i] : bf16 = sum(k) A[i, k] * A[i, k]", ""},
        {"Y[i] : bf16 = sum(k) A[i, k] * w[k]", ""},
        {"Y[i, j] : bf16 = max(k) A[i, k] * B[k, j]", ""},
        // Axes that both operands have.
        {"Y[b, i, j] : bf16 = sum(k) G[b, i, k] * H[b, k, j]", "bf16"},
        {"Y[b, i, j] : bf16 = sum(k) G[b, i, k] * B[k, j]", "bf16"},
        {"Y[b, i, j] : bf16 = sum(k) G[b, i, k] * H[b, k, j]", "bf16", "group b by 1 at l1"},
        {"Y[b, j] : bf16 = sum(k) w[k] * H[b, k, j]", ""},
    };
    for (const AskedSum& tested : cases) {
        INFO(tested.output);
        const AnswersToAll answers = ask_all(tested);
        const bool is = !tested.type.empty();
        CHECK_EQ(answers.rule, is);
        CHECK_EQ(answers.program, is);
        CHECK_EQ(answers.threads, is);
        CHECK_EQ(answers.cost, tested.type);
        if (answers.plan != "refused") CHECK_EQ(answers.plan, tested.type);
    }
}

}  // namespace napkin
