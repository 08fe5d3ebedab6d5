// What people read fits their terminal, 80 columns where there is none, and help ends in examples
// that work.
#include "cli/lines.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "cli/commands.h"
#include "cli/numbers.h"
#include "perfmodel/wrapped_formula.h"
#include "tests/cli/transcript.h"

namespace napkin::test {
namespace {

/// Lines of a text that are wider than 80 columns.
std::string too_wide(const std::string& text) {
    std::string wide;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (cli::width_of(line) > cli::kColumns) wide += line + "\n";
    return wide;
}

/// A folder that has the examples and what they name, and in which files may be written.
std::string reader_folder() {
    const std::string folder = scratch() + "/help";
    std::filesystem::create_directories(folder);
    for (const std::string name : {"examples", "bench"})
        std::filesystem::create_directory_symlink(NAPKIN_SOURCE_DIR "/" + name,
                                                  folder + "/" + name);
    return folder;
}

}  // namespace

TEST_CASE("lines that are too long go on below a column of theirs") {
    struct Case {
        const char* line;
        const char* fitted;
    };
    const Case cases[] = {
        {"  short   enough", "  short   enough\n"},
        {"  a sentence of more words than fit the forty columns of this terminal",
         "  a sentence of more words than fit\n    the forty columns of this terminal\n"},
        {"  name   what it does, in more words than fit beside it",
         "  name   what it does, in more words\n         than fit beside it\n"},
        {"  1  10 us to 12 us    H 4.43 GB   fuse all; group q by 128",
         "  1  10 us to 12 us    H 4.43 GB\n     fuse all; group q by 128\n"},
        {"  H   batch_size·number_of_heads·query_position^2·head_dimension/g_q + 2d",
         "  H   batch_size·number_of_heads\n      ·query_position^2·head_dimension\n      /g_q + "
         "2d\n"},
        {"  the axis `a_name_that_is_longer_than_any_line_of_a_terminal` is whole",
         "  the axis\n    `a_name_that_is_longer_than_any_\n    line_of_a_terminal` is whole\n"},
        {"  /a/path/that/is/longer/than/the/forty/columns",
         "  /a/path/that/is/longer/than/the/forty/columns\n"},
        {"  g_q·d ≤ 2s_x·d and no more than this", "  g_q·d ≤ 2s_x·d and no more than this\n"},
    };
    for (const Case& c : cases) CHECK_EQ(cli::fitted(c.line, 40), c.fitted);
}

TEST_CASE("formulas are broken at their outermost operators") {
    using Lines = std::vector<std::string>;
    CHECK_EQ(wrapped_formula("a*b + c", 10), Lines{"a*b + c"});
    CHECK_EQ(wrapped_formula("max(a*min(g_q, q) + b, c)", 24),
             Lines{"max(a*min(g_q, q) + b,", "c)"});
    CHECK_EQ(wrapped_formula("max(a + b, c + d)", 13), Lines{"max(a + b,", "c + d)"});
    CHECK_EQ(wrapped_formula("a*min(g_q, q) + b*min(g_q, q)", 20),
             Lines{"a*min(g_q, q)", "+ b*min(g_q, q)"});
    CHECK_EQ(wrapped_formula("abc*def*ghi", 8), Lines{"abc*def", "*ghi"});
}

TEST_CASE("costs, moves and derivations fit 80 columns") {
    int derivations = 0;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR)) {
        const std::filesystem::path diagram = entry.path();
        if (diagram.extension() != ".ncd") continue;
        std::filesystem::path derivation = diagram;
        derivation.replace_extension(".drv");
        if (!std::filesystem::exists(derivation)) continue;
        const std::string files = diagram.string() + " --drv " + derivation.string();
        INFO(files);
        for (const char* command :
             {"cost --machine H200", "derive", "explain", "draw", "draw --machine H200"}) {
            INFO(command);
            CHECK_EQ(too_wide(run_command(
                         {"napkin " + std::string(command) + " 2> /dev/null " + files, ""})),
                     "");
        }
        ++derivations;
    }
    CHECK_GT(derivations, 15);
    for (const char* command :
         {"search examples/matmul.ncd --machine H200",
          "suggest examples/attention.ncd --machine H200", "machines", "machines H200",
          "compare A100 H100 H800 H200 B200 RTX4090",
          "bound examples/attention.ncd --drv examples/attention.drv --levels"})
        CHECK_EQ(too_wide(run_command({"napkin " + std::string(command), ""})), "");
}

TEST_CASE("costs and derivations of long names fit 80 columns") {
    const std::string folder = scratch() + "/long";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/long.ncd") << R"(diagram long_names {
  axis query_position = 4096, key_position = query_position, head_dimension = 128
  input Queries[query_position, head_dimension], Keys[key_position, head_dimension] : bf16
  input Values[key_position, head_dimension], Sink_logits[key_position] : bf16
  Scores[query_position, key_position] = Sink_logits[key_position]
      + sum(head_dimension) Queries[query_position, head_dimension] * Keys[key_position, head_dimension]
  Probabilities[query_position, key_position] = softmax[key_position](Scores[query_position, key_position])
  output Output_of_attention[query_position, head_dimension] : bf16
      = sum(key_position) Probabilities[query_position, key_position] * Values[key_position, head_dimension]
  weave batch_size = 4, number_of_heads = 16
}
)";
    std::ofstream(folder + "/long.drv") << "fuse all\ngroup query_position by 128 at l1\n"
                                           "stream key_position by 64 at l1\n"
                                           "group query_position by 32 at l2\n";
    const std::string files = folder + "/long.ncd --drv " + folder + "/long.drv";
    for (const char* command :
         {"cost --machine H200", "derive --machine H200", "explain", "draw"}) {
        INFO(command);
        CHECK_EQ(too_wide(run_command(
                     {"napkin " + std::string(command) + " 2> /dev/null " + files, ""})),
                 "");
    }
}

TEST_CASE("help of every command fits 80 columns and ends in an example that works") {
    const std::string folder = reader_folder();
    // Nobody answers the questions, and no editor says goodbye.
    std::map<std::string_view, std::string> otherwise = {{"quiz", "[exit 3]\n"},
                                                         {"lsp", "[exit 1]\n"}};
    for (const std::string_view measures : {"bench", "calibrate", "doctor"})
        otherwise[measures] = "[exit 4]\n";  // where a GPU is not there
    for (const cli::Subcommand& command : cli::all_subcommands()) {
        const std::string line = "napkin " + std::string(command.example);
        const std::string help = run_command({"napkin help " + std::string(command.name), ""});
        INFO(line);
        CHECK_EQ(too_wide(help), "");
        CHECK(help.ends_with("Example:\n" + line + "\n"));
        CHECK(command.example.starts_with(command.name));
        const std::string said = run_command({line + " > /dev/null 2>&1", ""}, folder);
        CHECK((said.empty() || said == otherwise[command.name]));
    }
}

}  // namespace napkin::test
