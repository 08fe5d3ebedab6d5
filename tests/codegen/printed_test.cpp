// What target sm_80 prints for every example and benchmark at its real sizes: the kernels whole,
// and of what instructions they are made, so that a change that copies element by element, or
// spills, is seen where no GPU is.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <regex>

#include "codegen/architecture.h"
#include "codegen/run/compile.h"
#include "codegen/run/nvrtc.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"
#include "tests/support/examples.h"
#include "tests/support/provided.h"

namespace napkin {
namespace {

constexpr const char* kMachine = "sm_90";

struct Printed {
    std::string folder;
    test::Example example;
    Result<EmittedProgram> program;
};

std::vector<Printed> print_programs() {
    const Result<EmitOptions> options = emit_options_for("sm_80", kMachine);
    REQUIRE(options.has_value());
    std::vector<Printed> list;
    const auto print_all = [&](const std::string& folder, std::vector<test::Example> examples) {
        for (test::Example& example : examples) {
            const State state = test::derive(test::load(example.diagram), example.derivation);
            Result<EmittedProgram> program = emit(state, test::program_of(state), *options);
            list.push_back({folder, std::move(example), std::move(program)});
        }
    };
    print_all("examples", test::all_examples());
    print_all("bench", test::all_benchmarks());
    return list;
}

/// Printed once for all that is asked of them.
const std::vector<Printed>& printed_programs() {
    static const std::vector<Printed> list = print_programs();
    return list;
}

/// What is counted of a kernel, in the order in which it is listed: loads and stores of device
/// memory by the bytes that a thread moves at once, and what the tensor core is fed and does.
std::string kind_of(const std::string& instruction) {
    static const std::vector<std::pair<std::regex, const char*>> kinds = [] {
        std::vector<std::pair<std::regex, const char*>> list;
        for (const char* copy : {"16", "8", "4"})
            list.emplace_back(fmt::format(R"(cp\.async\.c[ag].*, {}(,.*)?;)", copy), copy);
        return list;
    }();
    for (const auto& [pattern, bytes] : kinds)
        if (std::regex_match(instruction, pattern)) return std::string("cp.async ") + bytes;
    static const std::regex memory(R"((ld|st)\.global(?:\.\w+)*?(?:\.v(\d))?\.[busf](\d+) .*)");
    std::smatch found;
    if (std::regex_match(instruction, found, memory)) {
        const int vector = found[2].matched ? std::stoi(found[2]) : 1;
        return fmt::format("{} {}", found[1] == "ld" ? "load" : "store",
                           vector * std::stoi(found[3]) / 8);
    }
    for (const char* name : {"mma.sync", "ldmatrix", "bar"})
        if (instruction.starts_with(std::string(name) + ".")) return name;
    return "";
}

std::string instructions_of(const std::string& ptx) {
    std::map<std::string, int> counts;
    static const std::regex instruction(
        R"([\s;]((?:cp\.async\.c|ld\.global|st\.global|mma\.sync|ldmatrix|bar\.)[^;]*;))");
    for (std::sregex_iterator at(ptx.begin(), ptx.end(), instruction), end; at != end; ++at)
        if (const std::string kind = kind_of((*at)[1]); !kind.empty()) ++counts[kind];
    std::string text;
    for (const auto& [kind, count] : counts)
        text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", kind, count);
    return text;
}

std::string number_before(const std::string& log, const std::string& words) {
    std::smatch found;
    return std::regex_search(log, found, std::regex("(\\d+) " + words)) ? found[1].str() : "?";
}

}  // namespace

TEST_CASE("sm_80: the printed kernels of examples and benchmarks") {
    for (const Printed& printed : printed_programs()) {
        std::string text;
        if (!printed.program) {
            text = "refused: " + printed.program.error().list.front().message + "\n";
        } else {
            for (const EmittedKernel& kernel : printed.program->kernels) text += kernel.source;
        }
        test::check_golden(
            fmt::format("codegen/sm_80/{}/{}.cu", printed.folder, printed.example.name), text);
    }
}

TEST_CASE("sm_80: the schedules of examples and benchmarks") {
    for (const Printed& printed : printed_programs()) {
        if (!printed.program) continue;
        std::string text;
        for (const EmittedKernel& kernel : printed.program->kernels)
            text += (text.empty() ? "" : "\n") + kernel.scheduled();
        test::check_golden(
            fmt::format("codegen/sm_80/{}/{}.schedule", printed.folder, printed.example.name),
            text);
    }
}

TEST_CASE("nvrtc: instructions, registers and spills of the printed kernels") {
    if (!test::provided("nvrtc", nvrtc_status().missing)) return;
    const Result<Nvrtc> nvrtc = Nvrtc::open();
    REQUIRE(nvrtc.has_value());
    if (nvrtc->version() != "13.0") {
        MESSAGE("left out: the counts are those of NVRTC 13.0, not " << nvrtc->version());
        return;
    }
    const std::vector<std::string> options = {std::string("--gpu-architecture=") + kMachine,
                                              "-std=c++17", "-default-device",
                                              "--ptxas-options=-v"};
    std::string table;
    for (const Printed& printed : printed_programs()) {
        if (!printed.program) continue;
        for (const EmittedKernel& kernel : printed.program->kernels) {
            INFO(printed.folder, " ", printed.example.name, " ", kernel.name);
            const Nvrtc::Output output =
                nvrtc->compile(kernel.name + ".cu", kernel.source, options, true);
            REQUIRE(output.accepted);
            table += fmt::format(
                "{} {}, {}: {} registers, {} bytes spilled\n    {}\n", printed.folder,
                printed.example.name, kernel.name, number_before(output.log, "registers"),
                number_before(output.log, "bytes spill stores"), instructions_of(output.image));
        }
    }
    test::check_golden("codegen/sm_80/instructions.txt", table);
}

}  // namespace napkin
