#include "cli/commands.h"

#include <array>

namespace napkin::cli {

std::span<const Subcommand> all_subcommands() {
    // clang-format off
    static constexpr std::array kSubcommands = {
        Subcommand{"check", "say whether a diagram is well formed, and what is wrong with it",
                   Takes{.json = true}, run_check},
        Subcommand{"fmt", "print a diagram's canonical text",
                   Takes{.sets = false, .output = true}, run_fmt},
        Subcommand{"draw", "draw a diagram, its derivation step by step, or its tile program",
                   Takes{.derivation = true, .machine = true, .output = true, .steps = true, .tile = true, .picture = true},
                   run_draw},
        Subcommand{"cost", "memory, transfers and time, symbolic and numeric",
                   Takes{.derivation = true, .machine = true, .json = true, .target = true, .arch = true}, run_cost},
        Subcommand{"derive", "replay a derivation and tell of each step, or derive at a prompt",
                   Takes{.derivation = true, .machine = true, .output = true, .json = true, .interactive = true},
                   run_derive},
        Subcommand{"diff", "what differs between two derivations: steps, transfers, memory and time",
                   Takes{.machine = true, .json = true, .two = true}, run_diff},
        Subcommand{"suggest", "rank the next moves of a derivation by what they save, and say why others are refused",
                   Takes{.derivation = true, .machine = true, .json = true, .top = true}, run_suggest},
        Subcommand{"search", "find derivations for a machine by the model",
                   Takes{.machine = true, .machine_required = true, .output = true, .json = true, .top = true, .only_target = true},
                   run_search},
        Subcommand{"bound", "what no schedule transfers less than, and the best of a derivation's kind",
                   Takes{.derivation = true, .machine = true, .json = true, .levels = true}, run_bound},
        Subcommand{"mask", "what masks leave to compute: their conditions, and the tiles they meet and cover",
                   Takes{.derivation = true, .output = true, .json = true, .mask_as = true}, run_mask},
        Subcommand{"explain", "why a command does or does not apply, or why a derivation costs what it does and has these tiles",
                   Takes{.derivation = true, .machine = true, .output = true, .json = true, .target = true, .sweep = true, .topic = "COMMAND"},
                   run_explain},
        Subcommand{"emit", "write the tile program or the kernels of a derivation",
                   Takes{.derivation = true, .output = true, .json = true, .as = true, .target = true, .proof = true, .arch = true},
                   run_emit},
        Subcommand{"report", "write one HTML page that shows a derivation and answers what if",
                   Takes{.derivation = true, .machine = true, .output = true, .target = true, .proof = true, .arch = true},
                   run_report},
        Subcommand{"lecture", "write a derivation as slides with questions, which the page grades",
                   Takes{.derivation = true, .derivation_required = true, .machine = true, .output = true, .target = true, .proof = true, .arch = true, .quiz = true, .sheet = true},
                   run_lecture},
        Subcommand{"quiz", "ask questions at a prompt, and grade any answer by replaying the derivation",
                   Takes{.derivation = true, .machine = true, .quiz = true}, run_quiz},
        Subcommand{"export", "write a folder with the kernels, a launcher in C and an operator for PyTorch",
                   Takes{.derivation = true, .json = true, .target = true, .proof = true, .arch = true, .seed = true, .exported = true},
                   run_export},
        Subcommand{"run", "execute a derivation and compare it with the reference",
                   Takes{.derivation = true, .json = true, .target = true, .arch = true, .device = true, .tensors = true, .seed = true},
                   run_run},
        Subcommand{"prove", "show that a derivation computes what the diagram says, and write the certificate",
                   Takes{.derivation = true, .output = true, .json = true, .seed = true}, run_prove},
        Subcommand{"verify", "check a certificate again from its text alone",
                   Takes{.what = "the certificate, a .json file", .sets = false, .json = true}, run_verify},
        Subcommand{"bench", "measure the kernels on a GPU and compare with the prediction",
                   Takes{.derivation = true, .json = true, .target = true, .seed = true, .check = true}, run_bench},
        Subcommand{"trace", "write a kernel's loop in time: which agent keeps which unit busy with what",
                   Takes{.derivation = true, .machine = true, .output = true, .region = true, .top = true, .target = true},
                   run_trace},
        Subcommand{"hypothesis", "what follows from a claim about performance and from its opposite, beside what was measured",
                   Takes{.what = "the hypothesis, a .toml file", .sets = false, .json = true, .seed = true}, run_hypothesis},
        Subcommand{"machines", "list machines, or the figures of one with their sources, or draw their levels",
                   Takes{.file = false, .sets = false, .output = true, .json = true, .topic = "NAME"}, run_machines},
        Subcommand{"compare", "figures of machines side by side",
                   Takes{.file = false, .sets = false, .json = true, .several = true}, run_compare},
        Subcommand{"calibrate", "measure a machine's figures on the GPU that is here, and write its file",
                   Takes{.file = false, .sets = false, .output = true, .json = true, .arch = true, .calibration = true, .topic = "MACHINE"}, run_calibrate},
        Subcommand{"lsp", "serve editors: what is wrong, what a name is and costs, completion, renaming, on standard input and output",
                   Takes{.file = false, .sets = false}, run_lsp},
        Subcommand{"doctor", "say what is missing on this machine, and what works anyway",
                   Takes{.file = false, .sets = false, .json = true}, run_doctor},
    };
    // clang-format on
    return kSubcommands;
}

}  // namespace napkin::cli
