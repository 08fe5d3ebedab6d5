// What target sm_80 says where it refuses: the moves that a help names apply as they are typed, and
// the region fits after them.
#include <doctest/doctest.h>

#include <optional>
#include <random>

#include "codegen/emit.h"
#include "tests/derive/programs.h"
#include "tests/support/examples.h"
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"

namespace napkin {
namespace {

struct Refusal {
    std::string message;
    std::string help;
};

std::optional<Refusal> refusal_of(const State& state, const std::string& target = "sm_80") {
    EmitOptions options;
    options.target = target;
    const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
    if (program) return std::nullopt;
    const Diagnostic& why = program.error().list.front();
    return Refusal{why.message, why.help};
}

/// What stands in backquotes, but for options.
std::vector<std::string> moves_in(const std::string& help) {
    std::vector<std::string> moves;
    for (std::size_t at = help.find('`'); at != std::string::npos; at = help.find('`', at)) {
        const std::size_t end = help.find('`', at + 1);
        if (help.compare(at + 1, 2, "--") != 0) moves.push_back(help.substr(at + 1, end - at - 1));
        at = end + 1;
    }
    return moves;
}

bool is_move(const std::string& text) {
    return find_rule(text.substr(0, text.find(' '))) != nullptr;
}

/// Types the moves of the help; says what goes wrong. Counts them.
std::string follow(State state, const Refusal& refusal, int& followed) {
    const std::string region = refusal.message.substr(0, refusal.message.find("` does not"));
    bool any = false;
    for (const std::string& move : moves_in(refusal.help)) {
        if (!is_move(move)) continue;
        Outcome next = apply(state, test::commands(move).front());
        if (const NotApplicable* why = std::get_if<NotApplicable>(&next))
            return refusal.message + "; help: " + refusal.help + "; but " + why->reason;
        state = std::get<State>(std::move(next));
        any = true;
    }
    if (!any) return {};
    ++followed;
    const std::optional<Refusal> again = refusal_of(state);
    if (again && again->message.find(region + "` does not") != std::string::npos)
        return refusal.help + " leads to: " + again->message;
    return {};
}

struct RefusedCase {
    std::string diagram;
    std::string derivation;
    std::string message;  ///< a part of it
    std::string help;     ///< a part of it
};

}  // namespace

TEST_CASE("products that share no axis that could be their rows are refused") {
    const State state = test::derive(
        test::load("diagram two { axis b = 64, k = 64, m = 1024, n = 64\n input X[b, k], V[k, m], "
                   "W[m, n] : bf16\n Y[b, m] = sum(k) X[b, k] * V[k, m]\n output Z[b, n] : bf16 = "
                   "sum(m) Y[b, m] * W[m, n] }"),
        "fuse all\ngroup b by 8\ngroup n by 1\nstream k by 8");
    const std::optional<Refusal> refusal = refusal_of(state);
    REQUIRE(refusal);
    CHECK_NE(refusal->message.find("8 rows of 1024 columns in registers"), std::string::npos);
}

TEST_CASE("sm_80: refusals name what the user wrote, and moves that apply") {
    const RefusedCase cases[] = {
        {"diagram outer { axis i = 8, j = 24\n input a[i], b[j] : bf16\n"
         "output O[i, j] : f32 = a[i] * b[j] }",
         "group i by 4 at l2", "it groups `i` at warps", "`ungroup i at warps`"},
        {"diagram pairs { axis i = 8, j = 8, c = 16\n input X[i, j], Z[j, c], W[i, c] : bf16\n"
         "U[i, j] = X[i, j] * 2\n V[j, c] = Z[j, c] * 3\n"
         "output Y[i, j, c] : f32 = U[i, j] + V[j, c] * W[i, c] }",
         "fuse all\ngroup i by 4\ngroup j by 4", "in one block", "`ungroup "},
        {"diagram norm { axis n = 4, g = 3, c = 5, p = 20\n"
         "input X[n, g, c, p], a[g, c], b[n, c] : bf16\n"
         "M[n, g] = sum(c, p) X[n, g, c, p]\n A[g, c] = a[g, c] * 2\n B[n, c] = b[n, c] * 3\n"
         "output Y[n, g, c, p] : bf16 = X[n, g, c, p] - A[g, c] * B[n, c] - M[n, g] / 100 }",
         "fuse A, B, Y", "region `Y`", " in Y`"},
    };
    for (const RefusedCase& each : cases) {
        INFO(each.diagram);
        const State state = test::derive(test::load(each.diagram), each.derivation);
        const std::optional<Refusal> refusal = refusal_of(state);
        REQUIRE(refusal.has_value());
        CHECK_MESSAGE(refusal->message.find(each.message) != std::string::npos, refusal->message);
        CHECK_MESSAGE(refusal->help.find(each.help) != std::string::npos, refusal->help);
        int followed = 0;
        CHECK_EQ(follow(state, *refusal, followed), "");
        CHECK_EQ(followed, 1);
    }
}

TEST_CASE("helps that name no move say what is so: what stands alone, what was asked for") {
    const RefusedCase cases[] = {
        {"diagram s { axis t = 41, c = 3\n input X[t, c] : f32\n"
         "output P[t, c] : f32 = scan[t] sum X[t, c] }",
         "", "neighbours are far apart", "use `--target simt`"},
        {"diagram m { axis m = 64, n = 64, k = 48\n input A[m, k], B[k, n] : i8\n"
         "output Y[m, n] : f32 = sum(k) A[m, k] * B[k, n] }",
         "stream k by 24\nschedule stages = 3", "which is i64",
         "leave out what `schedule` asks for, with `--target simt`"},
    };
    for (const RefusedCase& each : cases) {
        INFO(each.diagram);
        const State state = test::derive(test::load(each.diagram), each.derivation);
        const std::optional<Refusal> refusal = refusal_of(state);
        REQUIRE(refusal.has_value());
        CHECK_MESSAGE(refusal->message.find(each.message) != std::string::npos, refusal->message);
        CHECK_EQ(refusal->help, each.help);
    }
}

TEST_CASE("sm_80: moves that helps name apply, over random derivations") {
    int followed = 0;
    for (std::uint64_t seed = 1; seed <= 130; ++seed) {
        std::mt19937_64 random(seed);
        const Diagram diagram =
            test::load(test::random_diagram(static_cast<std::uint32_t>(random())));
        const State state = test::random_derivation(diagram, random, 5);
        INFO("seed ", seed, "\n", test::steps_text(state));
        if (const std::optional<Refusal> refusal = refusal_of(state))
            CHECK_EQ(follow(state, *refusal, followed), "");
    }
    CHECK_GT(followed, 5);
}

TEST_CASE("moves that are named where tiles exceed shared memory lead to a kernel") {
    struct TooLarge {
        const char* example;
        const char* derivation;
        const char* target;
        const char* help;
    };
    const TooLarge cases[] = {
        {"attention", "fuse all\ngroup q by 64", "simt", "`stream x by 64 at l1`; the largest"},
        {"matmul", "group a by 64", "simt", "`group c by 64 at l1`, then `stream b by 64 at l1`;"},
        {"matmul", "group a by 64\ngroup c by 64", "sm_80", "`stream b by 64 at l1`;"},
        {"swiglu", "fuse all\ngroup n by 64\ngroup f by 64", "simt", "`stream d by 64 at l1`;"},
        {"cross_entropy", "", "sm_80", "`stream d by 64 at l1 in nll`, or use `--target simt`;"},
    };
    for (const TooLarge& each : cases) {
        INFO(each.example, " for ", each.target);
        const test::Example example = test::example(each.example);
        const std::string derivation = each.derivation;
        State state = test::derive(test::load(example.diagram),
                                   derivation.empty() ? example.derivation : derivation);
        const std::optional<Refusal> refusal = refusal_of(state, each.target);
        REQUIRE(refusal);
        CHECK_NE(refusal->message.find("bytes of shared memory a block"), std::string::npos);
        CHECK_MESSAGE(refusal->help.find(each.help) == 0, refusal->help);
        for (const std::string& move : moves_in(refusal->help)) {
            if (!is_move(move)) continue;
            Outcome next = apply(state, test::commands(move).front());
            REQUIRE(std::holds_alternative<State>(next));
            state = std::get<State>(std::move(next));
        }
        CHECK_FALSE(refusal_of(state, each.target));
    }
}

TEST_CASE("moves that a help names are not undone by the next of it") {
    const Diagram convolution = test::load(test::example("convolution").diagram);
    const std::optional<Refusal> refusal = refusal_of(initial_state(convolution), "sm_90a");
    REQUIRE(refusal);
    CHECK_EQ(refusal->help, "`group y by 1 at l1`");
}

}  // namespace napkin
