// Kernels whose diagrams use every name that the code around could mean something else by: words of
// C++ and CUDA, what the primitives declare, and the kernel's own variables.
#include <doctest/doctest.h>

#include <cctype>
#include <set>

#include "codegen/names.h"
#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"
#include "tests/support/renamed.h"

namespace napkin {
namespace {

/// Attention with so many biases that any number of names has a place: numbers, arrays along
/// queries and arrays along keys.
std::string crowded_attention(std::size_t biases) {
    std::string inputs;
    std::string score = "sum(e) Q[q, e] * K[x, e]";
    constexpr const char* kAxes[] = {"", "[q]", "[x]"};
    for (std::size_t i = 0; i < biases; ++i) {
        const std::string bias = "B" + std::to_string(i) + kAxes[i % 3];
        inputs += "  input " + bias + "\n";
        score += (i % 20 == 0 ? std::string(i == 0 ? " + (" : ") + (") : " + ") + bias;
    }
    return "diagram attention {\n  axis q = 32, x = 48, d = 16, e = 16\n"
           "  input Q[q, e], K[x, e], V[x, d] : bf16\n" +
           inputs + "  S[q, x] = " + score +
           ")\n  P[q, x] = softmax[x](if x <= q + 16 then S[q, x] else -inf)\n"
           "  output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d]\n}\n";
}

EmittedProgram emitted_named(const State& state, const std::string& target) {
    const Result<TileProgram> tiles = expand(state);
    REQUIRE(tiles.has_value());
    EmitOptions options;
    options.target = target;
    const Result<EmittedProgram> program = emit(state, *tiles, options);
    REQUIRE(program.has_value());
    return *program;
}

/// The identifiers of code, those in comments and those of the implementation left out.
std::vector<std::string> words_of(const std::string& text) {
    std::set<std::string> words;
    std::string word;
    bool in_comment = false;
    for (const char c : text + " ") {
        in_comment = c != '\n' && (in_comment || c == '/');
        if (in_comment) continue;
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
            word += c;
            continue;
        }
        if (Names::identifier(word) == word) words.insert(word);
        word.clear();
    }
    return {words.begin(), words.end()};
}

/// What is wrong with the kernels of a diagram that goes by these names.
std::string wrong_with_names(const std::vector<std::string>& axes,
                             const std::vector<std::string>& arrays, const std::string& target) {
    const Diagram plain = test::load(crowded_attention(arrays.size()));
    const std::vector<Command> commands =
        test::commands("fuse S, P, O\ngroup q by 16\nstream x by 16\n");
    const test::Renaming renamed(plain, commands, axes, arrays, 0);
    const Result<State> state = replay(renamed(plain), renamed(commands));
    REQUIRE(state.has_value());
    return test::wrong_with(*state, emitted_named(*state, target), 1);
}

}  // namespace

TEST_CASE("names of a diagram hide nothing that its kernels need") {
    const std::vector<Command> commands =
        test::commands("fuse S, P, O\ngroup q by 16\nstream x by 16\n");
    const Result<State> plain = replay(test::load(crowded_attention(3)), commands);
    REQUIRE(plain.has_value());
    for (const char* target : {"simt", "sm_80"}) {
        INFO(std::string(target));
        CHECK_EQ(wrong_with_names(test::hard_axis_names(), test::hard_array_names(), target), "");
        // The words of the kernel itself.
        const std::vector<std::string> own =
            words_of(emitted_named(*plain, target).kernels.front().source);
        CHECK_EQ(wrong_with_names(test::hard_axis_names(), own, target), "");
    }
}

TEST_CASE("names of kernels are none that the primitives declare") {
    const Names names = Names::of_kernel("sm_80");
    for (const char* taken : {"nk", "emulator", "bf16", "Global", "Fragment", "Matrix", "convert",
                              "copy_async", "shared_tile", "multiply", "round_small", "to_f32",
                              "NK_DEVICE", "NK_SHARED_MEMORY", "is_nan", "row_sum", "compl"})
        CHECK_MESSAGE(!names.are_free({taken}), taken);
    for (const char* free : {"Q", "x", "T", "k", "mask", "weights"})
        CHECK_MESSAGE(names.are_free({free}), free);
}

}  // namespace napkin
