// What is chosen of kernels: what a kernel prints makes it again, what is asked for is kept or
// refused at its place, and what is kept is right.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include "schedule/requests.h"
#include "tests/codegen/judge.h"
#include "tests/codegen/tensor_states.h"
#include "tests/support/examples.h"

namespace napkin {
namespace {

using schedule::RegionSchedule;
using schedule::Request;
using schedule::Setting;

Result<EmittedProgram> emitted(const State& state, std::vector<Request> schedules,
                               const std::string& target = "sm_80") {
    EmitOptions options;
    options.target = target;
    options.schedules = std::move(schedules);
    return emit(state, test::program_of(state), options);
}

std::vector<Request> requests_from(const std::string& text) {
    SourceMap sources;
    const Result<std::vector<Request>> requests =
        schedule::read_schedule(sources, sources.add("test.toml", text));
    if (!requests) FAIL(test::rendered(requests.error(), sources));
    return *requests;
}

/// The lines of a kernel's header that tell its choices.
std::string choices_in(const std::string& source) {
    std::istringstream lines(source);
    std::string text;
    bool inside = false;
    for (std::string line; std::getline(lines, line) && line.starts_with("//");) {
        const bool indented = line.starts_with("//   ");
        if (inside && indented) text += line.substr(5) + "\n";
        inside = line == "// Schedule:" || (inside && indented);
    }
    return text;
}

std::string sources_of(const EmittedProgram& program) {
    std::string text;
    for (const EmittedKernel& kernel : program.kernels) text += kernel.source;
    return text;
}

/// Whether everything asked for is there.
bool keeps(const RegionSchedule& choices, const RegionSchedule& asked) {
    const std::vector<Setting> all = schedule::settings_of(choices);
    const std::vector<Setting> some = schedule::settings_of(asked);
    return std::all_of(some.begin(), some.end(), [&](const Setting& setting) {
        return setting.name.of.empty() && !schedule::find_field(setting.name.field)->of.empty()
                   ? true
                   : std::find(all.begin(), all.end(), setting) != all.end();
    });
}

/// One or two choices that differ from those that were made.
RegionSchedule drawn(const RegionSchedule& made, std::mt19937_64& random) {
    const std::vector<Setting> all = schedule::settings_of(made);
    RegionSchedule asked;
    for (int i = 0; i < 2; ++i) {
        Setting setting = all[random() % all.size()];
        if (bool* flag = std::get_if<bool>(&setting.value))
            *flag = !*flag;
        else if (setting.name.field == "leads")
            setting.value = static_cast<std::int64_t>(random() % 2);
        else if (setting.name.field == "stages")
            setting.value = static_cast<std::int64_t>(1 + random() % 5);
        else
            setting.value = std::int64_t{1} << random() % 4;
        if (setting.name.field == "stages" && random() % 2 == 0) setting.name.of.clear();
        REQUIRE_FALSE(schedule::set(asked, setting));
    }
    return asked;
}

std::string text_of(const Request& request) {
    std::string text;
    for (const std::string& line : schedule::print(request.schedule, request.region))
        text += line + "\n";
    return text;
}

/// A program as it was asked for.
struct Asked {
    std::string name;
    State state;
    EmittedProgram program;
};

}  // namespace

TEST_CASE("choices: what the header of a kernel prints makes the same kernel") {
    int kernels = 0;
    const auto check_state = [&](const State& state, const std::string& target) {
        const Result<EmittedProgram> program = emitted(state, {}, target);
        if (!program) return;
        std::string text;
        for (const EmittedKernel& kernel : program->kernels) {
            const std::string printed = choices_in(kernel.source);
            REQUIRE_NE(printed, "");
            CHECK_EQ(requests_from(printed).front().schedule, kernel.choices);
            const auto prints = [&](const std::string& what) {
                return kernel.source.find(what) != std::string::npos;
            };
            const std::int64_t computing = kernel.threads - (kernel.target == "sm_90a" ? 128 : 0);
            CHECK(prints(fmt::format("kThreads = {};", computing)));
            CHECK(prints(fmt::format("// {} bytes of shared memory\n", kernel.shared_bytes)));
            CHECK_EQ(prints("NK_SHARED_MEMORY"), kernel.shared_bytes > 0);
            CHECK_EQ(kernel.choices.warps, computing / 32);
            text += printed;
            ++kernels;
        }
        const Result<EmittedProgram> again = emitted(state, requests_from(text), target);
        if (!again) FAIL(again.error().list.front().message);
        CHECK_EQ(sources_of(*again), sources_of(*program));
        CHECK(*again == *program);
    };
    const auto check_example = [&](const test::Example& example) {
        INFO(example.name);
        check_state(test::derive(test::load(example.diagram), example.derivation), "sm_80");
    };
    for (const test::Example& example : test::all_examples()) check_example(example);
    for (const test::Example& example : test::all_benchmarks()) check_example(example);
    CHECK_GT(kernels, 30);
    // One to four warp groups.
    const Diagram attention = test::load(
        "diagram attention { axis q = 768, x = 768, d = 64\n"
        "input Q[q, d], K[x, d], V[x, d] : bf16\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n"
        "P[q, x] = softmax[x](S[q, x])\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, d] }");
    for (const int rows : {64, 128, 192, 256}) {
        INFO(rows);
        const std::string tiles = fmt::format("fuse all\ngroup q by {}\nstream x by 32\n", rows);
        check_state(test::derive(attention, tiles), "sm_90a");
    }
    // Orders, in lines of the derivation.
    const std::filesystem::path folder = NAPKIN_BENCHMARKS_DIR;
    const Diagram gradient =
        test::load(test::read_text(folder / "attention_backward_causal.ncd"), {{"d", 64}});
    const std::filesystem::path file = folder / "sm_90a" / "attention_backward_causal_d64.drv";
    check_state(test::derive(gradient, test::read_text(file)), "sm_90a");
    CHECK_GT(kernels, 34);
    // A region that warp groups do not take, beside one whose saves are deferred.
    const Diagram mixed = test::load(
        "diagram mixed { axis m = 4096, n = 4096, k = 512\n input A[m, k], B[n, k] : bf16\n"
        "X[m, n] = sum(k) A[m, k] * B[n, k]\n output Y[m, n] : bf16 = softmax[n](X[m, n]) }");
    check_state(test::derive(mixed,
                             "group m by 128 in X\ngroup n by 128 in X\nstream k by 64 in X\n"
                             "group m by 4 in Y"),
                "sm_90a");
    CHECK_GT(kernels, 36);
}

TEST_CASE("choices: what is asked to lead no other does not") {
    const test::Example example = test::example("attention");
    const State state = test::derive(test::load(example.diagram), example.derivation);
    const auto leading = [&](const std::string& choices) {
        const Result<EmittedProgram> program = emitted(state, requests_from(choices), "sm_90a");
        REQUIRE(program);
        std::int64_t most = 0;
        for (const auto& [op, lead] : program->kernels.front().choices.leads)
            most = std::max(most, lead);
        return most;
    };
    CHECK_EQ(leading(""), 1);
    CHECK_EQ(leading("[O]\nleads = 0"), 0);
}

TEST_CASE("choices: a number of stages for all is that of each") {
    const test::Example example = test::example("matmul");
    const State state = test::derive(test::load(example.diagram),
                                     "group a by 128\ngroup c by 128\nstream b by 64\n");
    for (const char* target : {"sm_80", "sm_90a"})
        for (const std::int64_t stages : {1, 2, 3, 5}) {
            INFO(std::string(target), ", ", stages);
            const auto stages_of = [&](const std::string& choice) {
                const Result<EmittedProgram> program =
                    emitted(state, requests_from("[C]\nstages" + choice), target);
                if (!program) FAIL(program.error().list.front().message);
                return program->kernels.front().choices.stages;
            };
            const std::map<std::string, std::int64_t> each{{"A", stages}, {"B", stages}};
            CHECK_EQ(stages_of(fmt::format(" = {}", stages)), each);
            CHECK_EQ(stages_of(fmt::format(" = {{ A = {0}, B = {0} }}", stages)), each);
        }
}

TEST_CASE("choices: lines of a derivation are a file's tables, and the last word counts") {
    const test::Example example = test::example("attention");
    const auto kernel = [&](const std::string& lines, const std::string& file) {
        const State state = test::derive(test::load(example.diagram), example.derivation + lines);
        const Result<EmittedProgram> program = emitted(state, requests_from(file));
        if (!program) FAIL(program.error().list.front().message);
        return program->kernels.front().choices;
    };
    const RegionSchedule three = kernel("schedule stages of K = 3 in O\n", "");
    CHECK_EQ(three.stages, std::map<std::string, std::int64_t>{{"K", 3}, {"V", 3}});
    CHECK_EQ(kernel("", "[O]\nstages.K = 3"), three);
    CHECK_EQ(kernel("schedule stages = 3\n", ""), three);
    CHECK_EQ(kernel("schedule stages of K = 2\nschedule stages = 3 in S\n", ""), three);
    CHECK_EQ(kernel("schedule stages = 2\n", "[O]\nstages = 3"), three);
    CHECK_EQ(kernel("schedule warps = 8\nschedule staged of O = false\n", ""),
             kernel("", "[O]\nwarps = 8\nstaged.O = false"));
}

TEST_CASE("choices: tiles in bands of any height are all computed") {
    for (const char* target : {"sm_80", "sm_90a"})
        for (const int band : {1, 3, 16}) {
            INFO(std::string(target), ", band ", band);
            const State state =
                test::derive(test::load("diagram mm { axis a = 450, b = 32, c = 330\n"
                                        "input A[a, b], B[b, c] : bf16\n"
                                        "output C[a, c] : bf16 = sum(b) A[a, b] * B[b, c] }"),
                             "group a by 64\ngroup c by 64\nstream b by 16\nschedule band = " +
                                 std::to_string(band) + " in C");
            EmitOptions options;
            options.target = target;
            const Result<EmittedProgram> program = emit(state, test::program_of(state), options);
            REQUIRE(program);
            CHECK_EQ(test::wrong_with(state, *program, 1), "");
            const bool banded =
                program->kernels.front().source.find("band_height") != std::string::npos;
            CHECK_EQ(banded, band > 1);
        }
    const State rows =
        test::derive(test::load("diagram rows { axis n = 64, d = 32\n input X[n, d] : bf16\n"
                                "output Y[n, d] : bf16 = softmax[d](X[n, d]) }"),
                     "group n by 4\nschedule band = 2 in Y");
    EmitOptions options;
    options.target = "sm_80";
    const Result<EmittedProgram> refused = emit(rows, test::program_of(rows), options);
    REQUIRE(!refused);
    CHECK(refused.error().list.front().message.find("no two groups") != std::string::npos);
}

TEST_CASE("choices: what cannot be kept is refused") {
    struct Case {
        std::string example;
        std::string file;
        std::string message;  ///< parts of it
        std::string help;
        std::string target = "sm_80";
    };
    const Case cases[] = {
        {"attention", "[O]\nstages = 9",
         "`stages`: a block would take 327680 bytes of shared memory", "at most 6 fit"},
        {"attention", "[O]\nstages.K = 9", "`stages.K`: a block would take 327680",
         "at most 6 fit"},
        {"attention", "[O]\nstages = { K = 3, V = 2 }",
         "`stages.V`: the copies of a chunk are made together, and with `stages.K` it has 3", ""},
        {"attention", "[O]\nstages.Q = 2", "`stages.Q`: it can be chosen of `K`, `V`", ""},
        {"attention", "[O]\nstages.k = 2", "can be chosen of", "did you mean `K`?"},
        {"attention", "[O]\nwarps = 3", "3 is no power of two", ""},
        {"attention", "[O]\nwarps_down = 4\nwarps = 8\nwarps_across = 1",
         "`warps`: they are `warps_down` times `warps_across`, 4", "leave one of the three out"},
        {"attention", "[O]\nwarps_down = 8\nwarps_across = 8", "at most 32 warps, not 64", ""},
        {"attention_backward", "[dQ]\nwarps_across = 2",
         "`warps_across`: warps share columns only where every product's result", ""},
        {"attention", "[O]\nwarps_down = 16", "`warps_down`: 128 rows leave half of 16 warps", ""},
        {"attention", "[O]\nwarps_down = 1", "`warps_down`: a thread would hold", ""},
        {"attention", "[O]\nleads.\"multiply S\" = 1",
         "`leads.\"multiply S\"`: what it reads and writes is in registers", ""},
        {"attention", "[O]\norder.\"compute P\" = 0", "`order.\"compute P\"`: it can be chosen of",
         ""},
        {"attention", "[O]\norder = { \"multiply O_sum\" = 0, \"multiply S\" = 1 }\nleads = 0",
         "no order of its loop has these places with these leads", "the planner chooses"},
        {"attention", "[O]\nfetched.S = true", "`fetched.S`: it does not add to what it has", ""},
        {"attention", "[O]\nstaged.S = true", "`staged.S`: it can be chosen of `O`", ""},
        {"swiglu", "[Y]\nleads.\"fetch the first operands of U_sum\" = 2",
         "one chunk ahead at most", ""},
        {"swiglu", "[Y]\nleads.\"fetch the first operands of U_sum\" = 1\nfetched = false",
         "there is nothing of which it could be chosen", ""},
        {"attention_backward", "[dV]\nstages.Q = 1\nleads.\"publish dK_sum_left\" = 1",
         "`stages.Q`: `dS` is read 1 chunk ahead, before it would be copied", ""},
        {"attention", "[O]\nwarps_across = 3",
         "`warps_across`: that makes 6 warp groups, and a block has at most 4", "", "sm_90a"},
        {"attention_gqa", "[O]\nwarps_across = 3",
         "`warps_across`: 64 columns are not 3 times a multiple of 16", "", "sm_90a"},
        {"attention_gqa", "[O]\nrepeated = true",
         "`repeated`: columns are shared along one axis only where nothing needs a whole row", "",
         "sm_90a"},
        {"attention", "[O]\nwarps_across = 1\nrepeated = true",
         "`warps_across`: there is one warp group across, which repeats nothing", "", "sm_90a"},
        {"matmul", "[C]\nturns = true", "`turns`: a block has one warp group that multiplies",
         "larger groups of rows", "sm_90a"},
        {"attention", "[O]\nturns = true", "target `sm_80` has no choice `turns`", ""},
        {"attention_window", "[O]\nband = 8", "`band`: tiles go by how many chunks they visit", ""},
        {"attention", "[O]\nstages = 2", "target `simt` has no choice `stages`", "", "simt"},
    };
    for (const Case& each : cases) {
        INFO(each.example, ": ", each.file);
        const test::Example example = test::example(each.example);
        const State state = test::derive(test::load(example.diagram), example.derivation);
        const Result<EmittedProgram> program =
            emitted(state, requests_from(each.file), each.target);
        REQUIRE_FALSE(program.has_value());
        const Diagnostic& why = program.error().list.front();
        CHECK_EQ(why.code, each.message.starts_with("target") ? "E0976" : "E0975");
        CHECK_MESSAGE(why.message.find(each.message) != std::string::npos, why.message);
        CHECK_MESSAGE(why.help.find(each.help) != std::string::npos, why.help);
        CHECK(why.has_place);
    }
}

TEST_CASE("choices: any that are taken are kept, make the same again, and are right") {
    std::mt19937_64 random(test::number_from("NAPKIN_SEED", 20261123));
    constexpr int kEvery = 12;  // so many of the small ones taken, one is run
    std::vector<Asked> run;
    std::vector<EmittedKernel> kernels;
    int taken = 0;
    int refused = 0;
    const auto try_choices = [&](const std::string& name, const State& state, bool small) {
        const Result<EmittedProgram> usual = emitted(state, {});
        if (!usual) return;
        const EmittedKernel& kernel = usual->kernels[random() % usual->kernels.size()];
        Request request;
        request.region = kernel.region;
        request.schedule = drawn(kernel.choices, random);
        Asked trial{name + " with\n" + text_of(request), state, {}};
        INFO(trial.name);
        const Result<EmittedProgram> program = emitted(state, {request});
        if (!program) {
            CHECK_EQ(program.error().list.front().code, "E0975");
            ++refused;
            return;
        }
        const auto made =
            std::find_if(program->kernels.begin(), program->kernels.end(),
                         [&](const EmittedKernel& each) { return each.region == kernel.region; });
        CHECK(keeps(made->choices, request.schedule));
        request.schedule = made->choices;
        const Result<EmittedProgram> again = emitted(state, {request});
        REQUIRE(again.has_value());
        CHECK(*again == *program);
        if (++taken % kEvery != 0 || !small) return;
        kernels.insert(kernels.end(), program->kernels.begin(), program->kernels.end());
        trial.program = *program;
        run.push_back(std::move(trial));
    };
    for (const test::TensorWorkload& workload : test::tensor_workloads())
        try_choices(workload.name, test::state_of(workload), true);
    for (const test::Example& example : test::all_examples())
        try_choices(example.name, test::derive(test::load(example.diagram), example.derivation),
                    false);
    CHECK_GT(taken, 60);
    CHECK_GT(refused, 10);
    CHECK_GT(run.size(), 4);
    CHECK_EQ(test::compile_together(kernels), "");
    for (const Asked& trial : run) {
        INFO(trial.name);
        CHECK_EQ(test::wrong_with(trial.state, trial.program, 1), "");
    }
}

}  // namespace napkin
