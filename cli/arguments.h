// What was typed: plain values, so that only arguments.cpp needs the command line library.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace napkin::cli {

/// The machine that costs and bounds are shown for where none is named.
inline constexpr const char* kDefaultMachine = "H200";

/// Every option of every subcommand; a subcommand reads those that it declares.
struct Arguments {
    std::string command;
    std::string file;               ///< the `.ncd` file
    std::string derivation;         ///< `--drv`
    std::string output;             ///< `-o`; empty for standard output
    std::vector<std::string> sets;  ///< `--set`, each `q=8192,eps=1e-5`
    std::string machine;            ///< `--machine NAME|FILE[,key=value...]`
    std::string as;                 ///< `emit --as`
    std::string target;             ///< empty for the best one that serves the derivation
    std::string only_target;        ///< `search --target`; empty for any
    std::string certificate;        ///< `--certificate`, in place of a proof
    bool unproved = false;          ///< `--unproved`
    int threads = 0;                ///< of a block; chosen when 0
    std::string schedule;           ///< `--schedule`, a file of choices
    std::string after;              ///< `emit --after`, a pass; empty for all
    std::string arch = "sm_90";
    std::string device = "cpu";
    std::vector<std::string> inputs;   ///< `--input`, each `Q=q.npy`
    std::vector<std::string> outputs;  ///< `run --output`, each `O=o.npy`
    std::uint64_t seed = 1;
    bool no_check = false;             ///< `bench --no-check`
    double seconds = 0;                ///< that a search may take; any number when 0
    int measure = 0;                   ///< `search --measure`, candidates; none when 0
    std::string measurements;          ///< `--measurements`, a database; the usual one when empty
    int top = 0;                       ///< as many as are usual when 0
    std::vector<std::string> dynamic;  ///< `export --dynamic`, axes
    std::string name;                  ///< `export --name`
    std::string gradient;              ///< `export --gradient`, a diagram
    std::string gradient_derivation;   ///< `export --gradient-drv`
    std::vector<std::string> cubins;   ///< `export --cubin`, architectures
    bool json = false;
    bool print = false;  ///< `calibrate --print`
    bool steps = false;
    bool tile = false;
    std::string region;     ///< `draw --region`; empty for all
    std::string statement;  ///< `mask --statement`; empty for all
    std::string theme = "paper";
    std::string font = "embed";
    bool per_group = false;  ///< `draw --per-group`
    std::string quiz;        ///< `--quiz`, a file of questions
    bool sheet = false;      ///< `lecture --sheet`
    int width = 0;           ///< of a picture, as its format counts; the usual one when 0
    bool interactive = false;
    std::vector<std::string> several;  ///< the machines of `compare`, the derivations of `diff`
    std::string sweep;                 ///< `explain --sweep q=512..16384`
    std::vector<std::string> against;  ///< `explain --against`, derivations
    bool levels = false;               ///< `bound --levels`
    std::string topic;                 ///< the free word of `machines` and `explain`
    std::vector<std::string> reads;    ///< the files that these options name to be read
};

/// The arguments, or the exit code where there is nothing left to do (help was asked for, or the
/// usage was wrong; the text is printed already).
[[nodiscard]] std::variant<Arguments, int> parse_arguments(int count, const char* const* words);

}  // namespace napkin::cli
